#include "tests/unit/visa/vector_runner.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <sstream>

#include "tests/unit/visa/vector_compare.h"
#include "tests/unit/vshader/wave_bench.h"

namespace vectors {
namespace {

using vgpu::Wave;
using vgpu::WaveBench;

constexpr uint32_t kModeOfPrograms = 0x3c0, kModeOfRows = 0x3f0;
constexpr unsigned kRows = 512, kScalars = vgpu::kScalarSlots;

/// Where a name of the vectors is kept.
struct Place {
  enum class File : uint8_t { kVector, kAcc, kScalar } file = File::kScalar;
  bool wide = false;  ///< two registers
  unsigned index = 0;
};

Place place_of(const std::string& name) {
  static const std::map<std::string, Place> kNamed = {{"vcc", {Place::File::kScalar, true, vgpu::kVccLo}},
                                                      {"exec", {Place::File::kScalar, true, vgpu::kExecLo}},
                                                      {"vcc_lo", {Place::File::kScalar, false, vgpu::kVccLo}},
                                                      {"exec_lo", {Place::File::kScalar, false, vgpu::kExecLo}},
                                                      {"vcc_hi", {Place::File::kScalar, false, vgpu::kVccHi}},
                                                      {"exec_hi", {Place::File::kScalar, false, vgpu::kExecHi}},
                                                      {"scc", {Place::File::kScalar, false, vgpu::kScc}},
                                                      {"m0", {Place::File::kScalar, false, vgpu::kM0}}};
  const auto named = kNamed.find(name);
  if (named != kNamed.end()) return named->second;
  const bool pair = name[1] == '[';  // "s[10:11]"
  const Place::File file = name[0] == 'v'   ? Place::File::kVector
                           : name[0] == 'a' ? Place::File::kAcc
                                            : Place::File::kScalar;
  return {file, pair, static_cast<unsigned>(std::stoul(name.substr(pair ? 2 : 1)))};
}

uint32_t* row_of(Wave& w, const Place& p, unsigned part = 0) {
  return p.file == Place::File::kAcc ? w.agpr(p.index + part) : w.vgpr(p.index + part);
}

void set(Wave& w, const Place& p, size_t lane, uint64_t value) {
  if (p.file != Place::File::kScalar) {
    row_of(w, p)[lane] = static_cast<uint32_t>(value);
    if (p.wide) row_of(w, p, 1)[lane] = static_cast<uint32_t>(value >> 32);
  } else if (p.wide && !(w.wave32 && p.index >= vgpu::kVccLo)) {
    w.set_s64(p.index, value);
  } else {
    w.s[p.index] = static_cast<uint32_t>(value);
  }
}

/// All that a wave has, to find changes that nobody announced.
struct Snapshot {
  std::vector<uint32_t> vectors, scalars;
  std::vector<std::byte> lds, memory;

  explicit Snapshot(WaveBench& bench)
      : vectors(bench.wave().v, bench.wave().v + size_t{kRows} * 64),
        scalars(bench.wave().s, bench.wave().s + kScalars),
        lds(bench.lds(), bench.lds() + WaveBench::kLdsBytes),
        memory(bench.memory(), bench.memory() + WaveBench::kMemoryBytes) {}
};

std::string text_of(const std::string& what, uint64_t expected, uint64_t actual) {
  std::ostringstream text;
  text << what << std::hex << ": expected " << expected << ", got " << actual;
  return text.str();
}

void fill_pattern(std::byte* to) {
  for (uint32_t i = 0; i < 1024; ++i) {
    const uint32_t value = i * 2654435761u + 0x12345678u;
    std::memcpy(to + i * 4, &value, 4);
  }
}

class RowRun {
 public:
  RowRun(const Row& row, const std::string& target) : row_(row), bench_(target, row.wave32) {}

  std::string run(vgpu::Op& op) {
    if (!bench_.decode(row_.words)) return "does not decode";
    op = bench_.inst().op;
    name_ = vgpu::op_name(op);
    const size_t runs = row_.kind == Kind::kRuns ? row_.count : 1;
    for (size_t n = 0; n < runs; ++n) {
      std::string difference = once(n);
      if (!difference.empty()) return difference;
    }
    return {};
  }

