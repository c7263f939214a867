// A reader of MessagePack (msgpack specification 5), as far as code object metadata needs it: forward only, without
// building a tree, without allocation, with bounded depth.
#pragma once

#include <barehip/error.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace barehip::codeobj {

/// The first error sticks: every later read gives zero or empty and moves nothing, so that callers may read a whole
/// structure and ask once. Counts of maps and arrays are claims of the input; a loop over them must also ask ok().
class MsgPackReader {
 public:
  /// `base` is added to positions in error texts: the file offset of `bytes`.
  MsgPackReader(std::span<const std::byte> bytes, size_t base) : bytes_(bytes), base_(base) {}

  [[nodiscard]] bool ok() const { return what_ == nullptr; }
  /// What failed and where; only when !ok().
  [[nodiscard]] Error error() const;
  [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
  [[nodiscard]] size_t position() const { return base_ + position_; }

  uint32_t map();    ///< number of key-value pairs
  uint32_t array();  ///< number of elements
  std::string_view string();
  uint64_t unsigned_integer();
  bool boolean();
  /// Passes over one value of any kind with everything in it.
  void skip();

  /// Records an error at the place of the last value read; for callers' own checks. `what` is a literal.
  void refuse(const char* what);

 private:
  uint64_t number(size_t bytes);
  void advance(uint64_t bytes);
  uint8_t next_byte();
  bool skip_one(uint64_t& pending);

  std::span<const std::byte> bytes_;
  size_t base_;
  size_t position_ = 0;
  size_t value_start_ = 0;
  const char* what_ = nullptr;
};

}  // namespace barehip::codeobj
