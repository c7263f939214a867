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

namespace {

/// More streams than there are shared hardware queues, so that each queue has several.
constexpr int kManyStreams = 9;

std::vector<StreamGuard> many_streams() { return std::vector<StreamGuard>(kManyStreams); }

/// Waits for at most ten seconds, without blocking.
bool finishes(hipStream_t stream) {
  for (int i = 0; i < 10000; ++i) {
    if (hipStreamQuery(stream) == hipSuccess) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

TEST_CASE("a stream that waits for another one's long kernel holds nobody up") {
  PinnedWords flag(1);
  DeviceArray<uint32_t> cells(std::vector<uint32_t>(2 * kManyStreams, 0));
  // A kernel holds up who shares its hardware queue, so the long one has another priority, and with it another queue.
  hipStream_t slow = nullptr;
  REQUIRE_HIP(hipStreamCreateWithPriority(&slow, hipStreamNonBlocking, -1));
  EventGuard event;
  std::vector<hipStream_t> waiting(kManyStreams), free_ones(kManyStreams);
  for (hipStream_t& stream : waiting) REQUIRE_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  for (hipStream_t& stream : free_ones) REQUIRE_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  for (int i = 0; i < kManyStreams; ++i) REQUIRE_HIP(launch(kIncrement, 1, 1, 0, waiting[i], cells.get() + i));
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, slow, flag.get()));
  REQUIRE_HIP(hipEventRecord(event, slow));
  for (int i = 0; i < kManyStreams; ++i) {
    REQUIRE_HIP(hipStreamWaitEvent(waiting[i], event, 0));
    REQUIRE_HIP(launch(kIncrement, 1, 1, 0, waiting[i], cells.get() + i));
  }
  bool all_free = true;
  for (int i = 0; i < kManyStreams; ++i) {
    REQUIRE_HIP(launch(kIncrement, 1, 1, 0, free_ones[i], cells.get() + kManyStreams + i));
    all_free = all_free && finishes(free_ones[i]);
  }
  CHECK(all_free);
  CHECK_HIP_ERROR(hipStreamQuery(waiting[0]), hipErrorNotReady);
  CHECK_HIP_ERROR(hipStreamQuery(waiting[kManyStreams - 1]), hipErrorNotReady);
  flag.set(0, 1);
  REQUIRE_HIP(hipDeviceSynchronize());
  auto expected = std::vector<uint32_t>(kManyStreams, 2);
  expected.insert(expected.end(), kManyStreams, 1);
  CHECK(cells.read() == expected);
  CHECK_HIP(hipStreamDestroy(slow));
  for (hipStream_t stream : waiting) CHECK_HIP(hipStreamDestroy(stream));
  for (hipStream_t stream : free_ones) CHECK_HIP(hipStreamDestroy(stream));
}

TEST_CASE("a stream whose copy waits holds nobody up") {
  PinnedWords flag(1), source(1);
  source.set(0, 7);
  DeviceArray<uint32_t> target(1), cells(std::vector<uint32_t>(kManyStreams, 0));
  hipStream_t slow = nullptr;
  REQUIRE_HIP(hipStreamCreateWithPriority(&slow, hipStreamNonBlocking, -1));
  std::vector<hipStream_t> others(kManyStreams - 1);
  for (hipStream_t& stream : others) REQUIRE_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  StreamGuard copier(hipStreamNonBlocking);
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, slow, flag.get()));
  REQUIRE_HIP(hipMemcpyAsync(target.get(), source.get(), sizeof(uint32_t), hipMemcpyHostToDevice, slow));
  // A copy that has nothing to wait for but the engine, and a kernel behind it.
  REQUIRE_HIP(hipMemcpyAsync(cells.get(), source.get(), sizeof(uint32_t), hipMemcpyHostToDevice, copier));
  REQUIRE_HIP(launch(kIncrement, 1, 1, 0, copier, cells.get()));
  bool all_free = true;
  for (int i = 1; i < kManyStreams; ++i) {
    REQUIRE_HIP(launch(kIncrement, 1, 1, 0, others[i - 1], cells.get() + i));
    all_free = all_free && finishes(others[i - 1]);
  }
  CHECK(all_free);
  CHECK_HIP_ERROR(hipStreamQuery(copier), hipErrorNotReady);
  flag.set(0, 1);
  REQUIRE_HIP(hipDeviceSynchronize());
  auto expected = std::vector<uint32_t>(kManyStreams, 1);
  expected[0] = 8;
  CHECK(cells.read() == expected);
  CHECK(target.read()[0] == 7);
  CHECK_HIP(hipStreamDestroy(slow));
  for (hipStream_t stream : others) CHECK_HIP(hipStreamDestroy(stream));
}

TEST_CASE("a stream in the middle of its work moves to another queue and stays in order") {
  auto streams = many_streams();
  DeviceArray<uint32_t> cells(std::vector<uint32_t>(kManyStreams, 1));
  EventGuard event;
  uint32_t expected = 1;
  for (uint32_t round = 1; round <= 20; ++round) {
    REQUIRE_HIP(hipEventRecord(event, streams[round % kManyStreams]));
    for (int i = 0; i < kManyStreams; ++i) {
      REQUIRE_HIP(launch(kScale, 1, 1, 0, streams[i], cells.get() + i, 3u, round, 1u));
      if (round % 3 == 0) REQUIRE_HIP(hipStreamWaitEvent(streams[i], event, 0));
      REQUIRE_HIP(launch(kScale, 1, 1, 0, streams[i], cells.get() + i, 5u, 1u, 1u));
    }
    expected = (expected * 3 + round) * 5 + 1;
  }
  for (StreamGuard& stream : streams) REQUIRE_HIP(hipStreamSynchronize(stream));
  CHECK(cells.read() == std::vector<uint32_t>(kManyStreams, expected));
}

