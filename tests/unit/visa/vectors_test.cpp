// Runs the vectors of tests/unit/visa/vectors through decoder and executors. What deviates on purpose is listed with
// its reason in deviations.tsv; a row of that list that passes is an error too.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "tests/catch.h"
#include "tests/unit/visa/vector_file.h"
#include "tools/vgpu/isa/decoder.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/wave.h"

namespace {

constexpr unsigned kRegisters = 512;

struct Machine {
  std::unique_ptr<uint32_t[], decltype(&std::free)> file;
  vgpu::Wave wave;

  explicit Machine(bool wave32)
      : file(static_cast<uint32_t*>(std::aligned_alloc(64, kRegisters * 64 * sizeof(uint32_t))), &std::free) {
    std::fill_n(file.get(), kRegisters * 64, 0u);
    wave.v = file.get();
    wave.vgpr_count = 256;
    wave.acc_base = 256;
    wave.acc_count = 256;
    wave.sgpr_count = 102;
    wave.wave32 = wave32;
    wave.lane_mask = wave32 ? 0xffffffffull : ~0ull;
  }
};

/// Where a name of the vectors is kept: a vector register, or a scalar slot of one or two dwords.
struct Place {
  bool vector = false, wide = false;
  unsigned index = 0;
};

Place place_of(const std::string& name) {
  static const std::map<std::string, Place> kNamed = {
      {"vcc", {false, true, vgpu::kVccLo}},     {"exec", {false, true, vgpu::kExecLo}},
      {"vcc_lo", {false, false, vgpu::kVccLo}}, {"exec_lo", {false, false, vgpu::kExecLo}},
      {"vcc_hi", {false, false, vgpu::kVccHi}}, {"exec_hi", {false, false, vgpu::kExecHi}},
      {"scc", {false, false, vgpu::kScc}},      {"m0", {false, false, vgpu::kM0}}};
  const auto named = kNamed.find(name);
  if (named != kNamed.end()) return named->second;
  const bool pair = name[1] == '[';  // "s[10:11]"
  return {name[0] == 'v', pair, static_cast<unsigned>(std::stoul(name.substr(pair ? 2 : 1)))};
}

uint64_t get(const vgpu::Wave& w, const Place& p, size_t lane) {
  if (p.vector) return w.vgpr(p.index)[lane];
  return p.wide && (!w.wave32 || p.index < vgpu::kVccLo) ? w.s64(p.index) : w.s[p.index];
}

void set(vgpu::Wave& w, const Place& p, size_t lane, uint64_t value) {
  if (p.vector)
    w.vgpr(p.index)[lane] = static_cast<uint32_t>(value);
  else if (p.wide && !w.wave32)
    w.set_s64(p.index, value);
  else
    w.s[p.index] = static_cast<uint32_t>(value);
}

bool is_nan32(uint64_t v) { return (v & 0x7fffffff) > 0x7f800000; }
bool is_nan16(uint64_t v) { return (v & 0x7fff) > 0x7c00; }

/// Equal, or both not a number of the format that the mnemonic speaks of.
bool same(const std::string& mnemonic, uint64_t expected, uint64_t actual) {
  if (expected == actual) return true;
  if (mnemonic.find("f32") != std::string::npos && is_nan32(expected) && is_nan32(actual)) return true;
  if (mnemonic.find("f16") != std::string::npos) {
    auto half = [](uint64_t a, uint64_t b) { return a == b || (is_nan16(a) && is_nan16(b)); };
    return half(expected & 0xffff, actual & 0xffff) && half(expected >> 16, actual >> 16);
  }
  // High dword of a double: exponent all ones. The low dword is checked by its own register.
  if (mnemonic.find("f64") != std::string::npos && (expected & 0x7ff00000) == 0x7ff00000 &&
      (actual & 0x7ff00000) == 0x7ff00000)
    return (expected & 0x7ff80000) != 0x7ff00000;
  return false;
}

/// Distance in units of the last place, for results that are approximations.
bool close(const std::string& mnemonic, uint64_t expected, uint64_t actual) {
  if (same(mnemonic, expected, actual)) return true;
  if (mnemonic.find("f64") != std::string::npos) return true;  // only seeds; the division tests check what they give
  if (mnemonic.ends_with("f16"))
    return std::abs(static_cast<int>(expected & 0xffff) - static_cast<int>(actual & 0xffff)) <= 1;
  const float e = std::bit_cast<float>(static_cast<uint32_t>(expected)),
              a = std::bit_cast<float>(static_cast<uint32_t>(actual));
  return std::fabs(e - a) <= std::fabs(e) * 4e-7f || (std::fabs(e) < 1.2e-38f && std::fabs(a) < 1.2e-38f);
}

class Runner {
 public:
  explicit Runner(const vectors::Row& row)
      : row_(row),
        wave32_(row.target.starts_with("gfx11") && row.count <= 32),
        decoder_(*vgpu::find_isa_target(row.target)) {}

