// Signals as the command processor writes them: completion, and plain stores with a wake-up.
#pragma once

#include <cstdint>

#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

/// start_ts and end_ts of the signal at `va`.
MemResult<void> write_timestamps(GpuContext& gpu, uint64_t va, uint64_t start, uint64_t end);

/// Subtracts 1 from the value, then wakes whoever sleeps on the signal: stores its event id to its mailbox and raises
/// an end-of-pipe interrupt. A signal without mailbox wakes nobody.
MemResult<void> decrement_signal(GpuContext& gpu, uint64_t va);

/// Stores `value` and wakes like above.
MemResult<void> store_signal(GpuContext& gpu, uint64_t va, int64_t value);

MemResult<int64_t> load_signal(GpuContext& gpu, uint64_t va);

}  // namespace vgpu
