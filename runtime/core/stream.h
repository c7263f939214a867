// Streams: in-order lanes of work over a few shared hardware queues.
//
// Stream handles: 0 and 1 (hipStreamLegacy) are the current device's null stream, 2 (hipStreamPerThread) this thread's
// own; everything else must come from stream_create. kInvalidHandle otherwise. All functions from any thread.
#pragma once

#include <cstdint>

#include <barehip/error.h>

#include "runtime/core/handle_table.h"

namespace barehip::runtime {

constexpr Handle kStreamNull = 0;
constexpr Handle kStreamLegacy = 1;
constexpr Handle kStreamPerThread = 2;
constexpr unsigned kStreamNonBlocking = 1;  ///< hipStreamNonBlocking

struct PriorityRange {
  int least = 1;  ///< HIP: numerically greatest
  int greatest = -1;
};
PriorityRange stream_priority_range();

/// On the current device. flags: 0 or kStreamNonBlocking, else kInvalidArgument. A priority out of range is clamped.
Result<Handle> stream_create(unsigned flags, int priority);
/// Work that was submitted runs to its end. kInvalidHandle for 0, 1, 2 and for what is not a live stream.
Result<void> stream_destroy(Handle stream);

/// Blocks until all work submitted to the stream so far is done.
/// Cost: at most one marker packet, a bounded spin, then the kernel event.
Result<void> stream_synchronize(Handle stream);
/// True when all work is done. Never blocks; no syscall.
Result<bool> stream_query(Handle stream);
/// Later work of the stream starts only after the event's last record completed. An event that was never recorded
/// is no wait.
Result<void> stream_wait_event(Handle stream, Handle event, unsigned flags);

Result<unsigned> stream_flags(Handle stream);
Result<int> stream_priority(Handle stream);
Result<int> stream_device(Handle stream);

}  // namespace barehip::runtime