  /// Empty when everything agrees; else what differs.
  std::string run() {
    if (!decoder_.decode(row_.words, wave32_, inst_)) return "does not decode";
    mnemonic_ = vgpu::op_name(inst_.op);
    const size_t runs = row_.scalar ? row_.count : 1;
    for (size_t n = 0; n < runs; ++n) {
      std::string difference = run_once(n);
      if (!difference.empty()) return difference;
    }
    return {};
  }
  std::string text() const { return decoder_.text(inst_); }

 private:
  std::string run_once(size_t run) {
    Machine machine(wave32_);
    vgpu::Wave& w = machine.wave;
    w.mode = row_.mode;
    for (const vectors::Value& value : row_.in) {
      const Place p = place_of(value.name);
      if (p.vector)
        for (size_t lane = 0; lane < row_.count; ++lane) set(w, p, lane, value.at(lane));
      else
        set(w, p, 0, value.at(row_.scalar ? run : 0));
    }
    w.pc = 0x1000;
    w.next_pc = w.pc + inst_.size;
    const auto before = std::make_unique<Machine>(wave32_);
    std::copy_n(machine.file.get(), kRegisters * 64, before->file.get());
    std::copy_n(w.s, size_t{vgpu::kScalarSlots}, before->wave.s);
    vgpu::exec_function(inst_)(w, inst_);
    if (w.state == vgpu::WaveState::kFaulted) return "refused: " + w.error.text;
    std::string difference = compare_listed(w, run);
    return !difference.empty() ? difference : compare_rest(w, before->wave);
  }

  std::string compare_listed(const vgpu::Wave& w, size_t run) const {
    const uint64_t weak = row_.weak();
    for (const vectors::Value& value : row_.out) {
      const Place p = place_of(value.name);
      const size_t lanes = p.vector ? row_.count : 1;
      for (size_t lane = 0; lane < lanes; ++lane) {
        uint64_t expected = value.at(row_.scalar ? run : lane), actual = get(w, p, lane);
        const size_t entry = row_.scalar ? run : lane;
        if (p.vector || row_.scalar) {
          if (weak >> entry & 1) continue;
        } else {
          expected &= ~weak;
          actual &= ~weak;
        }
        if (row_.has_note("lo16")) {
          expected &= 0xffff;
          actual &= 0xffff;
        }
        if (row_.has_note("approx") ? close(mnemonic_, expected, actual) : same(mnemonic_, expected, actual)) continue;
        std::ostringstream text;
        text << value.name << " lane " << lane << " run " << run << std::hex << ": expected " << expected << ", got "
             << actual;
        return text.str();
      }
    }
    return {};
  }

  /// Registers that the row names as inputs and not as changed have to be as they were.
  std::string compare_rest(const vgpu::Wave& w, const vgpu::Wave& before) const {
    for (const vectors::Value& value : row_.in) {
      const Place p = place_of(value.name);
      const bool listed = std::any_of(row_.out.begin(), row_.out.end(), [&](const auto& o) {
        const Place changed = place_of(o.name);
        return changed.vector == p.vector && changed.index == p.index;
      });
      if (listed) continue;
      for (size_t lane = 0; lane < (p.vector ? 64 : 1); ++lane)
        if (get(w, p, lane) != get(before, p, lane)) return value.name + " changed";
    }
    return {};
  }

  const vectors::Row& row_;
  bool wave32_;
  vgpu::Decoder decoder_;
  vgpu::Inst inst_;
  std::string mnemonic_;
};

std::map<std::string, std::string> deviations(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::string> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    all[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return all;
}

}  // namespace

TEST_CASE("instructions give the results of the vectors") {
  const char* directory = std::getenv("VISA_VECTORS");
  REQUIRE(directory != nullptr);
  const std::string base(directory);
  const char* other = std::getenv("VISA_VECTOR_FILE");
  auto rows = vectors::read(other != nullptr ? std::string(other) : base + "/instructions.tsv");
  if (other == nullptr)
    for (vectors::Row& row : vectors::read(base + "/matrix.tsv")) rows.push_back(std::move(row));
  auto expected_failures = deviations(base + "/deviations.tsv");
  CHECK(rows.size() > 1000);
  for (const vectors::Row& row : rows) {
    Runner runner(row);
    const std::string difference = runner.run();
    const auto known = expected_failures.find(row.id);
    if (known != expected_failures.end()) {
      INFO(row.id << " is listed as a deviation and passes");
      CHECK(!difference.empty());
      continue;
    }
    if (difference.empty()) continue;
    FAIL_CHECK(row.id << " " << row.provenance << " " << row.target << " " << runner.text() << ": " << difference);
  }
}
