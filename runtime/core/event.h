// Events: points in a stream, with the GPU's time unless made without.
#pragma once

#include <cstdint>

#include <barehip/error.h>

#include "runtime/core/handle_table.h"

namespace barehip::runtime {

constexpr unsigned kEventBlockingSync = 1;
constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kEventInterprocess = 4;  ///< refused: kNotSupported

/// flags: bits above, and the release-scope bits 0x20000000, 0x40000000, 0x80000000 of HIP (accepted: records always
/// release to the system). Others: kInvalidArgument.
Result<Handle> event_create(unsigned flags);
/// A pending record completes and is forgotten.
Result<void> event_destroy(Handle event);

/// A marker packet with a pooled signal; a second record takes a new one. Cost: no syscall, no allocation when the pool
/// is warm.
Result<void> event_record(Handle event, Handle stream);
/// True when the last record completed, or there was none.
Result<bool> event_query(Handle event);
/// Blocks until the last record completed. Success when never recorded.
Result<void> event_synchronize(Handle event);
/// Milliseconds from `start` to `stop`. kInvalidHandle when either was made without timing or never recorded,
/// kNotReady when either has not completed.
Result<float> event_elapsed_ms(Handle start, Handle stop);

}  // namespace barehip::runtime
