// Kernels that go wrong. Each case is a process of its own: the error stays until exit, and the process lives.
#include "tests/sim/hip_test.h"

using namespace sim;

namespace {

/// After a fatal error every call that needs the device says so, again and again.
void check_sticky(hipError_t expected) {
  void* pointer = nullptr;
  hipStream_t stream = nullptr;
  for (int i = 0; i < 2; ++i) {
    CHECK(hipDeviceSynchronize() == expected);
    CHECK(hipMalloc(&pointer, 64) == expected);
    CHECK(hipStreamCreate(&stream) == expected);
    CHECK(hipStreamSynchronize(nullptr) == expected);
    CHECK(hipLaunchKernel(kNoArguments, 1, 1, nullptr, 0, nullptr) == expected);
  }
  CHECK(pointer == nullptr);
  CHECK(stream == nullptr);
}

}  // namespace

TEST_CASE("a store to an address that is not mapped", "[fault]") {
  REQUIRE_HIP(launch(kStore, 1, 1, 0, nullptr, reinterpret_cast<uint32_t*>(0x123456789000), 1u));
  CHECK_HIP_ERROR(hipDeviceSynchronize(), hipErrorIllegalAddress);
  check_sticky(hipErrorIllegalAddress);
}

TEST_CASE("a load through a null pointer", "[fault]") {
  DeviceArray<uint32_t> out(1);
  REQUIRE_HIP(launch(kLoad, 1, 64, 0, nullptr, static_cast<const uint32_t*>(nullptr), out.get()));
  CHECK_HIP_ERROR(hipStreamSynchronize(nullptr), hipErrorIllegalAddress);
  check_sticky(hipErrorIllegalAddress);
}

TEST_CASE("memory after hipFree", "[fault]") {
  // The code is loaded first, so that it does not take the freed address.
  DeviceArray<uint32_t> out(1);
  REQUIRE_HIP(launch(kStore, 1, 1, 0, nullptr, out.get(), 1u));
  void* pointer = nullptr;
  REQUIRE_HIP(hipMalloc(&pointer, 1u << 20));
  REQUIRE_HIP(hipFree(pointer));
  REQUIRE_HIP(launch(kStore, 1, 1, 0, nullptr, static_cast<uint32_t*>(pointer), 1u));
  CHECK_HIP_ERROR(hipDeviceSynchronize(), hipErrorIllegalAddress);
}

TEST_CASE("other streams learn of the fault", "[fault]") {
  PinnedWords flag(1);
  StreamGuard innocent(hipStreamNonBlocking), guilty(hipStreamNonBlocking);
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, innocent, flag.get()));
  REQUIRE_HIP(launch(kStore, 1, 1, 0, guilty, reinterpret_cast<uint32_t*>(0x700000000000), 1u));
  CHECK_HIP_ERROR(hipStreamSynchronize(guilty), hipErrorIllegalAddress);
  CHECK_HIP_ERROR(hipStreamSynchronize(innocent), hipErrorIllegalAddress);
}

TEST_CASE("an illegal instruction", "[fault]") {
  REQUIRE_HIP(hipLaunchKernel(kIllegal, 1, 1, nullptr, 0, nullptr));
  const hipError_t error = hipDeviceSynchronize();
  CHECK(error != hipSuccess);
  CHECK(error != hipErrorIllegalAddress);
  check_sticky(error);
}

// Only for vgpu, which has no global wave sync: what it cannot do ends as a GPU that hangs and is reset, never in a
// wait.
TEST_CASE("an instruction that vgpu refuses", "[.vgpu]") {
  REQUIRE_HIP(hipLaunchKernel(kUnmodelled, 1, 1, nullptr, 0, nullptr));
  CHECK_HIP_ERROR(hipDeviceSynchronize(), hipErrorLaunchFailure);
  check_sticky(hipErrorLaunchFailure);
}

TEST_CASE("a trap in one of many blocks", "[fault]") {
  REQUIRE_HIP(hipLaunchKernel(kTrap, 50, 128, nullptr, 0, nullptr));
  CHECK_HIP_ERROR(hipDeviceSynchronize(), hipErrorLaunchFailure);
  check_sticky(hipErrorLaunchFailure);
}

TEST_CASE("a debug trap without a debugger goes on") {
  DeviceArray<uint32_t> out(std::vector<uint32_t>{0});
  REQUIRE_HIP(launch(kDebugTrap, 1, 1, 0, nullptr, out.get()));
  CHECK(out.read()[0] == 1);
}
