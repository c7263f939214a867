#include "runtime/core/thread_state.h"

#include <array>

namespace barehip::runtime {
namespace {

constexpr uint32_t kMaxPushed = 8;

struct ThreadState {
  int device = 0;
  uint32_t pushed = 0;
  std::array<CallConfiguration, kMaxPushed> configurations;
};
thread_local constinit ThreadState t_state;

}  // namespace

int current_device() { return t_state.device; }
void set_current_device(int ordinal) { t_state.device = ordinal; }

Result<void> push_call_configuration(const CallConfiguration& configuration) {
  if (t_state.pushed == kMaxPushed)
    return fail(ErrorCode::kInvalidConfiguration, "push call configuration",
                "eight launch configurations are pushed and none was used");
  t_state.configurations[t_state.pushed++] = configuration;
  return {};
}

Result<CallConfiguration> pop_call_configuration() {
  if (t_state.pushed == 0)
    return fail(ErrorCode::kMissingConfiguration, "pop call configuration",
                "a kernel stub ran without a <<<>>> configuration before it");
  return t_state.configurations[--t_state.pushed];
}

}  // namespace barehip::runtime
