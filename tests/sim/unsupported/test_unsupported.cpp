// What programs want and barehip does not do yet: refused by name, and nobody else's kernels suffer. Each case is a
// process of its own.
#include "tests/sim/captured_stderr.h"
#include "tests/sim/hip_test.h"

using namespace sim;

extern const void* const kManagedKernel;
int* managed_variable();
extern const void* const kUsesNone;
extern const void* const kUsesHostcall;
extern const void* const kUsesHeap;

namespace {

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// The kernel's end is hipErrorNotSupported, and standard error says why.
std::string refusal_of(const void* kernel) {
  DeviceArray<uint64_t> out(1);
  CapturedStderr captured;
  REQUIRE_HIP(launch(kernel, 1, 1, 0, nullptr, out.get()));
  CHECK_HIP_ERROR(hipDeviceSynchronize(), hipErrorNotSupported);
  CHECK_HIP_ERROR(hipStreamSynchronize(nullptr), hipErrorNotSupported);
  return captured.text();
}

}  // namespace

TEST_CASE("kernels of code with a managed variable are refused, and the host may use the variable") {
  CHECK(*managed_variable() == 41);
  *managed_variable() += 1;
  CapturedStderr captured;
  CHECK_HIP_ERROR(hipLaunchKernel(kManagedKernel, 1, 1, nullptr, 0, nullptr), hipErrorNotSupported);
  CHECK_HIP_ERROR(hipLaunchKernel(kManagedKernel, 1, 1, nullptr, 0, nullptr), hipErrorNotSupported);
  const std::string text = captured.text();
  CAPTURE(text);
  CHECK(has(text, "barehip: "));
  CHECK(has(text, "g_shared_count"));
  CHECK(*managed_variable() == 42);
  // Other code of the same program runs.
  DeviceArray<uint64_t> out(1);
  REQUIRE_HIP(launch(kUsesNone, 1, 1, 0, nullptr, out.get()));
  CHECK(out.read()[0] == 1);
}

TEST_CASE("a kernel that could use hostcall and does not runs") {
  DeviceArray<uint64_t> out(1);
  REQUIRE_HIP(launch(kUsesNone, 1, 1, 0, nullptr, out.get()));
  CHECK(out.read()[0] == 1);
}

TEST_CASE("device-side calls of the host are refused by name") {
  const std::string text = refusal_of(kUsesHostcall);
  CAPTURE(text);
  CHECK(has(text, "barehip: A kernel called the host"));
  CHECK(has(text, "printf"));
}

TEST_CASE("device-side malloc is refused by name") { CHECK(has(refusal_of(kUsesHeap), "used device-side malloc")); }
