// The path that nearly every launch takes, from the kernel's handle to the doorbell, to be read from bottom to top: no
// syscall, no allocation, no lock, and as few instructions as can be (docs/costs.md; tests/bench counts them). It is
// inlined into the entry points that launch.
//
// It does what is ready to be done and gives up, before it has launched anything, on all else: a stream or kernel that
// is used for the first time, a stream that has to wait for others or to see what the host wrote, a full ring, and
// whatever is wrong. launch.h's functions do all of that, and say what is wrong.
#pragma once

#include "runtime/core/fences.h"
#include "runtime/core/function.h"
#include "runtime/core/hw_queue.h"
#include "runtime/core/launch.h"
#include "runtime/core/runtime.h"
#include "runtime/core/stream_impl.h"
#include "runtime/core/thread_state.h"

namespace barehip::runtime {

inline uint32_t dispatch_dword(uint16_t header) {
  constexpr uint16_t kDimensions = 3;
  return aql::make_first_dword(header, kDimensions);
}

/// A 16-bit field and the zero behind it in one store.
[[gnu::always_inline]] inline void put_with_zero(volatile uint16_t& field, uint32_t value) {
  struct [[gnu::may_alias]] Both {
    uint32_t value;
  };
  reinterpret_cast<volatile Both&>(field).value = value;
}

/// All but the first dword, which publishing stores.
[[gnu::always_inline]] inline void fill_packet(void* slot, const Function& function, const LaunchShape& shape,
                                               const uint8_t* kernarg) {
  // volatile: each field is one plain store from where it is. Compilers would rather gather them in vector registers
  // first, which takes twice the instructions.
  auto& packet = *static_cast<volatile aql::KernelDispatchPacket*>(slot);
  packet.workgroup_size_x = static_cast<uint16_t>(shape.block.x);
  packet.workgroup_size_y = static_cast<uint16_t>(shape.block.y);
  put_with_zero(packet.workgroup_size_z, shape.block.z);  // and reserved0
  packet.grid_size_x = shape.grid.x * shape.block.x;
  packet.grid_size_y = shape.grid.y * shape.block.y;
  packet.grid_size_z = shape.grid.z * shape.block.z;
  packet.private_segment_size = function.private_bytes;
  packet.group_segment_size = function.group_bytes + static_cast<uint32_t>(shape.dynamic_lds_bytes);
  packet.kernel_object = function.descriptor;
  packet.kernarg_address = reinterpret_cast<uint64_t>(kernarg);
  packet.reserved2 = 0;
  packet.completion_signal = 0;
}

/// Whether the shape is within what the GPU and the kernel allow and not among the odd ones (2^31 work-items and more
/// in a dimension), which the other path looks at. A block's dimensions have no limits of their own that are below that
/// of its work-items (DeviceProperties), so their product is all there is to look at; two steps, as it must not
/// overflow.
[[gnu::always_inline]] inline bool shape_fits_quickly(const Function& function, const LaunchShape& shape) {
  const uint64_t bx = shape.block.x, by = shape.block.y, bz = shape.block.z;
  const uint64_t x = shape.grid.x * bx, y = shape.grid.y * by, z = shape.grid.z * bz;
  // No items is 2^64 - 1 here.
  return (((x - 1) | (y - 1) | (z - 1)) >> 31) == 0 && bx * by <= kMaxThreadsPerBlock &&
         bx * by * bz <= function.quick_thread_limit && shape.dynamic_lds_bytes < function.dynamic_lds_end;
}

/// How far the path came.
enum class Quick : uint8_t {
  kLaunched,
  kLeft,        ///< nothing was done: the functions of launch.h have to
  kNoArgument,  ///< refused: the pointer to an argument is null
};

/// The stream belongs to the function's GPU.
[[gnu::always_inline]] inline Quick launch_quickly(const Function& function, const LaunchShape& shape,
                                                   const LaunchArguments& given, Stream& stream,
                                                   const DeviceContext& context) {
  if (!shape_fits_quickly(function, shape)) return Quick::kLeft;
  // Before must_enter(), which tells when the stream is moving to another queue.
  HwQueue& queue = stream.queue(context);
  if (stream.must_enter(context)) return Quick::kLeft;
  uint64_t index = 0;
  if (!queue.try_reserve(index)) return Quick::kLeft;
  uint8_t* kernarg = queue.kernarg(index);
  fill_packet(queue.slot(index), function, shape, kernarg);
  if (!function.kernarg.fill(kernarg, shape, given)) [[unlikely]] {
    queue.publish_nothing(index);
    return Quick::kNoArgument;
  }
  queue.publish(index, dispatch_dword(g_fences.dispatch));
  stream.advance(queue, index);
  return Quick::kLaunched;
}

/// The stream of a handle when nothing has to be made for it; else null.
[[gnu::always_inline]] inline Stream* ready_stream(Handle handle) {
  Stream* stream = t_state.null_stream;
  if (handle != 0) [[unlikely]] {
    const Runtime* runtime = Runtime::if_open();
    // 1 and 2 are streams with meanings of their own; as handles they find nothing.
    stream = runtime ? runtime->streams.find(handle) : nullptr;
  }
  return stream;
}

/// launch_host_function(), as far as it is quickly done. `function`: what kNoArgument is about.
[[gnu::always_inline]] inline Quick quick_launch_host(const void* host_function, const LaunchShape& shape,
                                                      const LaunchArguments& given, Handle stream_handle,
                                                      const Function*& function) {
  Stream* stream = ready_stream(stream_handle);
  if (stream == nullptr) return Quick::kLeft;
  const DeviceContext& context = stream->context();
  function = context.kernels.find(host_function);
  return function ? launch_quickly(*function, shape, given, *stream, context) : Quick::kLeft;
}

/// launch_function(), as far as it is quickly done.
[[gnu::always_inline]] inline Quick quick_launch_function(Handle handle, const LaunchShape& shape,
                                                          const LaunchArguments& given, Handle stream_handle,
                                                          const Function*& function) {
  Stream* stream = ready_stream(stream_handle);
  if (stream == nullptr) return Quick::kLeft;
  const DeviceContext& context = stream->context();
  function = Runtime::if_open()->functions.find(handle);
  if (function == nullptr || &function->context != &context) return Quick::kLeft;
  return launch_quickly(*function, shape, given, *stream, context);
}

}  // namespace barehip::runtime
