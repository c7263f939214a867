// Launches, and what is known of a kernel.
#include "runtime/api/entry.h"
#include "runtime/core/device.h"
#include "runtime/core/event.h"
#include "runtime/core/launch.h"
#include "runtime/core/launch_path.h"
#include "runtime/core/launch_refusal.h"
#include "runtime/core/module.h"
#include "runtime/core/stream.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

/// kernelParams and extra exclude each other.
Result<LaunchArguments> arguments_of(void** pointers, void** extra) {
  if (pointers && extra) return fail(ErrorCode::kInvalidArgument, "launch", "both kernelParams and extra are given");
  if (extra) return parse_launch_extra(extra);
  return LaunchArguments{pointers, nullptr, 0};
}

/// The list as every program writes it: a buffer, its size, the end. False: parse_launch_extra() has to look.
bool read_usual_extra(void* const* extra, LaunchArguments& out) {
  if (extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[1] == nullptr || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[3] == nullptr || extra[4] != HIP_LAUNCH_PARAM_END)
    return false;
  out.buffer = extra[1];
  out.buffer_bytes = *static_cast<const size_t*>(extra[3]);
  return true;
}

Result<void> launch_module(hipFunction_t f, const LaunchShape& shape, void** pointers, void** extra,
                           hipStream_t stream) {
  const Result<LaunchArguments> arguments = arguments_of(pointers, extra);
  if (!arguments) return std::unexpected(arguments.error());
  return launch_function(handle(f), shape, *arguments, handle(stream));
}

// What the quick path leaves. Apart from the entry points, so that these need no room for a Result and its text.

[[gnu::cold, gnu::noinline]] hipError_t launch_kernel_slowly(const void* function_address, uint64_t grid_xy,
                                                             uint32_t grid_z, uint64_t block_xy, uint32_t block_z,
                                                             void** args, size_t lds, hipStream_t stream) {
  return enter(api_id("hipLaunchKernel"), [&] {
    const LaunchShape shape{from_registers(grid_xy, grid_z), from_registers(block_xy, block_z), lds};
    return launch_host_function(function_address, shape, LaunchArguments{args, nullptr, 0}, handle(stream));
  });
}

[[gnu::cold, gnu::noinline]] hipError_t refuse_arguments(ApiId id, const Function& function, void* const* pointers,
                                                         const void* buffer, size_t buffer_bytes) {
  return enter(id, [&] { return explain_arguments(function, LaunchArguments{pointers, buffer, buffer_bytes}); });
}

[[gnu::cold, gnu::noinline]] hipError_t launch_module_slowly(hipFunction_t f, LaunchShape shape, void** pointers,
                                                             void** extra, hipStream_t stream) {
  return enter(api_id("hipModuleLaunchKernel"), [&] { return launch_module(f, shape, pointers, extra, stream); });
}

/// A launch between two event records; either event may be null.
template <class Launch>
Result<void> between_events(hipEvent_t start, hipEvent_t stop, hipStream_t stream, Launch&& launch) {
  if (start)
    if (auto recorded = event_record(handle(start), handle(stream)); !recorded) return recorded;
  if (auto launched = launch(); !launched) return launched;
  return stop ? event_record(handle(stop), handle(stream)) : Result<void>{};
}

/// hipExtModuleLaunchKernel counts work-items, not groups, and this runtime launches whole groups.
Result<void> launch_by_items(const Dim3& items, const Dim3& block, size_t lds, hipFunction_t f, hipStream_t stream,
                             void** pointers, void** extra, hipEvent_t start, hipEvent_t stop) {
  if (!block.x || !block.y || !block.z)
    return fail(ErrorCode::kInvalidConfiguration, "hipExtModuleLaunchKernel", "a block dimension is 0");
  if (items.x % block.x || items.y % block.y || items.z % block.z)
    return fail(ErrorCode::kNotSupported, "hipExtModuleLaunchKernel",
                "the global work size is not a multiple of the block: partial groups are not supported");
  const LaunchShape shape{Dim3{items.x / block.x, items.y / block.y, items.z / block.z}, block, lds};
  return between_events(start, stop, stream, [&] { return launch_module(f, shape, pointers, extra, stream); });
}

Result<int> attribute_value(hipFunction_attribute attribute, const FunctionAttributes& attributes) {
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return static_cast<int>(attributes.max_threads_per_block);
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(attributes.static_lds_bytes);
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return 0;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(attributes.private_bytes_per_lane);
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: return static_cast<int>(attributes.vgprs);
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION: return attributes.binary_version;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return static_cast<int>(attributes.max_dynamic_lds_bytes);
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return 0;
    default: return fail(ErrorCode::kInvalidArgument, "hipFuncGetAttribute", "unknown attribute");
  }
}

