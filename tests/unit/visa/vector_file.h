// Reads the test vectors of tests/unit/visa/vectors; vectors/README.md describes the files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vectors {

/// A register and its value in every lane (or run). "v3", "a32", "s10", "s[0:1]", "vcc", "exec", "scc", ...
struct Value {
  std::string name;
  std::vector<uint64_t> lanes;
  std::vector<bool> unchanged;      ///< per entry of `lanes`: "." in the file
  bool relative_to_memory = false;  ///< counted from where the test's memory starts

  uint64_t at(size_t n) const { return lanes.size() == 1 ? lanes[0] : lanes[n]; }
  bool is_unchanged(size_t n) const { return unchanged[lanes.size() == 1 ? 0 : n]; }
};

using Dwords = std::map<uint32_t, uint32_t>;  ///< by byte address

struct State {
  std::vector<Value> registers;
  Dwords lds, memory;
  bool lds_pattern = false, lds_listed = false, memory_pattern = false;

  const Value* find(const std::string& name) const;
};

enum class Kind : char { kVector = 'v', kRuns = 's', kStep = 'p', kLds = 'l', kMemory = 'm' };

/// One instruction.
struct Row {
  std::string id;
  Kind kind = Kind::kVector;
  char provenance = 0;  ///< as in witnesses: h r d e
  std::vector<std::string> targets;
  bool wave32 = false;
  size_t count = 0;  ///< lanes or runs
  std::vector<uint32_t> words;
  State in, out;
  std::string notes;

  bool has_note(const std::string& name) const;
  uint64_t weak() const;  ///< lanes or runs that the row does not vouch for
};

/// A whole wave's program from a known start.
struct Program {
  std::string id;
  std::vector<std::string> targets;
  bool wave32 = false;
  size_t count = 0;
  std::vector<uint32_t> words;
  std::vector<Value> out;
  bool approximate = false;
};

/// What the compiler computed for the operation of one instruction.
struct Folded {
  std::string id;
  std::map<std::string, std::vector<uint32_t>> words;  ///< by target
  std::vector<std::string> types;                      ///< of the sources
  std::string result_type;
  bool approximate = false;
  struct Case {
    std::vector<uint64_t> in;
    uint64_t out;
  };
  std::vector<Case> cases;
};

/// All rows of a file; throws std::runtime_error naming a malformed one.
std::vector<Row> read_rows(const std::string& path);
std::vector<Program> read_programs(const std::string& path);
std::vector<Folded> read_folded(const std::string& path);

}  // namespace vectors
