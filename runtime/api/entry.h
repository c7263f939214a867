// What every entry point does around its work: turn a Result into a hipError_t, keep the last error, stop exceptions,
// and say in the log what was called.
#pragma once

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <new>
#include <type_traits>
#include <utility>

#include <barehip/error.h>

#include "runtime/api/api_table.h"
#include "runtime/api/generation.h"
#include "runtime/core/handle_table.h"
#include "runtime/core/log.h"
#include "runtime/core/thread_state.h"

// The library's own symbols of these names take the 5.x structures; the headers' macros would hide them.
#undef hipGetDeviceProperties
#undef hipChooseDevice
#undef hipDeviceProp_t

#define BAREHIP_EXPORT __attribute__((visibility("default")))

namespace barehip::runtime {

/// The one table from ErrorCode to hipError_t.
hipError_t to_hip(ErrorCode code);

/// What the calling thread's hipGetLastError and hipExtGetLastError will say.
struct LastError {
  hipError_t last = hipSuccess;          ///< by the rule of this library's generation, see record()
  hipError_t last_command = hipSuccess;  ///< of the latest call, whatever it was
};
/// Initial-exec as ThreadState is, for the same reason: 8 bytes.
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern thread_local constinit LastError t_last_error;

/// Up to generation 6 the last error is the latest call's result, success included; from 7 on it stays at the latest
/// failure until it is asked for, and hipErrorNotReady is no failure.
inline hipError_t record(hipError_t error) {
  t_last_error.last_command = error;
  if (kLibraryGeneration < 7 || (error != hipSuccess && error != hipErrorNotReady)) t_last_error.last = error;
  return error;
}

/// Names a function that was asked for and does not exist here: records hipErrorNotSupported, and logs it the first
/// time.
void refuse(ApiId id);

/// At AMD_LOG_LEVEL 3 and more: one line per call.
void trace(ApiId id, hipError_t result);

/// The end of a call that did what it should.
inline hipError_t succeed(ApiId id) {
  if (log_enabled(LogLevel::kInfo)) [[unlikely]]
    trace(id, hipSuccess);
  return record(hipSuccess);
}

hipError_t failed(ApiId id, const Error& error);
hipError_t out_of_memory(ApiId id);

/// Runs the body of an entry point. It returns hipError_t or Result<void>.
template <class Body>
hipError_t enter(ApiId id, Body&& body) noexcept {
  hipError_t result;
  try {
    if constexpr (std::is_same_v<std::invoke_result_t<Body>, hipError_t>) {
      result = body();
    } else {
      const Result<void> outcome = body();
      result = outcome ? hipSuccess : failed(id, outcome.error());
    }
  } catch (const std::bad_alloc&) {
    result = out_of_memory(id);
  }
  if (log_enabled(LogLevel::kInfo)) [[unlikely]]
    trace(id, result);
  return record(result);
}

/// For a body that ends in `*out = value`: the output is touched on success alone.
template <class To, class From>
Result<void> store(To* out, Result<From>&& value) {
  if (!value) return std::unexpected(std::move(value).error());
  *out = (To)(*value);
  return {};
}

/// What a null or out-of-range argument answers.
inline Result<void> invalid(const char* operation, const char* text) {
  return fail(ErrorCode::kInvalidArgument, operation, text);
}

inline Handle handle(const void* opaque) { return reinterpret_cast<Handle>(opaque); }
/// A dim3 argument from its two registers (x86-64 System V ABI, 3.2.3: a structure of 12 bytes is two of class
/// INTEGER). For the entry points that are part of every launch: to a parameter of type dim3 g++ gives a place in
/// memory, which it fills and never reads.
inline Dim3 from_registers(uint64_t xy, uint32_t z) {
  return Dim3{static_cast<uint32_t>(xy), static_cast<uint32_t>(xy >> 32), z};
}
inline Dim3 to_core(const dim3& value) { return Dim3{value.x, value.y, value.z}; }

}  // namespace barehip::runtime