TEST_CASE("threads launch into a stream while another one makes it wait") {
  auto others = many_streams();
  DeviceArray<uint32_t> sum(std::vector<uint32_t>{0});
  StreamGuard stream(hipStreamNonBlocking);
  std::atomic<int> failures{0};
  std::thread launcher([&] {
    for (int i = 0; i < 600; ++i)
      if (launch(kAtomicSum, 1, 64, 0, stream, sum.get(), 64u) != hipSuccess) ++failures;
    if (hipStreamSynchronize(stream) != hipSuccess) ++failures;
  });
  EventGuard event;
  for (int i = 0; i < 100; ++i) {
    hipStream_t other = others[i % kManyStreams];
    if (launch(kAtomicSum, 1, 64, 0, other, sum.get(), 64u) != hipSuccess) ++failures;
    if (hipEventRecord(event, other) != hipSuccess) ++failures;
    if (hipStreamWaitEvent(stream, event, 0) != hipSuccess) ++failures;
  }
  launcher.join();
  CHECK(failures == 0);
  REQUIRE_HIP(hipDeviceSynchronize());
  CHECK(sum.read()[0] == 700u * 2016);
}

TEST_CASE("threads that share streams keep the legacy order, each of its own work") {
  constexpr uint32_t kThreads = 3, kRounds = 60;
  DeviceArray<uint32_t> cells(std::vector<uint32_t>(kThreads, 0));
  DeviceArray<uint32_t> seen(std::vector<uint32_t>(kThreads * kRounds, 0));
  DeviceArray<uint64_t> times(std::vector<uint64_t>(kThreads, 0));
  StreamGuard stream;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t round = 0; round < kRounds; ++round) {
        if (launch(kClock, 1, 1, 0, stream, times.get() + t, uint64_t{200}) != hipSuccess) ++failures;
        if (launch(kStore, 1, 1, 0, stream, cells.get() + t, round + 1) != hipSuccess) ++failures;
        if (launch(kLoad, 1, 1, 0, nullptr, cells.get() + t, seen.get() + t * kRounds + round) != hipSuccess)
          ++failures;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  REQUIRE_HIP(hipDeviceSynchronize());
  const std::vector<uint32_t> values = seen.read();
  for (uint32_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == i % kRounds + 1);
}

TEST_CASE("the null stream is in order with blocking streams of its own hardware queue") {
  PinnedWords flag(1), result(1);
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{1});
  auto streams = many_streams();  // one of them is in the null stream's queue
  REQUIRE_HIP(hipDeviceSynchronize());
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    flag.set(0, 1);
  });
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, streams[0], flag.get()));
  for (StreamGuard& stream : streams) REQUIRE_HIP(launch(kAtomicSum, 1, 64, 0, stream, cell.get(), 64u));
  // A small copy, which the host would do at once in an idle stream, and a wait.
  const uint32_t hundred = 100;
  CHECK_HIP_ERROR(hipStreamQuery(nullptr), hipErrorNotReady);
  REQUIRE_HIP(hipMemcpy(cell.get(), &hundred, sizeof hundred, hipMemcpyHostToDevice));
  CHECK_HIP(hipStreamQuery(streams[0]));
  CHECK(cell.read()[0] == 100);
  release.join();
}

TEST_CASE("a wait for an event of the same hardware queue counts as the stream's work") {
  PinnedWords flag(1);
  auto streams = many_streams();
  for (int i = 1; i < kManyStreams; ++i) {
    EventGuard event;
    flag.set(0, 0);
    REQUIRE_HIP(launch(kSpin, 1, 1, 0, streams[0], flag.get()));
    REQUIRE_HIP(hipEventRecord(event, streams[0]));
    REQUIRE_HIP(hipStreamWaitEvent(streams[i], event, 0));
    CHECK_HIP_ERROR(hipStreamQuery(streams[i]), hipErrorNotReady);
    flag.set(0, 1);
    REQUIRE_HIP(hipStreamSynchronize(streams[i]));
    CHECK_HIP(hipEventQuery(event));
  }
}

TEST_CASE("a destroyed stream's work runs to its end, and the null stream and the device wait for it") {
  PinnedWords flag(1);
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{1});
  for (bool device : {false, true}) {
    CAPTURE(device);
    flag.set(0, 0);
    hipStream_t stream = nullptr;
    REQUIRE_HIP(hipStreamCreate(&stream));
    REQUIRE_HIP(launch(kSpin, 1, 1, 0, stream, flag.get()));
    REQUIRE_HIP(launch(kScale, 1, 1, 0, stream, cell.get(), 10u, 1u, 1u));
    REQUIRE_HIP(hipStreamDestroy(stream));  // at once: the kernel still waits for the flag
    StreamGuard next;                       // may be given what the other one had
    REQUIRE_HIP(hipStreamSynchronize(next));
    if (!device) {
      REQUIRE_HIP(launch(kScale, 1, 1, 0, nullptr, cell.get(), 2u, 0u, 1u));
      CHECK_HIP_ERROR(hipStreamQuery(nullptr), hipErrorNotReady);
    }
    flag.set(0, 1);
    if (device)
      REQUIRE_HIP(hipDeviceSynchronize());
    else
      REQUIRE_HIP(hipStreamSynchronize(nullptr));
    CHECK(cell.read()[0] == (device ? 221 : 22));
  }
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
