#include "runtime/core/launch.h"

#include <cstring>

#include "runtime/core/environment.h"
#include "runtime/core/fences.h"
#include "runtime/core/module_impl.h"
#include "runtime/core/runtime.h"
#include "runtime/core/stream_impl.h"
#include "runtime/core/thread_state.h"

namespace barehip::runtime {
namespace {

using codeobj::ValueKind;

constexpr const char* kOperation = "launch kernel";
constexpr uint16_t kDimensions = 3;
/// How much longer than its arguments a program's packed buffer may be: compilers pad structures to their alignment.
constexpr size_t kBufferPadding = 15;

// hipModuleLaunchKernel's extra list.
constexpr uintptr_t kExtraPointer = 1, kExtraSize = 2, kExtraEnd = 3;

std::string shape_text(const LaunchShape& shape) {
  const auto triple = [](const Dim3& d) {
    return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
  };
  return "grid " + triple(shape.grid) + ", block " + triple(shape.block);
}

std::unexpected<Error> bad_shape(const Function& function, const LaunchShape& shape, const std::string& why) {
  return fail(ErrorCode::kInvalidConfiguration, kOperation,
              function.kernel.name + " (" + shape_text(shape) + "): " + why);
}

/// Says which limit a shape breaks. Only called when one is.
[[gnu::cold]] Result<void> explain_shape(const Function& function, const LaunchShape& shape) {
  const DeviceProperties& device = function.context.properties();
  const uint64_t block = uint64_t{shape.block.x} * shape.block.y * shape.block.z;
  const uint64_t lds = function.kernel.group_bytes + shape.dynamic_lds_bytes;
  if (block == 0 || uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z == 0)
    return bad_shape(function, shape, "a dimension is 0");
  if (shape.block.x > device.max_block_dim[0] || shape.block.y > device.max_block_dim[1] ||
      shape.block.z > device.max_block_dim[2] || block > device.max_threads_per_block)
    return bad_shape(function, shape,
                     "the block has " + std::to_string(block) + " threads, " + device.gfx + " allows " +
                         std::to_string(device.max_threads_per_block));
  if (block > function.max_threads)
    return bad_shape(function, shape,
                     "the block has " + std::to_string(block) + " threads, the kernel was compiled for " +
                         std::to_string(function.max_threads) + " at most (__launch_bounds__)");
  if (lds > device.lds_bytes_per_block)
    return bad_shape(function, shape,
                     "it wants " + std::to_string(function.kernel.group_bytes) + " bytes of static and " +
                         std::to_string(shape.dynamic_lds_bytes) + " of dynamic LDS, a block has " +
                         std::to_string(device.lds_bytes_per_block));
  return bad_shape(function, shape, "a dimension has 2^32 threads or more");
}

bool shape_fits(const Function& function, const LaunchShape& shape) {
  const DeviceProperties& device = function.context.properties();
  const uint64_t block = uint64_t{shape.block.x} * shape.block.y * shape.block.z;
  const uint64_t x = uint64_t{shape.grid.x} * shape.block.x;
  const uint64_t y = uint64_t{shape.grid.y} * shape.block.y;
  const uint64_t z = uint64_t{shape.grid.z} * shape.block.z;
  return x != 0 && y != 0 && z != 0 && ((x | y | z) >> 32) == 0 && block <= function.max_threads &&
         shape.block.x <= device.max_block_dim[0] && shape.block.y <= device.max_block_dim[1] &&
         shape.block.z <= device.max_block_dim[2] && shape.dynamic_lds_bytes <= device.lds_bytes_per_block &&
         function.kernel.group_bytes + shape.dynamic_lds_bytes <= device.lds_bytes_per_block;
}

bool arguments_fit(const Function& function, const LaunchArguments& given) {
  const uint32_t bytes = function.kernel.explicit_bytes;
  if (given.buffer) return given.buffer_bytes >= bytes && given.buffer_bytes <= bytes + kBufferPadding;
  if (given.pointers == nullptr) return function.arguments.empty();
  for (size_t i = 0; i < function.arguments.size(); ++i)
    if (given.pointers[i] == nullptr) return false;
  return true;
}

[[gnu::cold]] Result<void> explain_arguments(const Function& function, const LaunchArguments& given) {
  if (given.buffer)
    return fail(ErrorCode::kInvalidArgument, kOperation,
                function.kernel.name + " takes " + std::to_string(function.kernel.explicit_bytes) +
                    " bytes of arguments, the buffer has " + std::to_string(given.buffer_bytes));
  if (given.pointers == nullptr)
    return fail(
        ErrorCode::kInvalidArgument, kOperation,
        function.kernel.name + " takes " + std::to_string(function.arguments.size()) + " arguments, none were given");
  return fail(ErrorCode::kInvalidArgument, kOperation, function.kernel.name + ": the pointer to an argument is null");
}

void copy_argument(uint8_t* to, const void* from, uint32_t size) {
  // Pointers and ints are nearly all arguments: these two become single moves.
  if (size == 8)
    std::memcpy(to, from, 8);
  else if (size == 4)
    std::memcpy(to, from, 4);
  else
    std::memcpy(to, from, size);
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
    case ValueKind::kHiddenQueuePtr: return put(to, queue.aql().descriptor());
    default: return;
  }
}

void fill_kernarg(uint8_t* segment, const Function& function, const LaunchShape& shape, const LaunchArguments& given,
                  const HwQueue& queue) {
  if (given.buffer) {
    std::memcpy(segment, given.buffer, function.kernel.explicit_bytes);
  } else {
    void* const* pointer = given.pointers;
    for (const ExplicitArgument& argument : function.arguments)
      copy_argument(segment + argument.offset, *pointer++, argument.size);
  }
  if (function.hidden_template.empty()) return;
  std::memcpy(segment + function.kernel.explicit_bytes, function.hidden_template.data(),
              function.hidden_template.size());
  for (const LaunchValue& value : function.launch_values)
    put_launch_value(segment + value.offset, value.kind, shape, queue);
}

void fill_packet(void* slot, const Function& function, const LaunchShape& shape, const uint8_t* kernarg) {
  auto& packet = *static_cast<aql::KernelDispatchPacket*>(slot);
  packet.workgroup_size_x = static_cast<uint16_t>(shape.block.x);
  packet.workgroup_size_y = static_cast<uint16_t>(shape.block.y);
  packet.workgroup_size_z = static_cast<uint16_t>(shape.block.z);
  packet.reserved0 = 0;
  packet.grid_size_x = shape.grid.x * shape.block.x;
  packet.grid_size_y = shape.grid.y * shape.block.y;
  packet.grid_size_z = shape.grid.z * shape.block.z;
  packet.private_segment_size = function.private_bytes;
  packet.group_segment_size = function.kernel.group_bytes + static_cast<uint32_t>(shape.dynamic_lds_bytes);
  packet.kernel_object = function.descriptor;
  packet.kernarg_address = reinterpret_cast<uint64_t>(kernarg);
  packet.reserved2 = 0;
  packet.completion_signal = 0;
}

/// What is wrong with a launch that may_launch() refused.
[[gnu::cold]] Result<void> explain(const Function& function, const LaunchShape& shape, const LaunchArguments& given,
                                   const Stream& stream) {
  if (auto healthy = stream.context().check(); !healthy) return healthy;
  if (!function.refusal.empty())
    return fail(ErrorCode::kNotSupported, kOperation, function.kernel.name + ": " + function.refusal);
  if (!shape_fits(function, shape)) return explain_shape(function, shape);
  return explain_arguments(function, given);
}

bool may_launch(const Function& function, const LaunchShape& shape, const LaunchArguments& given,
                const Stream& stream) {
  return stream.context().device().error() == nullptr && function.refusal.empty() && shape_fits(function, shape) &&
         arguments_fit(function, given);
}

/// Everything that can fail comes before reserving: a reserved packet must be published.
Result<void> launch(const Function& function, const LaunchShape& shape, const LaunchArguments& given, Stream& stream) {
  if (!may_launch(function, shape, given, stream)) [[unlikely]]
    return explain(function, shape, given, stream);
  HwQueue* target = &stream.queue();
  uint16_t header = g_fences.dispatch;
  if (stream.must_enter()) [[unlikely]] {
    const auto needed = stream.enter(target);
    if (!needed) return std::unexpected(needed.error());
    header = *needed;
  }
  HwQueue& queue = *target;
  const bool big = function.kernel.kernarg_bytes > HwQueue::kKernargSlotBytes;
  if (big) [[unlikely]]
    if (auto room = queue.ensure_big_kernarg(); !room) return room;
  uint64_t index = 0;
  if (!queue.try_reserve(index)) [[unlikely]] {
    const auto reserved = queue.finish_reserve(index);
    if (!reserved) return std::unexpected(reserved.error());
    index = *reserved;
  }

  uint8_t* kernarg = big ? queue.big_kernarg(index) : queue.kernarg(index);
  fill_kernarg(kernarg, function, shape, given, queue);
  fill_packet(queue.slot(index), function, shape, kernarg);
  queue.publish(index, aql::make_first_dword(header, kDimensions));
  stream.advance(queue, index);
  if (stream.context().launch_blocking) [[unlikely]]
    return stream.synchronize();
  return {};
}

/// The stream of a handle when nothing has to be made for it; null otherwise.
Stream* made_stream(Handle handle) {
  Runtime* runtime = Runtime::if_usable();
  if (runtime == nullptr || handle == kStreamPerThread) return nullptr;
  if (handle > kStreamPerThread) return runtime->streams.find(handle);
  const DeviceContext* context = runtime->context_or_null(current_device());
  return context ? context->null_stream_if_made() : nullptr;
}

/// First launches, and launches that fail.
[[gnu::cold]] Result<void> launch_unprepared(const void* host_function, const LaunchShape& shape,
                                             const LaunchArguments& arguments, Handle stream_handle) {
  auto stream = find_stream(stream_handle);
  if (!stream) return std::unexpected(stream.error());
  if (auto healthy = (*stream)->context().check(); !healthy) return healthy;
  auto function = find_host_function(host_function, (*stream)->context());
  if (!function) return std::unexpected(function.error());
  return launch(**function, shape, arguments, **stream);
}

}  // namespace

