#include "runtime/core/launch.h"

#include "runtime/core/launch_path.h"
#include "runtime/core/launch_refusal.h"
#include "runtime/core/module_impl.h"

namespace barehip::runtime {
namespace {

constexpr const char* kOperation = "launch kernel";

/// Whether GPU and kernel allow the shape: no size is 0, the grid has less than 2^32 work-items in each dimension, and
/// block and LDS are within the function's limits.
bool shape_fits(const Function& function, const LaunchShape& shape) {
  constexpr uint64_t kEnd = uint64_t{1} << 32;
  const auto dimension_fits = [](uint64_t grid, uint64_t block) {
    return grid != 0 && block != 0 && block <= kMaxThreadsPerBlock && grid * block < kEnd;
  };
  const auto [gx, gy, gz] = shape.grid;
  const auto [bx, by, bz] = shape.block;
  return dimension_fits(gx, bx) && dimension_fits(gy, by) && dimension_fits(gz, bz) &&
         bx * by * bz <= function.thread_limit && shape.dynamic_lds_bytes < function.dynamic_lds_end;
}

/// The stream belongs to the function's GPU. All that can fail comes before reserving: a reserved packet must be
/// published.
Result<void> launch(const Function& function, const LaunchShape& shape, const LaunchArguments& given, Stream& stream) {
  if (!shape_fits(function, shape) || !function.kernarg.fits(given)) return explain_refusal(function, shape, given);
  const auto entry = stream.enter();
  if (!entry) return std::unexpected(entry.error());
  HwQueue& queue = *entry->queue;
  if (function.big_kernarg)
    if (auto room = queue.ensure_big_kernarg(); !room) return room;
  const auto index = queue.reserve();
  if (!index) return std::unexpected(index.error());
  uint8_t* kernarg = function.big_kernarg ? queue.big_kernarg(*index) : queue.kernarg(*index);
  (void)function.kernarg.fill(kernarg, shape, given);  // they fit: that was asked above
  function.kernarg.fill_rest(kernarg, shape, queue);
  fill_packet(queue.slot(*index), function, shape, kernarg);
  queue.publish(*index, dispatch_dword(entry->header));
  stream.advance(queue, *index);
  stream.entered(*entry);
  return stream.context().launch_blocking ? stream.synchronize() : Result<void>{};
}

}  // namespace

Result<void> launch_host_function(const void* host_function, const LaunchShape& shape, const LaunchArguments& arguments,
                                  Handle stream_handle) {
  auto stream = find_stream(stream_handle);
  if (!stream) return std::unexpected(stream.error());
  if (auto healthy = (*stream)->context().check(); !healthy) return healthy;
  auto function = find_host_function(host_function, (*stream)->context());
  if (!function) return std::unexpected(function.error());
  return launch(**function, shape, arguments, **stream);
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
  if (auto healthy = (*stream)->context().check(); !healthy) return healthy;
  return launch(*function, shape, arguments, **stream);
}

Result<LaunchArguments> parse_launch_extra(void* const* extra) {
  constexpr uintptr_t kExtraPointer = 1, kExtraSize = 2, kExtraEnd = 3;
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