/// A hint that no GPU of ours has a use for: the kernel is checked, the hint dropped, as the reference documents.
Result<void> accept_hint(const void* func) {
  const auto attributes = host_function_attributes(func);
  if (!attributes) return std::unexpected(attributes.error());
  return {};
}

}  // namespace

// hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** args, size_t lds, hipStream_t stream), with each
// dim3 as the x86-64 calling convention passes it: x and y in one register, z in the next. See from_registers().
BAREHIP_EXPORT hipError_t launch_kernel(const void* function_address, uint64_t grid_xy, uint32_t grid_z,
                                        uint64_t block_xy, uint32_t block_z, void** args, size_t lds,
                                        hipStream_t stream) __asm__("hipLaunchKernel");
hipError_t launch_kernel(const void* function_address, uint64_t grid_xy, uint32_t grid_z, uint64_t block_xy,
                         uint32_t block_z, void** args, size_t lds, hipStream_t stream) {
  const LaunchShape shape{from_registers(grid_xy, grid_z), from_registers(block_xy, block_z), lds};
  const LaunchArguments arguments{args, nullptr, 0};
  const Function* function = nullptr;
  const Quick quick = quick_launch_host(function_address, shape, arguments, handle(stream), function);
  if (quick == Quick::kLaunched) [[likely]]
    return succeed(api_id("hipLaunchKernel"));
  if (quick == Quick::kNoArgument) return refuse_arguments(api_id("hipLaunchKernel"), *function, args, nullptr, 0);
  return launch_kernel_slowly(function_address, grid_xy, grid_z, block_xy, block_z, args, lds, stream);
}

extern "C" {

hipError_t hipLaunchKernel_spt(const void* function_address, dim3 numBlocks, dim3 dimBlocks, void** args,
                               size_t sharedMemBytes, hipStream_t stream) {
  return enter(api_id("hipLaunchKernel_spt"), [&] {
    return launch_host_function(function_address, LaunchShape{to_core(numBlocks), to_core(dimBlocks), sharedMemBytes},
                                LaunchArguments{args, nullptr, 0}, stream ? handle(stream) : kStreamPerThread);
  });
}

hipError_t hipExtLaunchKernel(const void* function_address, dim3 numBlocks, dim3 dimBlocks, void** args,
                              size_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent, hipEvent_t stopEvent,
                              int flags) {
  return enter(api_id("hipExtLaunchKernel"), [&]() -> Result<void> {
    // "Any order" permits a reordering; keeping the order is within it.
    if (flags & ~hipExtAnyOrderLaunch) return invalid("hipExtLaunchKernel", "unknown flag");
    return between_events(startEvent, stopEvent, stream, [&] {
      return launch_host_function(function_address, LaunchShape{to_core(numBlocks), to_core(dimBlocks), sharedMemBytes},
                                  LaunchArguments{args, nullptr, 0}, handle(stream));
    });
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                 unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, hipStream_t stream, void** kernelParams, void** extra) {
  const LaunchShape shape{Dim3{gridDimX, gridDimY, gridDimZ}, Dim3{blockDimX, blockDimY, blockDimZ}, sharedMemBytes};
  LaunchArguments arguments{kernelParams, nullptr, 0};
  const bool readable = extra == nullptr || (kernelParams == nullptr && read_usual_extra(extra, arguments));
  const Function* function = nullptr;
  const Quick quick =
      readable ? quick_launch_function(handle(f), shape, arguments, handle(stream), function) : Quick::kLeft;
  if (quick == Quick::kLaunched) [[likely]]
    return succeed(api_id("hipModuleLaunchKernel"));
  if (quick == Quick::kNoArgument)
    return refuse_arguments(api_id("hipModuleLaunchKernel"), *function, arguments.pointers, arguments.buffer,
                            arguments.buffer_bytes);
  return launch_module_slowly(f, shape, kernelParams, extra, stream);
}

hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                    uint32_t localWorkSizeZ, size_t sharedMemBytes, hipStream_t hStream,
                                    void** kernelParams, void** extra, hipEvent_t startEvent, hipEvent_t stopEvent,
                                    uint32_t flags) {
  return enter(api_id("hipExtModuleLaunchKernel"), [&]() -> Result<void> {
    if (flags & ~static_cast<uint32_t>(hipExtAnyOrderLaunch))
      return invalid("hipExtModuleLaunchKernel", "unknown flag");
    return launch_by_items(Dim3{globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ},
                           Dim3{localWorkSizeX, localWorkSizeY, localWorkSizeZ}, sharedMemBytes, f, hStream,
                           kernelParams, extra, startEvent, stopEvent);
  });
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                    uint32_t localWorkSizeZ, size_t sharedMemBytes, hipStream_t hStream,
                                    void** kernelParams, void** extra, hipEvent_t startEvent, hipEvent_t stopEvent) {
  return enter(api_id("hipHccModuleLaunchKernel"), [&] {
    return launch_by_items(Dim3{globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ},
                           Dim3{localWorkSizeX, localWorkSizeY, localWorkSizeZ}, sharedMemBytes, f, hStream,
                           kernelParams, extra, startEvent, stopEvent);
  });
}

// Programs built with 5.x headers call the two above by their C++ names.
__attribute__((visibility("default"), alias("hipExtModuleLaunchKernel"))) hipError_t
_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
    hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, hipStream_t, void**, void**,
    hipEvent_t, hipEvent_t, uint32_t);
__attribute__((visibility("default"), alias("hipHccModuleLaunchKernel"))) hipError_t
_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
    hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, hipStream_t, void**, void**,
    hipEvent_t, hipEvent_t);