Result<void> launch_host_function(const void* host_function, const LaunchShape& shape, const LaunchArguments& arguments,
                                  Handle stream_handle) {
  if (Stream* stream = made_stream(stream_handle)) [[likely]]
    if (const Function* function = loaded_host_function(host_function, stream->context().ordinal())) [[likely]]
      return launch(*function, shape, arguments, *stream);
  return launch_unprepared(host_function, shape, arguments, stream_handle);
}

Result<void> launch_function(Handle handle, const LaunchShape& shape, const LaunchArguments& arguments,
                             Handle stream_handle) {
  auto stream = find_stream(stream_handle);
  if (!stream) return std::unexpected(stream.error());
  const Function* function = Runtime::if_open()->functions.find(handle);
  if (function == nullptr)
    return fail(ErrorCode::kInvalidFunction, kOperation,
                handle ? "the function does not exist, or its module was unloaded" : "the function is null");
  if (&function->context != &(*stream)->context())
    return fail(ErrorCode::kInvalidHandle, kOperation, "the function's module and the stream are of different GPUs");
  return launch(*function, shape, arguments, **stream);
}

Result<LaunchArguments> parse_launch_extra(void* const* extra) {
  LaunchArguments out;
  if (extra == nullptr) return out;
  for (size_t i = 0;; i += 2) {
    const auto id = reinterpret_cast<uintptr_t>(extra[i]);
    if (id == kExtraEnd) break;
    if (id == kExtraPointer)
      out.buffer = extra[i + 1];
    else if (id == kExtraSize && extra[i + 1])
      out.buffer_bytes = *static_cast<const size_t*>(extra[i + 1]);
    else
      return fail(ErrorCode::kInvalidArgument, kOperation, "the extra list holds an unknown id or a null size");
  }
  if (out.buffer == nullptr && out.buffer_bytes != 0)
    return fail(ErrorCode::kInvalidArgument, kOperation, "the extra list names a size and no buffer");
  return out;
}

}  // namespace barehip::runtime
