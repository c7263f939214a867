#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/catch.h"
#include "tests/unit/vkernel/client.h"

namespace {

struct EventClient : Client {
  EventClient() : Client() {
    if (acquire() != 0) throw std::runtime_error("acquire");
    page = buffer(32768, KFD_IOC_ALLOC_MEM_FLAGS_GTT);
    slots = reinterpret_cast<uint64_t*>(page.cpu);
  }

  int create(uint32_t type, bool auto_reset, uint32_t* id = nullptr, uint64_t page_handle = 0) {
    kfd_ioctl_create_event_args args{.event_page_offset = page_handle,
                                     .event_trigger_data = 0,
                                     .event_type = type,
                                     .auto_reset = auto_reset,
                                     .node_id = 0,
                                     .event_id = 0,
                                     .event_slot_index = 0};
    const int error = call(AMDKFD_IOC_CREATE_EVENT, args);
    if (id != nullptr) *id = args.event_id;
    last = args;
    return error;
  }
  uint32_t signal_event(bool auto_reset) {
    uint32_t id = 0;
    REQUIRE(create(KFD_IOC_EVENT_SIGNAL, auto_reset, &id, first ? page.handle : 0) == 0);
    first = false;
    return id;
  }
  int set(uint32_t id) {
    kfd_ioctl_set_event_args args{id, 0};
    return call(AMDKFD_IOC_SET_EVENT, args);
  }
  int reset(uint32_t id) {
    kfd_ioctl_reset_event_args args{id, 0};
    return call(AMDKFD_IOC_RESET_EVENT, args);
  }
  int destroy(uint32_t id) {
    kfd_ioctl_destroy_event_args args{id, 0};
    return call(AMDKFD_IOC_DESTROY_EVENT, args);
  }
  int wait(std::vector<uint32_t> ids, bool all, uint32_t timeout, std::vector<uint64_t> ages = {}) {
    data.assign(ids.size(), {});
    for (size_t i = 0; i < ids.size(); ++i) {
      data[i].event_id = ids[i];
      if (i < ages.size()) std::memcpy(&data[i], &ages[i], sizeof ages[i]);
    }
    waited = {reinterpret_cast<uint64_t>(data.data()), static_cast<uint32_t>(ids.size()), all, timeout, 99};
    return call(AMDKFD_IOC_WAIT_EVENTS, waited);
  }
  uint64_t age(size_t i) {
    uint64_t value = 0;
    std::memcpy(&value, &data[i], sizeof value);
    return value;
  }

  Buffer page;
  uint64_t* slots = nullptr;
  bool first = true;
  kfd_ioctl_create_event_args last{};
  std::vector<kfd_event_data> data;
  kfd_ioctl_wait_events_args waited{};
};

constexpr uint32_t kComplete = KFD_IOC_WAIT_RESULT_COMPLETE, kTimeout = KFD_IOC_WAIT_RESULT_TIMEOUT;

}  // namespace

TEST_CASE("ids, slots and the event page") {
  EventClient client;
  REQUIRE(client.page.cpu != nullptr);
  uint32_t memory = 0;
  REQUIRE(client.create(KFD_IOC_EVENT_MEMORY, false, &memory, client.page.handle) == 0);
  CHECK(memory == 0x40000000);
  CHECK(client.last.event_trigger_data == memory);
  CHECK(client.last.event_page_offset == 0);
  CHECK(client.slots[0] == ~0ull);
  CHECK(client.slots[4095] == ~0ull);
  client.first = false;
  CHECK(client.signal_event(true) == 1);
  CHECK(client.last.event_page_offset == 2ull << 62);
  CHECK(client.last.event_slot_index == 1);
  CHECK(client.signal_event(true) == 2);
  CHECK(client.destroy(1) == 0);
  CHECK(client.destroy(1) == -EINVAL);
  CHECK(client.signal_event(true) == 1);
  CHECK(client.create(KFD_IOC_EVENT_SIGNAL, true, nullptr, client.page.handle) == -EINVAL);  // a second page
  CHECK(client.unmap(client.page.handle) == 0);
  CHECK(client.free(client.page.handle) == -EPERM);
}

