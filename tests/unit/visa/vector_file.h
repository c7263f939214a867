// Reads tests/unit/visa/vectors/*.tsv: one instruction per row, with its inputs and every register that it changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vectors {

/// A register and its value in every lane (or run). "v3", "s10", "vcc", "exec", "scc", ...
struct Value {
  std::string name;
  std::vector<uint64_t> lanes;
  uint64_t at(size_t n) const { return lanes.size() == 1 ? lanes[0] : lanes[n]; }
};

struct Row {
  std::string id, provenance, target, notes;
  bool scalar = false;  ///< independent runs of a scalar instruction instead of lanes
  uint32_t mode = 0;
  std::vector<uint32_t> words;
  size_t count = 0;  ///< lanes or runs
  std::vector<Value> in, out;

  bool has_note(const std::string& name) const;
  uint64_t weak() const;  ///< lanes or runs that the row does not vouch for
};

/// All rows; throws std::runtime_error naming the line of a malformed one.
std::vector<Row> read(const std::string& path);

}  // namespace vectors
