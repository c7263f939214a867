// What the launch path and its neighbours may not do: system calls, allocations, locks (docs/costs.md).
#include <cstdlib>
#include <new>

#include "runtime/core/lock.h"
#include "tests/sim/counted_os.h"
#include "tests/sim/hip_test.h"

namespace {
thread_local constinit uint64_t t_allocations = 0;
}

// All forms: a sanitizer's own would not come through the first one.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++t_allocations;
  return std::malloc(bytes);
}
void* operator new(size_t bytes) {
  if (void* pointer = operator new(bytes, std::nothrow)) return pointer;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes, std::nothrow); }
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, size_t) noexcept { std::free(pointer); }
void operator delete[](void* pointer) noexcept { std::free(pointer); }
void operator delete[](void* pointer, size_t) noexcept { std::free(pointer); }

using namespace sim;

namespace {

struct Costs {
  uint64_t syscalls = 0;
  uint64_t allocations = 0;
  uint64_t locks = 0;
};

/// What `body` costs on this thread. System calls are those of the whole process: the watcher sleeps in one meanwhile.
template <class Body>
Costs costs_of(Body body) {
  const Costs before{counted_os().syscalls(), t_allocations, barehip::runtime::t_locks_taken};
  body();
  return {counted_os().syscalls() - before.syscalls, t_allocations - before.allocations,
          barehip::runtime::t_locks_taken - before.locks};
}

}  // namespace

TEST_CASE("a launch makes no system call, allocates nothing and takes no lock") {
  counted_os();
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{0});
  uint32_t* pointer = cell.get();
  void* arguments[] = {&pointer};
  for (bool own_stream : {false, true}) {
    CAPTURE(own_stream);
    hipStream_t stream = nullptr;
    if (own_stream) REQUIRE_HIP(hipStreamCreate(&stream));
    // Long enough to pass a quarter's end, short enough to fit the ring.
    for (int i = 0; i < 3; ++i) REQUIRE(hipLaunchKernel(kIncrement, 1, 1, arguments, 0, stream) == hipSuccess);
    REQUIRE_HIP(hipStreamSynchronize(stream));
    int failures = 0;
    // The first dispatch after the host's copy joins the streams and fences: it is not what is measured.
    failures += hipLaunchKernel(kIncrement, 1, 1, arguments, 0, stream) != hipSuccess;
    const Costs costs = costs_of([&] {
      for (int i = 0; i < 1000; ++i) failures += hipLaunchKernel(kIncrement, 1, 1, arguments, 0, stream) != hipSuccess;
    });
    CHECK(failures == 0);
    CHECK(costs.syscalls == 0);
    CHECK(costs.allocations == 0);
    CHECK(costs.locks == 0);
    REQUIRE_HIP(hipStreamSynchronize(stream));
    if (own_stream) CHECK_HIP(hipStreamDestroy(stream));
  }
  CHECK(cell.read()[0] == 2008);
}

TEST_CASE("recording and asking events costs no system call, and nothing is allocated for them again") {
  counted_os();
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{0});
  EventGuard event;
  const auto round = [&] {
    return launch(kIncrement, 1, 1, 0, nullptr, cell.get()) == hipSuccess &&
           hipEventRecord(event, nullptr) == hipSuccess && hipEventQuery(event) != hipErrorInvalidHandle &&
           hipStreamQuery(nullptr) != hipErrorInvalidHandle;
  };
  bool good = true;
  for (int i = 0; i < 100; ++i) good = good && round();
  REQUIRE_HIP(hipDeviceSynchronize());
  const Costs costs = costs_of([&] {
    for (int i = 0; i < 20; ++i) good = good && round();
  });
  CHECK(good);
  CHECK(costs.syscalls == 0);
  REQUIRE_HIP(hipDeviceSynchronize());
  const Costs idle = costs_of([&] { good = good && hipStreamSynchronize(nullptr) == hipSuccess; });
  CHECK(good);
  CHECK(idle.syscalls == 0);
}