 private:
  bool is_runs() const { return row_.kind == Kind::kRuns; }

  void set_up(size_t run) {
    Wave& w = bench_.wave();
    w.mode = row_.kind == Kind::kStep ? kModeOfPrograms : kModeOfRows;
    w.set_mask(vgpu::kExecLo, row_.count >= 64 || is_runs() ? ~0ull : (1ull << row_.count) - 1);
    w.set_mask(vgpu::kVccLo, 0);
    w.set_scc(false);
    for (const Value& value : row_.in.registers) {
      const Place p = place_of(value.name);
      const uint64_t base = value.relative_to_memory ? WaveBench::kMemoryVa : 0;
      if (p.file == Place::File::kScalar)
        set(w, p, 0, base + value.at(is_runs() ? run : 0));
      else
        for (size_t lane = 0; lane < row_.count; ++lane) set(w, p, lane, base + value.at(lane));
    }
    if (row_.in.lds_pattern || (row_.kind == Kind::kLds && !row_.in.lds_listed)) fill_pattern(bench_.lds());
    if (row_.in.memory_pattern) fill_pattern(bench_.memory());
    for (const auto& [address, value] : row_.in.lds) std::memcpy(bench_.lds() + address, &value, 4);
  }

  std::string once(size_t run) {
    set_up(run);
    const Snapshot before(bench_);
    Wave& w = bench_.wave();
    bench_.execute_decoded();
    if (w.state == vgpu::WaveState::kFaulted) return "refused: " + w.error.text;
    if (const Value* jump = row_.out.find("pc"); jump != nullptr && w.next_pc - w.pc != jump->at(0))
      return text_of("jump", jump->at(0), w.next_pc - w.pc);
    Snapshot expected = before;
    expect_registers(expected, run);
    if (row_.weak() == 0) {
      for (const auto& [address, value] : row_.out.lds) std::memcpy(&expected.lds[address], &value, 4);
      for (const auto& [address, value] : row_.out.memory) std::memcpy(&expected.memory[address], &value, 4);
    }
    const Snapshot after(bench_);
    std::string difference = compare_vectors(expected, after);
    if (difference.empty()) difference = compare_scalars(expected, after, run);
    if (difference.empty() && row_.weak() == 0) difference = compare_bytes("lds", expected.lds, after.lds);
    if (difference.empty() && row_.weak() == 0) difference = compare_bytes("memory", expected.memory, after.memory);
    return difference;
  }

  void expect_registers(Snapshot& expected, size_t run) {
    for (const Value& value : row_.out.registers) {
      if (value.name == "pc") continue;
      const Place p = place_of(value.name);
      if (p.file == Place::File::kScalar) {
        const size_t n = is_runs() ? run : 0;
        if (value.is_unchanged(n)) continue;
        expected.scalars[p.index] = static_cast<uint32_t>(value.at(n));
        if (p.wide && !(row_.wave32 && p.index >= vgpu::kVccLo))
          expected.scalars[p.index + 1] = static_cast<uint32_t>(value.at(n) >> 32);
        continue;
      }
      uint32_t* row = expected.vectors.data() + (row_of(bench_.wave(), p) - bench_.wave().v);
      for (size_t lane = 0; lane < row_.count; ++lane)
        if (!value.is_unchanged(lane)) row[lane] = static_cast<uint32_t>(value.at(lane));
    }
  }

  std::string compare_vectors(const Snapshot& expected, const Snapshot& after) const {
    if (expected.vectors == after.vectors) return {};
    const uint64_t weak = is_runs() ? 0 : row_.weak();
    for (size_t n = 0; n < expected.vectors.size(); ++n) {
      uint32_t e = expected.vectors[n], a = after.vectors[n];
      if (e == a || (weak >> (n % 64) & 1)) continue;
      if (row_.has_note("lo16")) {
        e &= 0xffff;
        a &= 0xffff;
      }
      if (!same_dword(name_, e, a, row_.has_note("approx")))
        return text_of("v" + std::to_string(n / 64) + " lane " + std::to_string(n % 64), e, a);
    }
    return {};
  }

