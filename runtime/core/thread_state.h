// What HIP keeps per thread below the API skin: the current device and the stack of <<<>>> configurations.
#pragma once

#include <cstdint>

#include <barehip/error.h>

#include "runtime/core/handle_table.h"

namespace barehip::runtime {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// One `<<<grid, block, lds, stream>>>`.
struct CallConfiguration {
  Dim3 grid;
  Dim3 block;
  size_t dynamic_lds_bytes = 0;
  Handle stream = 0;
};

/// This thread's current device ordinal (0 until set). Not checked here.
int current_device();
void set_current_device(int ordinal);

/// __hipPushCallConfiguration / __hipPopCallConfiguration. A launch's stub pops what its call site pushed; up to 8 may
/// be pushed at once. Errors: kMissingConfiguration for a pop of nothing, kInvalidConfiguration for a ninth push. Cost:
/// thread-local stores; no allocation, lock or syscall.
Result<void> push_call_configuration(const CallConfiguration& configuration);
Result<CallConfiguration> pop_call_configuration();

}  // namespace barehip::runtime
