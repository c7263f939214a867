// Events, signals and waits.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include <barehip/aql.h>
#include <barehip/event.h>
#include <barehip/queue.h>
#include <barehip/signal.h>

#include "kfd/clock.h"
#include "kfd/impl.h"
#include "kfd/os_failing.h"
#include "tests/catch.h"
#include "tests/unit/kfd/machine.h"

using namespace barehip;
using namespace barehip::kfd;
using barehip::kfd::test::Machine;
using namespace std::chrono_literals;

TEST_CASE("the first event brings the event page, later ones do not") {
  Machine m;
  std::vector<uint64_t> offsets;
  m.os.on_ioctl = [&](uint32_t nr, void* args) {
    if (nr == 0x08) offsets.push_back(static_cast<uapi::create_event_args*>(args)->event_page_offset);
  };
  const Result<Event> first = Event::create(*m.system, EventKind::kMemory, true);
  const Result<Event> second = Event::create(*m.system, EventKind::kSignal, true);
  REQUIRE(first);
  REQUIRE(second);
  REQUIRE(offsets.size() == 2);
  CHECK(m.os.objects.at(offsets[0]).args.size == 32768);
  CHECK(offsets[1] == 0);
  CHECK(first->mailbox() == 0);
  CHECK(second->mailbox() == m.os.objects.at(offsets[0]).args.va_addr + second->id() * 8);
}

TEST_CASE("a signal is an amd_signal_t with its value and its event's mailbox") {
  Machine m;
  Result<Signal> signal = m.system->signals().acquire(5);
  REQUIRE(signal);
  const auto& abi = *reinterpret_cast<const aql::AmdSignal*>(signal->handle());
  CHECK(abi.kind == 1);
  CHECK(abi.value == 5);
  CHECK(abi.event_id == signal->event_id());
  CHECK(abi.event_id != 0);
  CHECK(abi.event_mailbox_ptr == signal->mailbox());
  CHECK(signal->handle() % 64 == 0);
  CHECK(signal->value_address() == signal->handle() + 8);
  const Result<Signal> quiet = m.system->signals().acquire(1, false);
  REQUIRE(quiet);
  CHECK(quiet->mailbox() == 0);
  CHECK(quiet->event_id() == 0);
}

TEST_CASE("blocks are reused without system calls, and distinct while in use") {
  test::FakeOs os;
  os.add_usual_machine();
  FailingOs counting(os.table());
  Result<std::unique_ptr<System>> system = System::open(counting.table());
  REQUIRE(system);
  SignalPool& pool = (*system)->signals();
  {
    const Result<Signal> warm = pool.acquire(1);
  }
  const uint64_t before = counting.syscalls();
  uint64_t handle = 0;
  for (int i = 0; i < 100; ++i) {
    const Result<Signal> signal = pool.acquire(1);
    REQUIRE(signal);
    if (handle != 0) CHECK(signal->handle() == handle);
    handle = signal->handle();
  }
  CHECK(counting.syscalls() == before);
  std::vector<Signal> many;
  std::set<uint64_t> handles;
  for (int i = 0; i < 3000; ++i) {
    Result<Signal> signal = pool.acquire(i, false);
    REQUIRE(signal);
    handles.insert(signal->handle());
    many.push_back(std::move(*signal));
  }
  CHECK(handles.size() == many.size());
}

TEST_CASE("threads share the pool without handing a block out twice") {
  Machine m;
  SignalPool& pool = m.system->signals();
  std::atomic<int> clashes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        Result<Signal> signal = pool.acquire(t, false);
        if (!signal || signal->load() != t) ++clashes;
        if (signal && signal->exchange(-1) != t) ++clashes;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(clashes == 0);
}

TEST_CASE("conditions are tested on the signed value") {
  Machine m;
  Result<Signal> signal = m.system->signals().acquire(-3);
  REQUIRE(signal);
  CHECK(signal->wait(WaitCondition::kLess, 0, nullptr).value() == -3);
  CHECK(signal->wait(WaitCondition::kEqual, -3, nullptr).value() == -3);
  CHECK(signal->wait(WaitCondition::kNotEqual, 0, nullptr).value() == -3);
  CHECK(signal->wait(WaitCondition::kGreaterEqual, -3, nullptr).value() == -3);
  for (const bool interrupt : {true, false}) {
    Result<Signal> other = m.system->signals().acquire(1, interrupt);
    const Result<int64_t> late = other->wait(WaitCondition::kEqual, 0, nullptr, 5'000'000, 1000);
    REQUIRE_FALSE(late);
    CHECK(late.error().code == ErrorCode::kTimeout);
  }
}

