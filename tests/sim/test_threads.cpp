// Launching from many threads at once: every packet keeps its own arguments, and every stream its order.
#include <atomic>
#include <thread>

#include "tests/sim/hip_test.h"

using namespace sim;

namespace {

constexpr uint32_t kThreads = 8;

/// Runs `body(thread)` on all threads, which begin together. True: all said so.
template <class Body>
bool on_all_threads(Body body) {
  std::atomic<uint32_t> arrived{0};
  std::atomic<bool> good{true};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (++arrived; arrived != kThreads;) std::this_thread::yield();
      if (!body(t)) good = false;
    });
  for (std::thread& thread : threads) thread.join();
  return good;
}

size_t wrong_values(const std::vector<uint32_t>& out) {
  size_t wrong = 0;
  for (uint32_t i = 0; i < out.size(); ++i) wrong += out[i] != i * 7 + 1;
  return wrong;
}

}  // namespace

TEST_CASE("eight threads launch to one stream, more than its ring holds") {
  constexpr uint32_t kLaunches = 320;  // times 8: 2560 packets, the ring has 2048
  for (bool own_stream : {false, true}) {
    CAPTURE(own_stream);
    StreamGuard created;
    const hipStream_t stream = own_stream ? static_cast<hipStream_t>(created) : nullptr;
    DeviceArray<uint32_t> out(std::vector<uint32_t>(kThreads * kLaunches, 0));
    REQUIRE(on_all_threads([&](uint32_t t) {
      bool good = true;
      for (uint32_t i = t * kLaunches; i < (t + 1) * kLaunches; ++i)
        good = launch(kStore, 1, 1, 0, stream, out.get() + i, i * 7 + 1) == hipSuccess && good;
      return good;
    }));
    REQUIRE_HIP(hipStreamSynchronize(stream));
    CHECK(wrong_values(out.read()) == 0);
  }
}

TEST_CASE("eight threads launch to streams of their own and to a shared one in turn") {
  constexpr uint32_t kLaunches = 60;
  DeviceArray<uint32_t> cells(std::vector<uint32_t>(kThreads, 0));
  DeviceArray<uint32_t> out(std::vector<uint32_t>(kThreads * kLaunches, 0));
  StreamGuard shared(hipStreamNonBlocking);
  REQUIRE(on_all_threads([&](uint32_t t) {
    hipStream_t own = nullptr;
    bool good = hipStreamCreateWithFlags(&own, t % 2 ? hipStreamNonBlocking : hipStreamDefault) == hipSuccess;
    for (uint32_t i = 0; i < kLaunches; ++i) {
      const uint32_t place = t * kLaunches + i;
      // A plain load, add and store: right only when the stream keeps its order.
      good = launch(kIncrement, 1, 1, 0, own, cells.get() + t) == hipSuccess && good;
      good = launch(kStore, 1, 1, 0, shared, out.get() + place, place * 7 + 1) == hipSuccess && good;
    }
    return hipStreamSynchronize(own) == hipSuccess && hipStreamDestroy(own) == hipSuccess && good;
  }));
  REQUIRE_HIP(hipStreamSynchronize(shared));
  CHECK(cells.read() == std::vector<uint32_t>(kThreads, kLaunches));
  CHECK(wrong_values(out.read()) == 0);
}

TEST_CASE("a launch with a null argument between others takes nothing from them") {
  constexpr uint32_t kLaunches = 100;
  DeviceArray<uint32_t> out(std::vector<uint32_t>(kThreads * kLaunches, 0));
  REQUIRE(on_all_threads([&](uint32_t t) {
    bool good = true;
    for (uint32_t i = t * kLaunches; i < (t + 1) * kLaunches; ++i) {
      uint32_t* to = out.get() + i;
      void* incomplete[] = {&to, nullptr};
      good = hipLaunchKernel(kStore, 1, 1, incomplete, 0, nullptr) == hipErrorInvalidValue && good;
      good = launch(kStore, 1, 1, 0, nullptr, to, i * 7 + 1) == hipSuccess && good;
    }
    return good;
  }));
  REQUIRE_HIP(hipDeviceSynchronize());
  CHECK(wrong_values(out.read()) == 0);
}
