// What HIP keeps per thread below the API skin: the current device and the stack of <<<>>> configurations.
#pragma once

#include <cstdint>

#include <barehip/error.h>

#include "runtime/core/handle_table.h"

namespace barehip::runtime {

class Stream;

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

/// What every launch reads. Initial-exec: one load finds it, where the usual model of a shared library is a call. Such
/// memory is scarce for a library that is loaded by dlopen, and all that a library keeps per thread counts: so the
/// others are pointers to what is made on first use. The tests of tests/unit/hip load it so, beside others.
struct ThreadState {
  Stream* null_stream = nullptr;  ///< that of `device`, once this thread has used it
  int device = 0;
  uint32_t pushed = 0;              ///< configurations on the stack
  CallConfiguration configuration;  ///< the lowest of them; the others are in thread_state.cpp
};
static_assert(sizeof(ThreadState) <= 64);
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern thread_local constinit ThreadState t_state;

/// This thread's current device ordinal (0 until set). Not checked here.
inline int current_device() { return t_state.device; }
/// `null_stream`: the device's, or null when it is not made yet.
inline void set_current_device(int ordinal, Stream* null_stream) {
  t_state.device = ordinal;
  t_state.null_stream = null_stream;
}

/// __hipPushCallConfiguration / __hipPopCallConfiguration. A launch's stub pops what its call site pushed; up to 8 may
/// be pushed at once. Errors: kMissingConfiguration for a pop of nothing, kInvalidConfiguration for a ninth push. Cost:
/// thread-local stores; a thread's first second configuration allocates.
Result<void> push_call_configuration(const CallConfiguration& configuration);
Result<CallConfiguration> pop_call_configuration();

/// The same for a stack that is empty before and after, as it is around every launch whose arguments launch nothing.
/// What try_push gives is to be filled in at once. Null: ask the two above.
inline CallConfiguration* try_push_call_configuration() {
  if (t_state.pushed != 0) return nullptr;
  t_state.pushed = 1;
  return &t_state.configuration;
}
/// The popped one, valid until the next push; null: ask pop_call_configuration().
inline const CallConfiguration* try_pop_call_configuration() {
  if (t_state.pushed != 1) return nullptr;
  t_state.pushed = 0;
  return &t_state.configuration;
}

}  // namespace barehip::runtime
