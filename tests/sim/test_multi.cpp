// Two GPUs of different kinds in one process.
#include "tests/sim/hip_test.h"

using namespace sim;

namespace {

struct OnDevice {
  explicit OnDevice(int device) { REQUIRE_HIP(hipSetDevice(device)); }
  ~OnDevice() { (void)hipSetDevice(0); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
};

bool two_gpus() {
  int count = 0;
  REQUIRE_HIP(hipGetDeviceCount(&count));
  if (count >= 2) return true;
  WARN("one GPU: nothing to test");
  return false;
}

}  // namespace

TEST_CASE("each GPU runs its own code on its own memory") {
  if (!two_gpus()) return;
  for (int device : {1, 0}) {
    OnDevice on(device);
    DeviceArray<uint32_t> data(counting(1000));
    REQUIRE_HIP(launch(kScale, 4, 256, 0, nullptr, data.get(), 3u, static_cast<uint32_t>(device), 1000u));
    const auto out = data.read();
    CHECK(out[999] == 2997u + static_cast<uint32_t>(device));
    hipPointerAttribute_t attributes{};
    REQUIRE_HIP(hipPointerGetAttributes(&attributes, data.get()));
    CHECK(attributes.device == device);
  }
}

TEST_CASE("copies between the memories of two GPUs, from either's point of view") {
  if (!two_gpus()) return;
  constexpr size_t kCount = 700000;
  DeviceArray<uint32_t> here(counting(kCount, 5));
  uint32_t* there = nullptr;
  {
    OnDevice on(1);
    REQUIRE_HIP(hipMalloc(reinterpret_cast<void**>(&there), kCount * 4));
  }
  REQUIRE_HIP(hipMemcpy(there, here.get(), kCount * 4, hipMemcpyDeviceToDevice));
  std::vector<uint32_t> back(kCount);
  REQUIRE_HIP(hipMemcpy(back.data(), there, kCount * 4, hipMemcpyDeviceToHost));
  CHECK(back == counting(kCount, 5));
  OnDevice on(1);
  REQUIRE_HIP(hipMemset(here.get(), 0, kCount * 4));
  REQUIRE_HIP(hipMemcpy(back.data(), here.get(), kCount * 4, hipMemcpyDefault));
  CHECK(back == std::vector<uint32_t>(kCount, 0));
  CHECK_HIP(hipFree(there));
}

TEST_CASE("a stream of one GPU waits for an event of the other") {
  if (!two_gpus()) return;
  PinnedWords words(2);
  EventGuard event;
  StreamGuard here(hipStreamNonBlocking);
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, here, words.get()));
  REQUIRE_HIP(launch(kStore, 1, 1, 0, here, words.get() + 1, 20u));
  REQUIRE_HIP(hipEventRecord(event, here));
  OnDevice on(1);
  StreamGuard there(hipStreamNonBlocking);
  REQUIRE_HIP(hipStreamWaitEvent(there, event, 0));
  REQUIRE_HIP(launch(kScale, 1, 1, 0, there, words.get() + 1, 2u, 1u, 1u));
  CHECK_HIP_ERROR(hipStreamQuery(there), hipErrorNotReady);
  words.set(0, 1);
  REQUIRE_HIP(hipStreamSynchronize(there));
  CHECK(words.get()[1] == 41);
}

TEST_CASE("a device that is not there") {
  int count = 0, value = 0;
  REQUIRE_HIP(hipGetDeviceCount(&count));
  CHECK_HIP_ERROR(hipSetDevice(count), hipErrorInvalidDevice);
  CHECK_HIP_ERROR(hipSetDevice(-1), hipErrorInvalidDevice);
  CHECK_HIP_ERROR(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, count), hipErrorInvalidDevice);
}
