// Instructions against vectors made by others: see vectors/README.md for what each row means and who says so.
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/catch.h"
#include "tests/unit/vshader/wave_bench.h"

using namespace vgpu;

namespace {

struct Row {
  std::string id, provenance, target, wave, lanes, bytes, assembler, in, out, note;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) parts.push_back(part);
  return parts;
}

std::vector<Row> read_rows(const std::string& name) {
  const char* folder = std::getenv("VSHADER_VECTORS");
  REQUIRE(folder);
  std::ifstream file(std::string(folder) + "/" + name);
  REQUIRE(file.good());
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto c = split(line, '\t');
    REQUIRE(c.size() == 10);
    rows.push_back({c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9]});
  }
  return rows;
}

uint64_t hex(const std::string& text) { return std::stoull(text, nullptr, 16); }

std::vector<uint32_t> words_of(const std::string& bytes) {
  std::vector<uint32_t> words(bytes.size() / 8);
  for (size_t i = 0; i < bytes.size() / 2; ++i) {
    words[i / 4] |= static_cast<uint32_t>(hex(bytes.substr(i * 2, 2))) << (8 * (i % 4));
  }
  return words;
}

// What a row says about registers and memory: register name -> value per lane (or run), and dwords by
// address.
struct State {
  std::map<std::string, std::vector<uint64_t>> registers;
  std::map<uint32_t, uint32_t> lds, memory;
  bool lds_listed = false, memory_pattern = false;
};

void parse_dwords(const std::string& list, std::map<uint32_t, uint32_t>& dwords) {
  for (const std::string& entry : split(list, ',')) {
    const size_t colon = entry.find(':');
    dwords[static_cast<uint32_t>(hex(entry.substr(0, colon)))] = static_cast<uint32_t>(hex(entry.substr(colon + 1)));
  }
}

std::vector<uint64_t> parse_values(std::string text) {
  uint64_t base = 0;
  if (text.rfind("MEM", 0) == 0) {
    base = WaveBench::kMemoryVa;
    text = text.size() > 4 ? text.substr(4) : "0";
  }
  std::vector<uint64_t> values;
  for (const std::string& part : split(text, ',')) values.push_back(base + hex(part));
  return values;
}

State parse_state(const std::string& text) {
  State state;
  for (const std::string& item : split(text, ' ')) {
    const size_t brace = item.find('{'), equals = item.find('=');
    if (item.rfind("lds{", 0) == 0 || item.rfind("mem{", 0) == 0) {
      const std::string list = item.substr(brace + 1, item.size() - brace - 2);
      if (item[0] == 'l') state.lds_listed = true;
      if (!list.empty()) parse_dwords(list, item[0] == 'l' ? state.lds : state.memory);
    } else if (item == "mem=pattern") {
      state.memory_pattern = true;
    } else if (equals != std::string::npos && item != "lds=pattern" && item != "-") {
      state.registers[item.substr(0, equals)] = parse_values(item.substr(equals + 1));
    }
  }
  return state;
}

uint32_t pattern(uint32_t dword) { return dword * 2654435761u + 0x12345678u; }

class Vector {
 public:
  explicit Vector(const Row& row)
      : row_(row),
        in_(parse_state(row.in)),
        out_(parse_state(row.out)),
        bench_(row.target, row.wave == "32"),
        lanes_(static_cast<uint32_t>(std::stoul(row.lanes))) {
    const size_t weak = row.note.find("weak=");
    if (weak != std::string::npos) weak_ = hex(row.note.substr(weak + 5, row.note.find(' ', weak) - weak - 5));
    half_ = row.note.find("lo16") != std::string::npos;
  }

  void check_vector() {
    set_up(0, true);
    run(0);
    check_memory();
  }
  void check_runs() {
    for (uint32_t i = 0; i < lanes_; ++i) {
      set_up(i, false);
      run(i);
    }
  }

 private:
  // Lists are lanes for vector registers, and independent executions for scalar ones.
  void set_up(uint32_t at, bool memory) {
    Wave& w = bench_.wave();
    w.set_s64(kVccLo, 0);
    for (const auto& [name, values] : in_.registers) {
      if (name[0] == 'v' && name.rfind("vcc", 0) != 0) {
        for (uint32_t lane = 0; lane < 64; ++lane)
          set_vector(name, lane, values[values.size() == 1 ? 0 : lane % values.size()],
                     lane < lanes_ || values.size() == 1);
      } else {
        set_scalar(name, values[values.size() == 1 ? 0 : at]);
      }
    }
    if (!memory) return;
    for (uint32_t i = 0; i < 1024; ++i) {
      const uint32_t lds_value = in_.lds_listed ? (in_.lds.contains(i * 4) ? in_.lds[i * 4] : 0) : pattern(i);
      const uint32_t value = pattern(i);
      std::memcpy(bench_.lds() + i * 4, &lds_value, 4);
      std::memcpy(bench_.memory() + i * 4, &value, 4);
    }
    for (const auto& [address, value] : in_.lds) std::memcpy(bench_.lds() + address, &value, 4);
    before_lds_.assign(bench_.lds(), bench_.lds() + WaveBench::kLdsBytes);
    before_memory_.assign(bench_.memory(), bench_.memory() + 4096);
  }