TEST_CASE("event pages that are refused") {
  EventClient client;
  auto small = client.buffer(16384, KFD_IOC_ALLOC_MEM_FLAGS_GTT);
  CHECK(client.create(KFD_IOC_EVENT_SIGNAL, true, nullptr, small.handle) == -EINVAL);
  CHECK(client.create(KFD_IOC_EVENT_SIGNAL, true, nullptr, small.handle + 55) == -EINVAL);
  CHECK(client.create(KFD_IOC_EVENT_SIGNAL, true, nullptr, 55) == -EINVAL);
  auto vram = client.buffer(32768, KFD_IOC_ALLOC_MEM_FLAGS_VRAM);
  CHECK(client.create(KFD_IOC_EVENT_SIGNAL, true, nullptr, vram.handle) == -EINVAL);
}

TEST_CASE("4095 signal events, then none") {
  EventClient client;
  client.signal_event(true);
  for (int i = 2; i < 4096; ++i) REQUIRE(client.create(KFD_IOC_EVENT_SIGNAL, true) == 0);
  CHECK(client.create(KFD_IOC_EVENT_SIGNAL, true) == -ENOSPC);
}

TEST_CASE("without a page of the client's there are 256 slots until it maps more") {
  EventClient client;
  for (int i = 1; i < 256; ++i) REQUIRE(client.create(KFD_IOC_EVENT_SIGNAL, true) == 0);
  CHECK(client.create(KFD_IOC_EVENT_SIGNAL, true) == -ENOSPC);
  void* out = nullptr;
  CHECK(client.kernel->mmap(nullptr, 65536, PROT_READ, MAP_SHARED, client.kfd, 2ull << 62, &out) == -EINVAL);
  REQUIRE(client.kernel->mmap(nullptr, 32768, PROT_READ, MAP_SHARED, client.kfd, 2ull << 62, &out) == 0);
  CHECK(static_cast<uint64_t*>(out)[7] == ~0ull);
  CHECK(client.create(KFD_IOC_EVENT_SIGNAL, true) == 0);
}

TEST_CASE("only signal events are set and reset from the CPU") {
  EventClient client;
  client.signal_event(false);
  uint32_t memory = 0;
  REQUIRE(client.create(KFD_IOC_EVENT_MEMORY, false, &memory) == 0);
  CHECK(client.set(memory) == -EINVAL);
  CHECK(client.reset(memory) == -EINVAL);
  CHECK(client.set(77) == -EINVAL);
}

TEST_CASE("waiting: poll, time out, all and any, manual and auto reset") {
  EventClient client;
  const uint32_t manual = client.signal_event(false), automatic = client.signal_event(true);
  REQUIRE(client.wait({manual}, false, 0) == 0);
  CHECK(client.waited.wait_result == kTimeout);
  const auto before = std::chrono::steady_clock::now();
  REQUIRE(client.wait({manual, automatic}, false, 20) == 0);
  CHECK(client.waited.wait_result == kTimeout);
  CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(20));
  REQUIRE(client.set(manual) == 0);
  REQUIRE(client.wait({manual, automatic}, true, 0) == 0);
  CHECK(client.waited.wait_result == kTimeout);
  REQUIRE(client.set(automatic) == 0);
  REQUIRE(client.wait({manual, automatic}, true, 0) == 0);
  CHECK(client.waited.wait_result == kComplete);
  REQUIRE(client.wait({automatic}, true, 0) == 0);
  CHECK(client.waited.wait_result == kTimeout);  // consumed
  REQUIRE(client.wait({manual}, true, 0) == 0);
  CHECK(client.waited.wait_result == kComplete);
  REQUIRE(client.reset(manual) == 0);
  REQUIRE(client.wait({manual}, true, 0) == 0);
  CHECK(client.waited.wait_result == kTimeout);
  CHECK(client.wait({manual, 99}, true, 0) == -EINVAL);
  REQUIRE(client.wait({}, true, 0xffffffff) == 0);
  CHECK(client.waited.wait_result == kComplete);
  client.waited = {8, 1, 0, 0, 0};
  CHECK(client.call(AMDKFD_IOC_WAIT_EVENTS, client.waited) == -EFAULT);
}

TEST_CASE("ages make a missed event visible") {
  EventClient client;
  const uint32_t id = client.signal_event(true);
  REQUIRE(client.wait({id}, false, 0, {1}) == 0);
  CHECK(client.waited.wait_result == kTimeout);  // the age is 1 at first
  REQUIRE(client.set(id) == 0);
  REQUIRE(client.wait({id}, false, 0) == 0);  // somebody else consumes it
  REQUIRE(client.wait({id}, false, 0, {1}) == 0);
  CHECK(client.waited.wait_result == kComplete);
  CHECK(client.age(0) == 2);
  REQUIRE(client.wait({id}, false, 0, {2}) == 0);
  CHECK(client.waited.wait_result == kTimeout);
}

