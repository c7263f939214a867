// Copies and fills, ordered in a stream.
//
// `synchronous` false may return before the copy is done when both sides are device or pinned memory; with pageable
// memory it returns when the pageable side is no longer needed, as HIP specifies. Any thread. Who copies (CPU, SDMA,
// staging) is in docs/fences.md and docs/costs.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <barehip/error.h>

#include "runtime/core/handle_table.h"

namespace barehip::runtime {

/// Values of hipMemcpyKind.
enum class CopyKind : uint32_t {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4,
};

/// Errors: kInvalidArgument (null pointer with bytes != 0, range beyond its allocation), kInvalidCopyDirection,
/// kInvalidHandle, sticky. 0 bytes succeed. The kind is only checked: addresses say where memory is, as with unified
/// addressing.
Result<void> copy(void* dst, const void* src, size_t bytes, CopyKind kind, Handle stream, bool synchronous);

/// Rows of width_bytes, dst_pitch and src_pitch bytes apart. kInvalidArgument when a pitch is less than the width.
Result<void> copy_2d(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width_bytes, size_t height,
                     CopyKind kind, Handle stream, bool synchronous);

/// Fills `count` elements of `element_bytes` (1, 2 or 4) with the low bytes of value. dst: device, pinned or registered
/// memory.
Result<void> fill(void* dst, uint32_t value, size_t element_bytes, size_t count, Handle stream, bool synchronous);
Result<void> fill_2d(void* dst, size_t pitch, uint32_t value, size_t width_bytes, size_t height, Handle stream,
                     bool synchronous);

}  // namespace barehip::runtime
