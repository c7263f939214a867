// Atomic operations by their number in the texture cache's list (vega10_enum.h, TC_OP): SDMA ATOMIC and PM4 ATOMIC_MEM.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/vgpu/cp/gpu_memory.h"

namespace vgpu {

struct AtomicRequest {
  uint8_t operation = 0;  ///< [4:0] which, bit 5: 64 bits wide, bit 6: the old value is not returned
  uint64_t va = 0;
  uint64_t source = 0;
  uint64_t compare = 0;
};

/// Whether the engines have it. Floating point operations are not among them.
bool atomic_known(uint8_t operation);
bool atomic_wide(uint8_t operation);
bool atomic_is_compare_swap(uint8_t operation);

/// Does a known one; the old value.
MemResult<uint64_t> run_atomic(GpuMemory& memory, const AtomicRequest& request);

}  // namespace vgpu