  static uint32_t number(const std::string& name) {
    return static_cast<uint32_t>(std::stoul(name.substr(name[1] == '[' ? 2 : 1)));
  }
  void set_vector(const std::string& name, uint32_t lane, uint64_t value, bool used) {
    Wave& w = bench_.wave();
    w.vgpr(number(name))[lane] = used ? static_cast<uint32_t>(value) : 0;
    if (name[1] == '[') w.vgpr(number(name) + 1)[lane] = used ? static_cast<uint32_t>(value >> 32) : 0;
  }
  void set_scalar(const std::string& name, uint64_t value) {
    Wave& w = bench_.wave();
    if (name == "exec")
      w.set_s64(kExecLo, value);
    else if (name == "vcc")
      w.set_s64(kVccLo, value);
    else if (name == "exec_lo")
      w.s[kExecLo] = static_cast<uint32_t>(value);
    else if (name == "vcc_lo")
      w.s[kVccLo] = static_cast<uint32_t>(value);
    else if (name == "scc")
      w.set_scc(value != 0);
    else if (name == "m0")
      w.s[kM0] = static_cast<uint32_t>(value);
    else if (name[0] == 's' && name[1] == '[')
      w.set_s64(number(name), value);
    else if (name[0] == 's')
      w.s[number(name)] = static_cast<uint32_t>(value);
    else
      FAIL("register " << name);
  }
  uint64_t scalar_value(const std::string& name) {
    Wave& w = bench_.wave();
    if (name == "exec") return w.exec();
    if (name == "vcc") return w.vcc();
    if (name == "exec_lo") return w.s[kExecLo];
    if (name == "vcc_lo") return w.s[kVccLo];
    if (name == "scc") return w.scc();
    if (name == "exec_hi") return w.s[kExecHi];
    if (name == "vcc_hi") return w.s[kVccHi];
    if (name == "m0") return w.s[kM0];
    return w.s[number(name)];
  }

  void run(uint32_t at) {
    INFO(row_.id << " (" << row_.provenance << ", " << row_.target << ") " << row_.assembler << " run " << at);
    std::vector<uint32_t> words = words_of(row_.bytes);
    REQUIRE(bench_.execute(words));
    INFO(bench_.wave().error.text);
    REQUIRE(bench_.wave().state == WaveState::kRunning);
    for (const auto& [name, values] : out_.registers) check_register(name, values, at);
    for (const auto& [name, values] : in_.registers) {
      const bool changed = out_.registers.contains(name) || out_.registers.contains(name + "_lo") ||
                           out_.registers.contains(name + "_hi");
      if (!changed && name[1] != '[') check_register(name, values, at);
    }
  }

  void check_register(const std::string& name, const std::vector<uint64_t>& values, uint32_t at) {
    const bool is_vector = name[0] == 'v' && name.rfind("vcc", 0) != 0;
    if (!is_vector) {
      if (weak_ >> at & 1) return;
      INFO(name);
      CHECK(scalar_value(name) == values[values.size() == 1 ? 0 : at]);
      return;
    }
    for (uint32_t lane = 0; lane < lanes_; ++lane) {
      if (weak_ >> lane & 1) continue;
      INFO(name << " lane " << lane);
      const uint32_t got = bench_.wave().vgpr(number(name))[lane];
      const auto want = static_cast<uint32_t>(values[values.size() == 1 ? 0 : lane]);
      if (half_)
        CHECK((got & 0xffff) == (want & 0xffff));
      else
        CHECK(got == want);
    }
  }

  void check_memory() {
    if (weak_ != 0) return;
    INFO(row_.id << " " << row_.assembler);
    check_dwords(bench_.lds(), before_lds_, out_.lds, out_.lds_listed && in_.lds_listed);
    check_dwords(bench_.memory(), before_memory_, out_.memory, false);
  }
  static void check_dwords(const std::byte* now, const std::vector<std::byte>& before,
                           const std::map<uint32_t, uint32_t>& changed, bool only_changes) {
    for (uint32_t at = 0; at < before.size(); at += 4) {
      uint32_t got, want;
      std::memcpy(&got, now + at, 4);
      std::memcpy(&want, before.data() + at, 4);
      if (const auto found = changed.find(at); found != changed.end()) want = found->second;
      if (got == want || (only_changes && !changed.contains(at))) continue;
      INFO("address " << std::hex << at);
      CHECK(got == want);
    }
  }

  const Row& row_;
  State in_, out_;
  WaveBench bench_;
  uint32_t lanes_;
  uint64_t weak_ = 0;
  bool half_ = false;
  std::vector<std::byte> before_lds_, before_memory_;
};

}  // namespace

TEST_CASE("scalar instructions give what the vectors say") {
  for (const Row& row : read_rows("scalar.tsv")) Vector(row).check_runs();
}

TEST_CASE("LDS instructions give what the vectors say") {
  for (const Row& row : read_rows("lds.tsv")) Vector(row).check_vector();
}

TEST_CASE("memory instructions give what the vectors say") {
  for (const Row& row : read_rows("memory.tsv")) Vector(row).check_vector();
}