TEST_CASE("SET_EVENT wakes every waiter, and an auto-reset event stays unsignaled then") {
  EventClient client;
  const uint32_t id = client.signal_event(true);
  std::atomic<int> woken{0};
  auto waiter = [&] {
    kfd_event_data data{};
    data.event_id = id;
    kfd_ioctl_wait_events_args args{reinterpret_cast<uint64_t>(&data), 1, 0, 10000, 99};
    if (client.call(AMDKFD_IOC_WAIT_EVENTS, args) == 0 && args.wait_result == kComplete) ++woken;
  };
  std::thread first(waiter), second(waiter);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  REQUIRE(client.set(id) == 0);
  first.join();
  second.join();
  CHECK(woken == 2);
  REQUIRE(client.wait({id}, false, 0) == 0);
  CHECK(client.waited.wait_result == kTimeout);
}

TEST_CASE("destroying an event fails who waits for it") {
  EventClient client;
  const uint32_t id = client.signal_event(true);
  int error = 0;
  uint32_t result = 99;
  std::thread waiter([&] {
    kfd_event_data data{};
    data.event_id = id;
    kfd_ioctl_wait_events_args args{reinterpret_cast<uint64_t>(&data), 1, 0, 10000, 99};
    error = client.call(AMDKFD_IOC_WAIT_EVENTS, args);
    result = args.wait_result;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  REQUIRE(client.destroy(id) == 0);
  waiter.join();
  CHECK(error == -EIO);
  CHECK(result == KFD_IOC_WAIT_RESULT_FAIL);
}

TEST_CASE("a signal interrupts the wait and leaves the time that is left") {
  EventClient client;
  client.restart = false;
  const uint32_t id = client.signal_event(true);
  struct sigaction action{};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, nullptr);
  const pthread_t self = pthread_self();
  std::thread interrupter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pthread_kill(self, SIGUSR1);
  });
  CHECK(client.wait({id}, false, 10000) == -EINTR);
  CHECK(client.waited.timeout < 10000);
  CHECK(client.waited.timeout > 5000);
  interrupter.join();
}

TEST_CASE("interrupts: the slot that the id names, a partial id, and a scan of all slots") {
  vgpu::EventTable table;
  std::vector<uint64_t> slots(4096);
  REQUIRE(table.set_page(slots.data(), slots.size() * 8, 4096) == 0);
  vgpu::uapi::CreateEvent made{};
  for (int i = 0; i < 600; ++i) REQUIRE(table.create(vgpu::uapi::kEventSignal, true, made) == 0);
  auto signaled = [&](uint32_t id) {
    vgpu::uapi::EventData data{};
    data.event_id = id;
    uint32_t timeout = 0, result = 99;
    REQUIRE(table.wait({&data, 1}, false, timeout, result) == 0);
    return result == vgpu::uapi::kWaitComplete;
  };
  slots[5] = 5;
  slots[9] = 9;
  table.on_signal_interrupt(5, 32);
  CHECK(signaled(5));
  CHECK(slots[5] == ~0ull);
  CHECK_FALSE(signaled(9));          // its own interrupt is still to come
  table.on_signal_interrupt(5, 32);  // names an unsignaled slot: everything is looked at
  CHECK(signaled(9));
  slots[0x203] = 0x203;
  table.on_signal_interrupt(3, 8);  // the low eight bits of 0x203
  CHECK(signaled(0x203));
  slots[300] = 1;
  table.on_signal_interrupt(0xffff, 28);
  CHECK(signaled(300));
}

TEST_CASE("a memory exception reaches the events of that type, with its data") {
  vgpu::EventTable table;
  vgpu::uapi::CreateEvent made{};
  REQUIRE(table.create(vgpu::uapi::kEventMemory, false, made) == 0);
  table.on_memory_exception({.not_present = 1,
                             .read_only = 1,
                             .no_execute = 0,
                             .imprecise = 0,
                             .va = 0x1234000,
                             .gpu_id = 7,
                             .error_type = 0});
  vgpu::uapi::EventData data{};
  data.event_id = made.event_id;
  uint32_t timeout = 0, result = 99;
  REQUIRE(table.wait({&data, 1}, false, timeout, result) == 0);
  CHECK(result == vgpu::uapi::kWaitComplete);
  CHECK(data.memory.va == 0x1234000);
  CHECK(data.memory.read_only == 1);
  CHECK(data.memory.gpu_id == 7);
}