// The GPU's end of packet: value, then the event.
TEST_CASE("a sleeping thread is woken by the completion of its signal") {
  const uint32_t minor = GENERATE(11u, 14u);
  Machine m("gfx90a", [&](test::FakeOs& os) { os.kfd_minor = minor; });
  Result<Signal> signal = m.system->signals().acquire(1);
  REQUIRE(signal);
  std::thread gpu([&] {
    std::this_thread::sleep_for(20ms);
    signal->fetch_sub(1);
    m.os.raise_event(signal->event_id());
  });
  const Result<int64_t> seen = signal->wait(WaitCondition::kEqual, 0, nullptr, 10'000'000'000, 0);
  gpu.join();
  REQUIRE(seen);
  CHECK(*seen == 0);
}

TEST_CASE("every one of several threads that wait for a signal is woken") {
  const uint32_t minor = GENERATE(11u, 14u);
  Machine m("gfx90a", [&](test::FakeOs& os) { os.kfd_minor = minor; });
  Result<Signal> signal = m.system->signals().acquire(1);
  REQUIRE(signal);
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      if (signal->wait(WaitCondition::kEqual, 0, nullptr, 10'000'000'000, 0)) ++woken;
    });
  std::this_thread::sleep_for(10ms);
  signal->store_and_wake(0);
  for (std::thread& thread : threads) thread.join();
  CHECK(woken == 4);
}

TEST_CASE("spurious wake-ups do not end a wait") {
  Machine m;
  Result<Signal> signal = m.system->signals().acquire(1);
  REQUIRE(signal);
  std::thread gpu([&] {
    for (int i = 0; i < 5; ++i) {
      std::this_thread::sleep_for(2ms);
      m.os.raise_event(signal->event_id());
    }
    signal->store_and_wake(0);
  });
  CHECK(signal->wait(WaitCondition::kEqual, 0, nullptr, 10'000'000'000, 0));
  CHECK(signal->load() == 0);
  gpu.join();
}

TEST_CASE("a memory fault ends waits with the sticky error, and names the page") {
  Machine m;
  const Result<std::unique_ptr<AqlQueue>> queue = AqlQueue::create(m.device(), {});
  REQUIRE(queue);
  const bool interrupt = GENERATE(true, false);
  Result<Signal> signal = m.system->signals().acquire(1, interrupt);
  REQUIRE(signal);
  std::thread gpu([&] {
    std::this_thread::sleep_for(20ms);
    m.os.raise_memory_fault({{1, 1, 0, 0}, 0x7f0012345000, 4660, 0});
  });
  const Result<int64_t> seen = signal->wait(WaitCondition::kEqual, 0, &m.device(), 10'000'000'000, 0);
  gpu.join();
  REQUIRE_FALSE(seen);
  CHECK(seen.error().code == ErrorCode::kIllegalAddress);
  CHECK(seen.error().text ==
        "Memory fault on gfx90a (gpu_id 4660) at page 0x7f0012345000: a write to an address that is not "
        "mapped.");
  REQUIRE(m.device().error() != nullptr);
  CHECK(m.device().error()->code == ErrorCode::kIllegalAddress);
  CHECK_FALSE(AqlQueue::create(m.device(), {}));
}

TEST_CASE("a fault of one GPU leaves the others usable") {
  Machine m("gfx90a", [](test::FakeOs& os) { os.add_gpu_node(2, "gfx1100", 777, 129); });
  const Result<std::unique_ptr<AqlQueue>> queue = AqlQueue::create(m.device(), {});
  REQUIRE(queue);
  m.os.raise_memory_fault({{1, 0, 0, 0}, 0x1000, 777, 0});
  const Device& other = *m.system->devices()[1];
  for (int i = 0; i < 500 && other.error() == nullptr; ++i) std::this_thread::sleep_for(2ms);
  CHECK(other.error() != nullptr);
  CHECK(m.device().error() == nullptr);
}

TEST_CASE("a reset of the GPU is a lost device") {
  Machine m;
  const Result<std::unique_ptr<AqlQueue>> queue = AqlQueue::create(m.device(), {});
  REQUIRE(queue);
  m.os.raise_hw_exception({0, 0, 1, 4660});
  for (int i = 0; i < 500 && m.device().error() == nullptr; ++i) std::this_thread::sleep_for(2ms);
  REQUIRE(m.device().error() != nullptr);
  CHECK(m.device().error()->code == ErrorCode::kDeviceLost);
  CHECK(m.device().error()->text == "gfx90a (gpu_id 4660) hung and was reset; the contents of its memory are lost.");
}

TEST_CASE("when events are used up signals come without one") {
  Machine m;
  m.os.ioctl_errors[0x08] = ENOSPC;
  const Result<Signal> signal = m.system->signals().acquire(0);
  REQUIRE(signal);
  CHECK(signal->event_id() == 0);
  CHECK(signal->wait(WaitCondition::kEqual, 0, nullptr));
}

TEST_CASE("a wait that fails or times out leaves its entries alone") {
  Machine m;
  const Result<Event> memory = Event::create(*m.system, EventKind::kMemory, true);
  const Result<Event> signal = Event::create(*m.system, EventKind::kSignal, true);
  REQUIRE(memory);
  REQUIRE(signal);
  std::array<EventWait, 2> waits{EventWait{&*memory}, EventWait{&*signal}};
  waits[0].kind = EventKind::kMemory;
  waits[0].fault.page_address = 0xa5a5a5a5;
  waits[1].age = 1;
  SECTION("time-out") { CHECK(wait_events(*m.system, waits, false, 1).value() == WaitOutcome::kTimeout); }
  SECTION("failure") {
    m.os.ioctl_errors[0x0c] = ENOMEM;
    CHECK(wait_events(*m.system, waits, false, 1).error().code == ErrorCode::kOutOfMemory);
  }
  CHECK(waits[0].fault.page_address == 0xa5a5a5a5);
  CHECK(waits[1].age == 1);
}

// kfd_wait_on_events: EIO for an event that goes away during the wait, EINVAL for one that was gone before.
TEST_CASE("a wait for a destroyed event is an invalid handle, not a lost device") {
  Machine m;
  Result<Event> event = Event::create(*m.system, EventKind::kSignal, true);
  REQUIRE(event);
  EventWait wait{&*event};
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    uapi::destroy_event_args args{};
    args.event_id = event->id();
    CHECK(m.system->impl().client.destroy_event(args) == 0);
  });
  const Result<WaitOutcome> during = wait_events(*m.system, {&wait, 1}, false, 10'000);
  other.join();
  REQUIRE_FALSE(during);
  CHECK(during.error().code == ErrorCode::kInvalidHandle);
  CHECK(during.error().sys_errno == EIO);
  const Result<WaitOutcome> after = wait_events(*m.system, {&wait, 1}, false, 10'000);
  REQUIRE_FALSE(after);
  CHECK(after.error().code == ErrorCode::kInvalidHandle);
}

// Before Linux 6.5 the interrupt of a bad packet sets the event without any data (kfd_signal_hw_exception_event).
TEST_CASE("a hardware exception without data stops every GPU") {
  Machine m("gfx90a", [](test::FakeOs& os) { os.add_gpu_node(2, "gfx1100", 777, 129); });
  const Result<std::unique_ptr<AqlQueue>> queue = AqlQueue::create(m.device(), {});
  REQUIRE(queue);
  m.os.raise_hw_exception({});
  for (const std::unique_ptr<Device>& device : m.system->devices()) {
    for (int i = 0; i < 500 && device->error() == nullptr; ++i) std::this_thread::sleep_for(2ms);
    REQUIRE(device->error() != nullptr);
    CHECK(device->error()->code == ErrorCode::kQueueError);
  }
}

TEST_CASE("the first signal and queue of a system leak nothing, whichever call fails") {
  constexpr uint32_t kFailable = FailingOs::mask(OsCall::kIoctl) | FailingOs::mask(OsCall::kMmap);
  int failures = 0;
  for (uint64_t n = 1;; ++n) {
    test::FakeOs os;
    os.add_usual_machine();
    FailingOs failing(os.table());
    Result<std::unique_ptr<System>> system = System::open(failing.table());
    REQUIRE(system);
    failing.fail_nth(n, ENOMEM, kFailable);
    bool failed = false;
    {
      // What was made goes away with nothing failing.
      const Result<Signal> signal = (*system)->signals().acquire(1);
      const Result<std::unique_ptr<AqlQueue>> queue = AqlQueue::create(*(*system)->devices()[0], {});
      failed = failing.failed();
      failing.fail_nth(0, 0, 0);
      failures += signal && queue ? 0 : 1;
    }
    system->reset();
    INFO("call " << n);
    REQUIRE(os.live_events() == 0);
    REQUIRE(os.live_objects() == 0);
    REQUIRE(os.live_queues() == 0);
    REQUIRE(os.mapped_bytes() == 0);
    REQUIRE(os.open_fds() == 0);
    if (!failed) break;
  }
  CHECK(failures > 15);
}

TEST_CASE("ticks become nanoseconds of the common clock") {
  Clock clock;
  clock.start({1'000'000, 5'000'000'000}, 100'000'000);
  CHECK(clock.to_ns(1'000'000) == 5'000'000'000);
  CHECK(clock.to_ns(1'000'100) == 5'000'001'000);
  CHECK(clock.to_ns(999'900) == 4'999'999'000);
  CHECK(clock.wants_sample(1'000'001));
  SECTION("a near sample does not change the rate") {
    clock.add({1'000'100, 5'000'002'000});
    CHECK(clock.to_ns(1'000'200) == 5'000'002'000);
  }
  SECTION("a far sample gives the real rate") {
    clock.add({1'000'000 + 101'000'000, 6'000'000'000});
    CHECK(clock.to_ns(1'000'000 + 202'000'000) == 7'000'000'000);
    CHECK_FALSE(clock.wants_sample(102'000'000));
  }
}