  std::string compare_scalars(const Snapshot& expected, const Snapshot& after, size_t run) const {
    const uint64_t weak = row_.weak();
    if (is_runs() && (weak >> run & 1)) return {};
    for (unsigned n = 0; n < kScalars; ++n) {
      if (n >= vgpu::kSink && n < vgpu::kScc) continue;
      uint32_t e = expected.scalars[n], a = after.scalars[n];
      if (!is_runs()) {  // masks of lanes
        const auto ignored = static_cast<uint32_t>((n & 1) != 0 ? weak >> 32 : weak);
        e &= ~ignored;
        a &= ~ignored;
      }
      if (e != a && !same_dword(name_, e, a, false))
        return text_of("s" + std::to_string(n) + " run " + std::to_string(run), e, a);
    }
    return {};
  }

  std::string compare_bytes(const char* what, const std::vector<std::byte>& expected,
                            const std::vector<std::byte>& after) const {
    if (expected == after) return {};
    for (size_t at = 0; at < expected.size(); at += 4) {
      uint32_t e, a;
      std::memcpy(&e, &expected[at], 4);
      std::memcpy(&a, &after[at], 4);
      if (!same_dword(name_, e, a, false)) return text_of(std::string(what) + " byte " + std::to_string(at), e, a);
    }
    return {};
  }

  const Row& row_;
  WaveBench bench_;
  std::string_view name_;
};

bool is_wide(const std::string& type) { return type == "i64" || type == "f64"; }

/// Sources are in v0, v2, v6 (s0, s2), the result in v4 (s4), or as a bit of s10.
std::string run_case(WaveBench& bench, const Folded& folded, size_t first, size_t lanes) {
  static constexpr unsigned kSources[] = {0, 2, 6};
  Wave& w = bench.wave();
  const bool scalar = vgpu::op_name(bench.inst().op).starts_with("s_");
  w.set_mask(vgpu::kExecLo, ~0ull);
  w.mode = kModeOfRows;
  for (size_t lane = 0; lane < lanes; ++lane) {
    for (size_t n = 0; n < folded.types.size(); ++n) {
      const Place p{scalar ? Place::File::kScalar : Place::File::kVector, is_wide(folded.types[n]), kSources[n]};
      set(w, p, lane, folded.cases[first + lane].in[n]);
    }
  }
  bench.execute_decoded();
  if (w.state == vgpu::WaveState::kFaulted) return "refused: " + w.error.text;
  const bool wide = is_wide(folded.result_type) && bench.inst().dst[0].dwords == 2;
  for (size_t lane = 0; lane < lanes; ++lane) {
    uint64_t got = scalar ? w.s[4] : w.vgpr(4)[lane];
    if (wide) got |= uint64_t{scalar ? w.s[5] : w.vgpr(5)[lane]} << 32;
    if (folded.result_type == "i1") got = w.mask(10) >> lane & 1;
    const Folded::Case& one = folded.cases[first + lane];
    if (same_value(folded.result_type, one.out, got, folded.approximate)) continue;
    std::ostringstream inputs;
    for (uint64_t in : one.in) inputs << " " << std::hex << in;
    return text_of("case " + std::to_string(first + lane) + " of" + inputs.str(), one.out, got);
  }
  return {};
}

}  // namespace

std::string run(const Row& row, const std::string& target, vgpu::Op& op) { return RowRun(row, target).run(op); }

std::string run(const Folded& folded, const std::string& target, vgpu::Op& op) {
  WaveBench bench(target, target.starts_with("gfx11"));
  if (!bench.decode(folded.words.at(target))) return "does not decode";
  op = bench.inst().op;
  const size_t width = vgpu::op_name(op).starts_with("s_") ? 1 : bench.wave().lanes();
  for (size_t first = 0; first < folded.cases.size(); first += width) {
    std::string difference = run_case(bench, folded, first, std::min(width, folded.cases.size() - first));
    if (!difference.empty()) return difference;
  }
  return {};
}

}  // namespace vectors
