#include "runtime/core/kernarg.h"

#include <algorithm>
#include <span>

#include <barehip/device.h>

#include "runtime/core/hw_queue.h"

#include "runtime/core/runtime.h"

namespace barehip::runtime {
namespace {

using codeobj::KernelArgument;
using codeobj::ValueKind;

bool changes_per_launch(ValueKind kind) {
  switch (kind) {
    case ValueKind::kHiddenBlockCountX:
    case ValueKind::kHiddenBlockCountY:
    case ValueKind::kHiddenBlockCountZ:
    case ValueKind::kHiddenGroupSizeX:
    case ValueKind::kHiddenGroupSizeY:
    case ValueKind::kHiddenGroupSizeZ:
    case ValueKind::kHiddenDynamicLdsSize:
    case ValueKind::kHiddenQueuePtr: return true;
    default: return false;
  }
}

/// Hidden values that are the same in every launch and not 0.
uint64_t constant_value(ValueKind kind, const GpuProperties& gpu) {
  constexpr uint64_t kHipGridDims = 3;
  switch (kind) {
    case ValueKind::kHiddenGridDims: return kHipGridDims;
    case ValueKind::kHiddenPrivateBase: return gpu.scratch_aperture >> 32;
    case ValueKind::kHiddenSharedBase: return gpu.lds_aperture >> 32;
    default: return Runtime::if_open()->unsupported().pointer(kind);
  }
}

template <class T>
void put(uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

void put_launch_value(uint8_t* to, ValueKind kind, const LaunchShape& shape, const HwQueue& queue) {
  switch (kind) {
    case ValueKind::kHiddenBlockCountX: return put(to, shape.grid.x);
    case ValueKind::kHiddenBlockCountY: return put(to, shape.grid.y);
    case ValueKind::kHiddenBlockCountZ: return put(to, shape.grid.z);
    case ValueKind::kHiddenGroupSizeX: return put(to, static_cast<uint16_t>(shape.block.x));
    case ValueKind::kHiddenGroupSizeY: return put(to, static_cast<uint16_t>(shape.block.y));
    case ValueKind::kHiddenGroupSizeZ: return put(to, static_cast<uint16_t>(shape.block.z));
    case ValueKind::kHiddenDynamicLdsSize: return put(to, static_cast<uint32_t>(shape.dynamic_lds_bytes));
    case ValueKind::kHiddenQueuePtr: return put(to, queue.descriptor());
    default: return;
  }
}

}  // namespace

KernargLayout::KernargLayout(const codeobj::Kernel& kernel, const GpuProperties& gpu)
    : explicit_bytes_(kernel.explicit_bytes) {
  if (kernel.kernarg_bytes > HwQueue::kBigKernargBytes)
    refusal_ = "its arguments take " + std::to_string(kernel.kernarg_bytes) + " bytes, and " +
               std::to_string(HwQueue::kBigKernargBytes) + " are supported";
  count_ = kernel.explicit_count;
  arguments_ = std::make_unique<Argument[]>(count_);
  arguments_end_ = arguments_.get() + count_;
  for (uint32_t i = 0; i < count_; ++i) arguments_[i] = {kernel.arguments[i].offset, kernel.arguments[i].size};
  add_hidden(kernel, gpu);
  find_shape();
}

/// The template, and what a launch puts into its copy.
void KernargLayout::add_hidden(const codeobj::Kernel& kernel, const GpuProperties& gpu) {
  std::vector<uint8_t> bytes(kernel.kernarg_bytes);
  uint32_t end = 0;
  for (const KernelArgument& argument : std::span(kernel.arguments).subspan(kernel.explicit_count)) {
    if (argument.kind == ValueKind::kUnknown)
      refusal_ = "it wants a hidden argument of a kind that barehip does not know";
    const uint64_t argument_end = uint64_t{argument.offset} + argument.size;
    if (argument.offset < kernel.explicit_bytes || argument_end > kernel.kernarg_bytes) continue;
    end = std::max(end, static_cast<uint32_t>(argument_end));
    const uint64_t value = constant_value(argument.kind, gpu);
    std::memcpy(&bytes[argument.offset], &value, std::min<size_t>(argument.size, sizeof value));
    if (changes_per_launch(argument.kind)) launch_values_.push_back({argument.offset, argument.kind});
  }
  if (end == 0) return;
  has_hidden_ = true;
  hidden_start_ = kernel.explicit_bytes / sizeof(Block) * sizeof(Block);
  hidden_blocks_ = (end - hidden_start_ + sizeof(Block) - 1) / sizeof(Block);
  hidden_template_ = std::make_unique<Block[]>(hidden_blocks_);
  std::memcpy(hidden_template_.get(), &bytes[hidden_start_], end - hidden_start_);
}

/// Takes the six values of the launch's shape out of the list when they stand as fill_hidden() writes them.
void KernargLayout::find_shape() {
  constexpr struct {
    ValueKind kind;
    uint32_t offset;
  } kShape[] = {{ValueKind::kHiddenBlockCountX, 0}, {ValueKind::kHiddenBlockCountY, 4},
                {ValueKind::kHiddenBlockCountZ, 8}, {ValueKind::kHiddenGroupSizeX, 12},
                {ValueKind::kHiddenGroupSizeY, 14}, {ValueKind::kHiddenGroupSizeZ, 16}};
  const auto start =
      std::ranges::find(launch_values_, ValueKind::kHiddenBlockCountX, [](const LaunchValue& v) { return v.kind; });
  if (start == launch_values_.end()) return;
  const uint32_t offset = start->offset;
  if (offset % alignof(Shape) != 0) return;
  const auto in_shape = [&](const LaunchValue& value) {
    return std::ranges::any_of(
        kShape, [&](const auto& row) { return row.kind == value.kind && offset + row.offset == value.offset; });
  };
  if (std::ranges::count_if(launch_values_, in_shape) != std::ssize(kShape)) return;
  std::erase_if(launch_values_, in_shape);
  shape_offset_ = offset;
}

bool KernargLayout::fits(const LaunchArguments& given) const {
  if (given.buffer) return buffer_fits(given.buffer_bytes);
  if (count_ == 0) return true;
  if (given.pointers == nullptr) return false;
  return std::ranges::all_of(std::span(given.pointers, count_), [](const void* pointer) { return pointer != nullptr; });
}

std::string KernargLayout::explain(const LaunchArguments& given) const {
  if (given.buffer != nullptr)
    return " takes " + std::to_string(explicit_bytes_) + " bytes of arguments, the buffer has " +
           std::to_string(given.buffer_bytes);
  if (given.pointers != nullptr) return ": the pointer to an argument is null";
  return " takes " + std::to_string(count_) + " arguments, none were given";
}

void KernargLayout::fill_rest(uint8_t* segment, const LaunchShape& shape, const HwQueue& queue) const {
  for (const LaunchValue& value : launch_values_) put_launch_value(segment + value.offset, value.kind, shape, queue);
}

}  // namespace barehip::runtime
