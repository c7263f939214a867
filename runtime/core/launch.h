// Kernel launches. The path is described in docs/fences.md and docs/costs.md: no syscall, no allocation, no lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include <barehip/error.h>

#include "runtime/core/handle_table.h"
#include "runtime/core/thread_state.h"

namespace barehip::runtime {

/// Arguments of one launch: either `pointers` (one address per explicit argument, HIP's kernelParams) or a packed
/// buffer (HIP's extra = {HIP_LAUNCH_PARAM_BUFFER_POINTER, ...}); neither for a kernel without arguments.
struct LaunchArguments {
  void* const* pointers = nullptr;
  const void* buffer = nullptr;
  size_t buffer_bytes = 0;
};

struct LaunchShape {
  Dim3 grid;   ///< work-groups
  Dim3 block;  ///< work-items of a group
  size_t dynamic_lds_bytes = 0;
};

/// hipLaunchKernel: `host_function` is the stub's address, on the current device.
/// Errors: kInvalidFunction, kNoBinaryForGpu, kInvalidConfiguration (zero or too large sizes, too much LDS),
/// kInvalidArgument (arguments missing, buffer of the wrong size), kInvalidHandle, kOutOfResources, sticky.
Result<void> launch_host_function(const void* host_function, const LaunchShape& shape, const LaunchArguments& arguments,
                                  Handle stream);
/// hipModuleLaunchKernel and kin: a hipFunction_t.
Result<void> launch_function(Handle function, const LaunchShape& shape, const LaunchArguments& arguments,
                             Handle stream);

/// Reads HIP's `extra` list {id, value, ..., HIP_LAUNCH_PARAM_END} into LaunchArguments; null is no arguments.
/// kInvalidArgument for an unknown id or a missing pair.
Result<LaunchArguments> parse_launch_extra(void* const* extra);

}  // namespace barehip::runtime
