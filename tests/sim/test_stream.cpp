// Order: within a stream, between streams through events, and with the null stream.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/sim/hip_test.h"

using namespace sim;

TEST_CASE("a stream runs its kernels in order, through many rounds of the ring") {
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{0});
  StreamGuard stream;
  for (int i = 0; i < 5000; ++i) REQUIRE(launch(kIncrement, 1, 1, 0, stream, cell.get()) == hipSuccess);
  REQUIRE_HIP(hipStreamSynchronize(stream));
  CHECK(cell.read()[0] == 5000);
}

TEST_CASE("a kernel does not start before the one before it has ended") {
  PinnedWords words(2);  // the flag, and what the second kernel writes
  StreamGuard stream(hipStreamNonBlocking);
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, stream, words.get()));
  REQUIRE_HIP(launch(kStore, 1, 1, 0, stream, words.get() + 1, 1u));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(__atomic_load_n(words.get() + 1, __ATOMIC_ACQUIRE) == 0);
  words.set(0, 1);
  REQUIRE_HIP(hipStreamSynchronize(stream));
  CHECK(words.get()[1] == 1);
}

TEST_CASE("query says not ready while a kernel runs, and synchronize waits for it") {
  PinnedWords flag(1);
  StreamGuard stream(hipStreamNonBlocking);
  CHECK_HIP(hipStreamQuery(stream));
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, stream, flag.get()));
  CHECK_HIP_ERROR(hipStreamQuery(stream), hipErrorNotReady);
  flag.set(0, 1);
  REQUIRE_HIP(hipStreamSynchronize(stream));
  CHECK_HIP(hipStreamQuery(stream));
}

TEST_CASE("an event orders one stream behind another") {
  PinnedWords flag(1);
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{1});
  StreamGuard first(hipStreamNonBlocking), second(hipStreamNonBlocking);
  EventGuard event;
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, first, flag.get()));
  REQUIRE_HIP(launch(kScale, 1, 1, 0, first, cell.get(), 10u, 3u, 1u));
  REQUIRE_HIP(hipEventRecord(event, first));
  REQUIRE_HIP(hipStreamWaitEvent(second, event, 0));
  REQUIRE_HIP(launch(kScale, 1, 1, 0, second, cell.get(), 100u, 7u, 1u));
  CHECK_HIP_ERROR(hipEventQuery(event), hipErrorNotReady);
  CHECK_HIP_ERROR(hipStreamQuery(second), hipErrorNotReady);
  flag.set(0, 1);
  REQUIRE_HIP(hipStreamSynchronize(second));
  CHECK_HIP(hipEventQuery(event));
  CHECK(cell.read()[0] == 1307);
}

TEST_CASE("many streams, chained by one event that is recorded again and again") {
  std::vector<StreamGuard> streams(10);
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{0});
  EventGuard event(hipEventDisableTiming);
  for (int round = 0; round < 20; ++round)
    for (StreamGuard& stream : streams) {
      REQUIRE_HIP(hipStreamWaitEvent(stream, event, 0));
      REQUIRE_HIP(launch(kIncrement, 1, 1, 0, stream, cell.get()));
      REQUIRE_HIP(hipEventRecord(event, stream));
    }
  REQUIRE_HIP(hipEventSynchronize(event));
  CHECK(cell.read()[0] == 200);
}

TEST_CASE("the null stream waits for blocking streams, and they for it") {
  PinnedWords flag(1);
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{1});
  StreamGuard blocking;
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, blocking, flag.get()));
  REQUIRE_HIP(launch(kScale, 1, 1, 0, blocking, cell.get(), 2u, 0u, 1u));
  REQUIRE_HIP(launch(kScale, 1, 1, 0, nullptr, cell.get(), 1u, 5u, 1u));
  REQUIRE_HIP(launch(kScale, 1, 1, 0, blocking, cell.get(), 10u, 0u, 1u));
  CHECK_HIP_ERROR(hipStreamQuery(nullptr), hipErrorNotReady);
  flag.set(0, 1);
  REQUIRE_HIP(hipStreamSynchronize(blocking));
  CHECK(cell.read()[0] == 70);
}

