// What the trap handler is for: without it a trap ends in silence, and the waiting host is told nothing.
#include <chrono>
#include <string_view>
#include <thread>

#include "kfd/ioctl_table.h"
#include "kfd/os.h"
#include "runtime/core/runtime.h"
#include "tests/sim/hip_test.h"

using namespace sim;

namespace {

const barehip_os_table* g_inner = nullptr;

/// The driver never hears of a handler.
int ioctl_without_handler(void*, int fd, unsigned long request, void* arg) {
  const char* name = barehip::kfd::ioctl_name(request);
  if (name && std::string_view(name) == "SET_TRAP_HANDLER") return 0;
  return g_inner->ioctl(g_inner->self, fd, request, arg);
}

}  // namespace

TEST_CASE("with the trap handler taken out, nobody is told of a trap") {
  auto inner = barehip::os_from_environment();
  REQUIRE(inner);
  g_inner = *inner;
  static barehip_os_table table = **inner;
  table.ioctl = ioctl_without_handler;
  barehip::runtime::Runtime::set_os_table(table);

  REQUIRE_HIP(hipLaunchKernel(kTrap, 1, 64, nullptr, 0, nullptr));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  CHECK_HIP_ERROR(hipStreamQuery(nullptr), hipErrorNotReady);
}
