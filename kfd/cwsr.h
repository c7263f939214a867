// Sizes of the context save area of a compute queue (compute wave save and restore, "CWSR"). The kernel since
// Linux 6.12 compares them with its own: the control stack exactly, the whole mapping exactly.
#pragma once

#include <cstdint>

#include <barehip/device.h>

namespace barehip::kfd {

struct CwsrSizes {
  uint32_t ctl_stack_bytes = 0;  ///< CREATE_QUEUE.ctl_stack_size, one XCC
  uint32_t save_bytes = 0;       ///< CREATE_QUEUE.ctx_save_restore_size, one XCC, with the control stack
  uint32_t debug_bytes = 0;      ///< debugger memory, one XCC
  uint64_t total_bytes = 0;      ///< of the allocation, all XCCs
};

/// From the published node properties where the kernel has them, else by its formulas.
CwsrSizes cwsr_sizes(const GpuProperties& gpu);

}  // namespace barehip::kfd