TEST_CASE("a non-blocking stream runs beside the null stream") {
  PinnedWords flag(1);
  StreamGuard free_stream(hipStreamNonBlocking);
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{0});
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, nullptr, flag.get()));
  REQUIRE_HIP(launch(kIncrement, 1, 1, 0, free_stream, cell.get()));
  REQUIRE_HIP(hipStreamSynchronize(free_stream));
  CHECK_HIP_ERROR(hipStreamQuery(nullptr), hipErrorNotReady);
  flag.set(0, 1);
  REQUIRE_HIP(hipDeviceSynchronize());
  CHECK(cell.read()[0] == 1);
}

TEST_CASE("each thread has a stream of its own behind hipStreamPerThread") {
  DeviceArray<uint32_t> cells(std::vector<uint32_t>(4, 0));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i)
        if (launch(kIncrement, 1, 1, 0, hipStreamPerThread, cells.get() + t) != hipSuccess) ++failures;
      if (hipStreamSynchronize(hipStreamPerThread) != hipSuccess) ++failures;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(cells.read() == std::vector<uint32_t>(4, 100));
}

TEST_CASE("threads launch into one stream at once") {
  DeviceArray<uint32_t> sum(std::vector<uint32_t>{0});
  StreamGuard stream;
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 700; ++i)
        if (launch(kAtomicSum, 1, 64, 0, stream, sum.get(), 64u) != hipSuccess) ++failures;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  REQUIRE_HIP(hipStreamSynchronize(stream));
  CHECK(sum.read()[0] == 4u * 700 * 2016);
}

TEST_CASE("events tell the time between them") {
  EventGuard start, stop;
  float ms = -1;
  CHECK_HIP_ERROR(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle);
  DeviceArray<uint64_t> out(1);
  int khz = 0;
  REQUIRE_HIP(hipDeviceGetAttribute(&khz, hipDeviceAttributeWallClockRate, 0));
  const auto ticks = static_cast<uint64_t>(khz) * 2;  // two milliseconds
  REQUIRE_HIP(hipEventRecord(start, nullptr));
  REQUIRE_HIP(launch(kClock, 1, 1, 0, nullptr, out.get(), ticks));
  REQUIRE_HIP(hipEventRecord(stop, nullptr));
  REQUIRE_HIP(hipEventSynchronize(stop));
  REQUIRE_HIP(hipEventElapsedTime(&ms, start, stop));
  CHECK(ms >= 1.9f);
  CHECK(ms < 10000.0f);
  CHECK(out.read()[0] >= ticks);
  EventGuard untimed(hipEventDisableTiming);
  REQUIRE_HIP(hipEventRecord(untimed, nullptr));
  REQUIRE_HIP(hipEventSynchronize(untimed));
  CHECK_HIP_ERROR(hipEventElapsedTime(&ms, start, untimed), hipErrorInvalidHandle);
}

TEST_CASE("stale and foreign handles are errors") {
  hipStream_t stream = nullptr;
  REQUIRE_HIP(hipStreamCreate(&stream));
  REQUIRE_HIP(hipStreamDestroy(stream));
  CHECK(hipStreamSynchronize(stream) != hipSuccess);
  CHECK(hipStreamDestroy(stream) != hipSuccess);
  CHECK(hipStreamDestroy(nullptr) != hipSuccess);
  hipEvent_t event = nullptr;
  REQUIRE_HIP(hipEventCreate(&event));
  CHECK(hipStreamSynchronize(reinterpret_cast<hipStream_t>(event)) != hipSuccess);
  REQUIRE_HIP(hipEventDestroy(event));
  CHECK(hipEventRecord(event, nullptr) != hipSuccess);
  CHECK(hipEventQuery(event) != hipSuccess);
  int local = 0;
  CHECK(hipEventSynchronize(reinterpret_cast<hipEvent_t>(&local)) != hipSuccess);
}

TEST_CASE("flags and priorities") {
  int least = 9, greatest = 9;
  REQUIRE_HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(greatest <= least);
  hipStream_t stream = nullptr;
  REQUIRE_HIP(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest));
  unsigned flags = 9;
  int priority = 9;
  CHECK_HIP(hipStreamGetFlags(stream, &flags));
  CHECK_HIP(hipStreamGetPriority(stream, &priority));
  CHECK(flags == hipStreamNonBlocking);
  CHECK(priority == greatest);
  CHECK_HIP(hipStreamDestroy(stream));
  CHECK_HIP_ERROR(hipStreamCreateWithFlags(&stream, 0x100), hipErrorInvalidValue);
}
