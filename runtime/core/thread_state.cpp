#include "runtime/core/thread_state.h"

#include <array>
#include <memory>
#include <new>

namespace barehip::runtime {
namespace {

constexpr uint32_t kMaxPushed = 8;

/// Those above ThreadState::configuration; made when a thread first needs one.
using Upper = std::array<CallConfiguration, kMaxPushed - 1>;
thread_local constinit std::unique_ptr<Upper> t_upper;

CallConfiguration& configuration(uint32_t place) { return place == 0 ? t_state.configuration : (*t_upper)[place - 1]; }

}  // namespace

thread_local constinit ThreadState t_state;

Result<void> push_call_configuration(const CallConfiguration& pushed) {
  if (t_state.pushed == kMaxPushed)
    return fail(ErrorCode::kInvalidConfiguration, "push call configuration",
                "eight launch configurations are pushed and none was used");
  if (!t_upper) t_upper.reset(new (std::nothrow) Upper);
  if (!t_upper) return fail(ErrorCode::kOutOfMemory, "push call configuration", "no memory for a second configuration");
  configuration(t_state.pushed++) = pushed;
  return {};
}

Result<CallConfiguration> pop_call_configuration() {
  if (t_state.pushed == 0)
    return fail(ErrorCode::kMissingConfiguration, "pop call configuration",
                "a kernel stub ran without a <<<>>> configuration before it");
  return configuration(--t_state.pushed);
}

}  // namespace barehip::runtime
