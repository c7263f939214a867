// A kernel's argument segment: where the program's arguments and the hidden ones go. Worked out once, when the code is
// loaded, so that a launch only copies.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "codeobj/code_object.h"
#include "runtime/core/launch.h"

namespace barehip {
struct GpuProperties;
}

namespace barehip::runtime {

class HwQueue;

/// Immutable once made; any thread may use it.
class KernargLayout {
 public:
  KernargLayout(const codeobj::Kernel& kernel, const GpuProperties& gpu);

  /// Why no launch can fill the segment; empty when it can be filled.
  const std::string& refusal() const { return refusal_; }

  /// Whether `given` has a value for every argument.
  bool fits(const LaunchArguments& given) const;
  /// What is wrong with arguments that do not fit, as a sentence's end ("takes 2 arguments, none were given").
  std::string explain(const LaunchArguments& given) const;

  /// Hidden arguments that fill() leaves to fill_rest().
  bool has_rest() const { return !launch_values_.empty(); }
  void fill_rest(uint8_t* segment, const LaunchShape& shape, const HwQueue& queue) const;

  /// Writes the segment, which starts at a multiple of 16 bytes. Bytes that no argument covers stay as they were.
  /// False: the arguments do not fit, and the segment is of no use.
  [[gnu::always_inline]] bool fill(uint8_t* segment, const LaunchShape& shape, const LaunchArguments& given) const {
    // The hidden part first: it is copied in whole blocks, the first of which may begin before the explicit arguments
    // end.
    if (has_hidden_) fill_hidden(segment, shape);
    if (given.buffer) {
      if (!buffer_fits(given.buffer_bytes)) return false;
      std::memcpy(segment, given.buffer, explicit_bytes_);
      return true;
    }
    const Argument* argument = arguments_.get();
    const Argument* const end = arguments_end_;
    if (argument == end) return true;
    if (given.pointers == nullptr) return false;
    for (void* const* pointer = given.pointers; argument != end; ++argument) {
      const auto* from = static_cast<const uint8_t*>(*pointer++);
      if (from == nullptr) return false;
      copy_argument(segment + argument->offset, from, argument->size);
    }
    return true;
  }

 private:
  /// Where the program's argument goes. Bytes.
  struct Argument {
    uint32_t offset = 0;
    uint32_t size = 0;
  };
  /// A hidden argument whose value changes from launch to launch.
  struct LaunchValue {
    uint32_t offset = 0;
    codeobj::ValueKind kind{};
  };
  /// What one store of the template writes.
  struct alignas(16) Block {
    uint8_t bytes[16];
  };
  /// Block counts and group sizes as they stand in code objects from version 5 on.
  struct Shape {
    uint32_t counts[3];
    uint16_t sizes[3];
  };
  static constexpr uint32_t kNowhere = UINT32_MAX;

  void add_hidden(const codeobj::Kernel& kernel, const GpuProperties& gpu);
  void find_shape();

  bool buffer_fits(size_t bytes) const {
    // Compilers pad structures to their alignment, and a program's packed buffer may be one.
    constexpr size_t kPadding = 15;
    return bytes >= explicit_bytes_ && bytes <= explicit_bytes_ + kPadding;
  }

  /// Pointers and ints are nearly all arguments. No call of memcpy for the others either: one in this loop would have
  /// the launch path move most of its registers to others and back.
  [[gnu::always_inline]] static void copy_argument(uint8_t* to, const uint8_t* from, uint32_t size) {
    if (size == 8) [[likely]]
      return copy<uint64_t>(to, from);
    if (size == 4) [[likely]]
      return copy<uint32_t>(to, from);
    for (; size >= 8; size -= 8, to += 8, from += 8) copy<uint64_t>(to, from);
    for (; size != 0; --size, ++to, ++from) copy<uint8_t>(to, from);
  }
  template <class T>
  [[gnu::always_inline]] static void copy(uint8_t* to, const uint8_t* from) {
    struct [[gnu::packed, gnu::may_alias]] Unaligned {
      T value;
    };
    reinterpret_cast<volatile Unaligned*>(to)->value = reinterpret_cast<const Unaligned*>(from)->value;
  }

  [[gnu::always_inline]] void fill_hidden(uint8_t* segment, const LaunchShape& shape) const {
    auto* to = reinterpret_cast<Block*>(segment + hidden_start_);
    const Block* from = hidden_template_.get();
    for (const Block* end = from + hidden_blocks_; from != end; ++from, ++to) *to = *from;
    if (shape_offset_ != kNowhere) {
      auto& values = *reinterpret_cast<volatile Shape*>(segment + shape_offset_);
      values.counts[0] = shape.grid.x;
      values.counts[1] = shape.grid.y;
      values.counts[2] = shape.grid.z;
      values.sizes[0] = static_cast<uint16_t>(shape.block.x);
      values.sizes[1] = static_cast<uint16_t>(shape.block.y);
      values.sizes[2] = static_cast<uint16_t>(shape.block.z);
    }
  }

  uint32_t count_ = 0;  ///< explicit arguments
  bool has_hidden_ = false;
  uint32_t hidden_blocks_ = 0;
  std::unique_ptr<Argument[]> arguments_;
  const Argument* arguments_end_ = nullptr;
  /// The bytes from hidden_start_ on that are the same in every launch, with zeros where others go.
  std::unique_ptr<Block[]> hidden_template_;
  uint32_t hidden_start_ = 0;  ///< a multiple of a Block's size
  /// Where a Shape stands, at a multiple of 4; kNowhere when there is none.
  uint32_t shape_offset_ = kNowhere;
  std::vector<LaunchValue> launch_values_;  ///< all others
  uint32_t explicit_bytes_ = 0;
  std::string refusal_;
};

}  // namespace barehip::runtime