hipError_t hipFuncGetAttributes(hipFuncAttributes* attr, const void* func) {
  return enter(api_id("hipFuncGetAttributes"), [&]() -> Result<void> {
    if (!attr) return invalid("hipFuncGetAttributes", "attr is null");
    const Result<FunctionAttributes> attributes = host_function_attributes(func);
    if (!attributes) return std::unexpected(attributes.error());
    hipFuncAttributes out{};
    out.binaryVersion = attributes->binary_version;
    out.localSizeBytes = attributes->private_bytes_per_lane;
    out.maxDynamicSharedSizeBytes = static_cast<int>(attributes->max_dynamic_lds_bytes);
    out.maxThreadsPerBlock = static_cast<int>(attributes->max_threads_per_block);
    out.numRegs = static_cast<int>(attributes->vgprs);
    out.ptxVersion = attributes->binary_version;
    out.sharedSizeBytes = attributes->static_lds_bytes;
    *attr = out;
    return {};
  });
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attrib, hipFunction_t hfunc) {
  return enter(api_id("hipFuncGetAttribute"), [&]() -> Result<void> {
    if (!value) return invalid("hipFuncGetAttribute", "value is null");
    const Result<FunctionAttributes> attributes = function_attributes(handle(hfunc));
    if (!attributes) return std::unexpected(attributes.error());
    return store(value, attribute_value(attrib, *attributes));
  });
}

hipError_t hipFuncSetAttribute(const void* func, hipFuncAttribute attr, int value) {
  return enter(api_id("hipFuncSetAttribute"), [&]() -> Result<void> {
    const Result<FunctionAttributes> attributes = host_function_attributes(func);
    if (!attributes) return std::unexpected(attributes.error());
    // All of the LDS is always available to a kernel: a request within it needs nothing, one beyond it cannot be met.
    if (attr == hipFuncAttributeMaxDynamicSharedMemorySize)
      return value >= 0 && static_cast<uint32_t>(value) <= attributes->max_dynamic_lds_bytes
                 ? Result<void>{}
                 : invalid("hipFuncSetAttribute", "more dynamic LDS than a group can have");
    if (attr == hipFuncAttributePreferredSharedMemoryCarveout) return {};
    return invalid("hipFuncSetAttribute", "unknown attribute");
  });
}

hipError_t hipFuncSetCacheConfig(const void* func, hipFuncCache_t) {
  return enter(api_id("hipFuncSetCacheConfig"), [&] { return accept_hint(func); });
}
hipError_t hipFuncSetSharedMemConfig(const void* func, hipSharedMemConfig) {
  return enter(api_id("hipFuncSetSharedMemConfig"), [&] { return accept_hint(func); });
}

hipError_t hipGetFuncBySymbol(hipFunction_t* functionPtr, const void* symbolPtr) {
  return enter(api_id("hipGetFuncBySymbol"), [&]() -> Result<void> {
    if (!functionPtr) return invalid("hipGetFuncBySymbol", "functionPtr is null");
    return store(functionPtr, function_by_symbol(symbolPtr));
  });
}

}  // extern "C"
