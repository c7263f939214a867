#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/catch.h"
#include "tests/unit/vkernel/client.h"

namespace {

constexpr uint32_t kVram = KFD_IOC_ALLOC_MEM_FLAGS_VRAM, kGtt = KFD_IOC_ALLOC_MEM_FLAGS_GTT;
constexpr int kNotSupported = 524;

struct QueueClient : Client {
  explicit QueueClient(const std::string& spec = "gfx90a+vram=256M") : Client(spec) {
    if (acquire() != 0) throw std::runtime_error("acquire");
    const vgpu::Gpu& gpu = kernel->machine().gpus[0];
    const auto cwsr = static_cast<uint32_t>(gpu.card().prop("cwsr_size"));
    control = buffer(4096, kGtt);
    ring = buffer(4096, kGtt);
    eop = buffer(4096, kVram);
    save = buffer((cwsr + gpu.debug_memory_bytes + 4095) & ~4095ull, kGtt);
    args = {};
    args.ring_base_address = ring.va;
    args.ring_size = 4096;
    args.write_pointer_address = control.va + 0x38;
    args.read_pointer_address = control.va + 0x80;
    args.gpu_id = gpu_id();
    args.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
    args.queue_percentage = 100;
    args.queue_priority = 7;
    args.eop_buffer_address = eop.va;
    args.eop_buffer_size = 4096;
    args.ctx_save_restore_address = save.va;
    args.ctx_save_restore_size = cwsr;
    args.ctl_stack_size = static_cast<uint32_t>(gpu.card().prop("ctl_stack_size"));
    for (size_t slot = 0; slot < 64; ++slot) ring.cpu[slot * 64] = std::byte{1};  // INVALID
    word(0x88) = 0x80;  // where the structure lies from the read index
    reinterpret_cast<uint64_t*>(control.cpu)[0x08 / 8] = ring.va;
    word(0x18) = 64;
    word(0xb4) = 2;  // 64-bit pointers
  }
  uint32_t& word(size_t offset) { return *reinterpret_cast<uint32_t*>(control.cpu + offset); }
  std::atomic<uint64_t>& write_index() { return *reinterpret_cast<std::atomic<uint64_t>*>(control.cpu + 0x38); }
  std::atomic<uint64_t>& read_index() { return *reinterpret_cast<std::atomic<uint64_t>*>(control.cpu + 0x80); }

  int create() { return call(AMDKFD_IOC_CREATE_QUEUE, args); }
  int destroy(uint32_t id) {
    kfd_ioctl_destroy_queue_args request{id, 0};
    return call(AMDKFD_IOC_DESTROY_QUEUE, request);
  }
  std::atomic<uint64_t>* map_doorbell() {
    if (doorbells == nullptr) {
      kernel->mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, args.doorbell_offset & ~8191ull, &doorbells);
    }
    return reinterpret_cast<std::atomic<uint64_t>*>(static_cast<char*>(doorbells) + (args.doorbell_offset & 8191));
  }

  /// A BARRIER_AND packet that decrements the signal, after the dependency (0: none) became zero.
  void submit_barrier(uint64_t signal, uint64_t dependency = 0) {
    const uint64_t index = write_index().fetch_add(1);
    std::byte* packet = ring.cpu + index % 64 * 64;
    std::memset(packet + 4, 0, 60);
    std::memcpy(packet + 8, &dependency, 8);
    std::memcpy(packet + 56, &signal, 8);
    const uint32_t header = 3 | 1 << 8 | 2 << 9 | 2 << 11;
    reinterpret_cast<std::atomic<uint32_t>*>(packet)->store(header, std::memory_order_release);
    map_doorbell()->store(index);
  }

  /// A signal in the control page (the rest of it is unused), value 1.
  uint64_t make_signal() {
    auto* signal = reinterpret_cast<int64_t*>(control.cpu + 0x800);
    signal[0] = 1;
    signal[1] = 1;
    return control.va + 0x800;
  }
  std::atomic<int64_t>& signal_value() { return *reinterpret_cast<std::atomic<int64_t>*>(control.cpu + 0x808); }

  bool wait_signal(int ms = 5000) {
    for (int i = 0; i < ms * 10 && signal_value() != 0; ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    return signal_value() == 0;
  }

  Buffer control, ring, eop, save;
  kfd_ioctl_create_queue_args args{};
  void* doorbells = nullptr;
};

}  // namespace

TEST_CASE("CREATE_QUEUE refuses what the driver refuses") {
  struct Row {
    const char* what;
    int error;
    std::function<void(QueueClient&)> spoil;
  };
  const Row rows[] = {
      {"nothing wrong", 0, [](QueueClient&) {}},
      {"inactive", 0, [](QueueClient& c) { c.args.queue_percentage = 0; }},
      {"no EOP buffer", 0, [](QueueClient& c) { c.args.eop_buffer_address = c.args.eop_buffer_size = 0; }},
      {"target XCC in the percentage", 0, [](QueueClient& c) { c.args.queue_percentage = 100 | 1 << 8; }},
      {"percentage", -EINVAL, [](QueueClient& c) { c.args.queue_percentage = 101; }},
      {"priority", -EINVAL, [](QueueClient& c) { c.args.queue_priority = 16; }},
      {"ring size", -EINVAL, [](QueueClient& c) { c.args.ring_size = 4096 + 64; }},
      {"ring in kernel space", -EFAULT, [](QueueClient& c) { c.args.ring_base_address = 1ull << 63; }},
      {"write pointer in kernel space", -EFAULT, [](QueueClient& c) { c.args.write_pointer_address = 1ull << 63; }},
      {"EOP in kernel space", -EFAULT, [](QueueClient& c) { c.args.eop_buffer_address = 1ull << 63; }},
      {"type", -kNotSupported, [](QueueClient& c) { c.args.queue_type = 9; }},
      {"SDMA by engine before 1.17", -kNotSupported, [](QueueClient& c) { c.args.queue_type = 4; }},
      {"GPU", -EINVAL, [](QueueClient& c) { c.args.gpu_id = 5; }},
      {"ring not mapped", -EINVAL, [](QueueClient& c) { c.unmap(c.ring.handle); }},
      {"ring larger than its buffer", -EINVAL, [](QueueClient& c) { c.args.ring_size = 8192; }},
      {"ring inside a larger buffer", -EINVAL, [](QueueClient& c) { c.args.ring_base_address = c.save.va; }},
      {"write pointer in a larger buffer", -EINVAL, [](QueueClient& c) { c.args.write_pointer_address = c.save.va; }},
      {"read pointer nowhere", -EINVAL, [](QueueClient& c) { c.args.read_pointer_address = 0x5000; }},
      {"EOP size", -EINVAL, [](QueueClient& c) { c.args.eop_buffer_size = 8192; }},
      {"control stack size", -EINVAL, [](QueueClient& c) { c.args.ctl_stack_size += 4096; }},
      {"save area too small", -EINVAL, [](QueueClient& c) { c.args.ctx_save_restore_size -= 4096; }},
      {"save area not the whole buffer", -EINVAL, [](QueueClient& c) { c.args.ctx_save_restore_size += 4096; }},
      {"save area elsewhere", -EINVAL, [](QueueClient& c) { c.args.ctx_save_restore_address += 4096; }},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    QueueClient client;
    row.spoil(client);
    CHECK(client.create() == row.error);
  }
}

TEST_CASE("no queue without an acquired VM") {
  Client client;
  kfd_ioctl_create_queue_args args{};
  args.queue_type = 2;
  args.gpu_id = client.gpu_id();
  CHECK(client.call(AMDKFD_IOC_CREATE_QUEUE, args) == -ESRCH);
}

TEST_CASE("the header of 5.2.3 and that of 1.17 are both understood") {
  QueueClient client;
  REQUIRE(_IOC_SIZE(AMDKFD_IOC_CREATE_QUEUE) == 88);
  REQUIRE(client.create() == 0);
  struct {
    kfd_ioctl_create_queue_args old;
    uint32_t engine, pad;
  } newer{client.args, 0, 0};
  newer.old.doorbell_offset = 0;
  CHECK(client.call(_IOWR('K', 0x02, newer), newer) == 0);
  CHECK(newer.old.doorbell_offset >> 62 == 3);
}

TEST_CASE("gfx11 wants the write pointer in GTT memory") {
  QueueClient client("gfx1100+vram=256M");
  auto control = client.buffer(4096, kVram);
  client.args.write_pointer_address = control.va + 0x38;
  CHECK(client.create() == -EINVAL);
  client.args.write_pointer_address = client.control.va + 0x38;
  CHECK(client.create() == 0);
}

TEST_CASE("a queue holds its buffers, ids and doorbells are given back") {
  QueueClient client;
  REQUIRE(client.create() == 0);
  CHECK(client.args.queue_id == 0);
  const uint64_t doorbell = client.args.doorbell_offset;
  CHECK(doorbell >> 62 == 3);
  CHECK((doorbell >> 46 & 0xffff) == client.gpu_id());
  for (const auto* each : {&client.control, &client.ring, &client.eop, &client.save}) {
    CHECK(client.unmap(each->handle) == -EBUSY);
  }
  REQUIRE(client.create() == 0);
  CHECK(client.args.queue_id == 1);
  CHECK(client.args.doorbell_offset != doorbell);
  CHECK(client.destroy(0) == 0);
  CHECK(client.destroy(0) == -EINVAL);
  CHECK(client.unmap(client.ring.handle) == -EBUSY);
  REQUIRE(client.create() == 0);
  CHECK(client.args.queue_id == 0);
  CHECK(client.args.doorbell_offset == doorbell);
  CHECK(client.destroy(0) == 0);
  CHECK(client.destroy(1) == 0);
  CHECK(client.unmap(client.ring.handle) == 0);
}

TEST_CASE("127 compute queues, SDMA slots by engine") {
  QueueClient client;
  for (int i = 0; i < 127; ++i) REQUIRE(client.create() == 0);
  CHECK(client.create() == -ENOSPC);
  QueueClient sdma;
  sdma.args.queue_type = KFD_IOC_QUEUE_TYPE_SDMA;
  const auto& card = sdma.kernel->machine().gpus[0].card();
  const uint64_t slots = card.prop("num_sdma_engines") * card.prop("num_sdma_queues_per_engine");
  for (uint64_t i = 0; i < slots; ++i) REQUIRE(sdma.create() == 0);
  CHECK(sdma.create() == -ENOMEM);
}

TEST_CASE("UPDATE_QUEUE and SET_CU_MASK") {
  QueueClient client;
  REQUIRE(client.create() == 0);
  auto update = [&](uint32_t id, uint64_t ring, uint32_t size, uint32_t percentage, uint32_t priority) {
    kfd_ioctl_update_queue_args args{ring, id, size, percentage, priority};
    return client.call(AMDKFD_IOC_UPDATE_QUEUE, args);
  };
  CHECK(update(5, client.ring.va, 4096, 100, 7) == -EFAULT);
  CHECK(update(0, client.ring.va, 4096, 101, 7) == -EINVAL);
  CHECK(update(0, client.ring.va, 4096, 100, 16) == -EINVAL);
  CHECK(update(0, 0x7000, 4096, 100, 7) == -EFAULT);
  auto other = client.buffer(8192, kGtt);
  CHECK(update(0, other.va, 8192, 0, 7) == 0);
  CHECK(client.unmap(other.handle) == -EBUSY);
  CHECK(update(0, client.ring.va, 4096, 0, 7) == 0);
  CHECK(client.unmap(other.handle) == 0);  // the new ring is held, the old one not any more
  CHECK(update(0, client.ring.va, 4096, 100, 15) == 0);

  uint32_t mask[4] = {~0u, ~0u, ~0u, ~0u};
  auto set = [&](uint32_t id, uint32_t bits, uint64_t pointer) {
    kfd_ioctl_set_cu_mask_args args{id, bits, pointer};
    return client.call(AMDKFD_IOC_SET_CU_MASK, args);
  };
  const auto pointer = reinterpret_cast<uint64_t>(mask);
  CHECK(set(0, 0, pointer) == -EINVAL);
  CHECK(set(0, 33, pointer) == -EINVAL);
  CHECK(set(0, 128, 8) == -EFAULT);
  CHECK(set(9, 128, pointer) == -EFAULT);
  CHECK(set(0, 128, pointer) == 0);
}

TEST_CASE("doorbell mappings have one length") {
  QueueClient client;
  REQUIRE(client.create() == 0);
  void* out = nullptr;
  const uint64_t offset = client.args.doorbell_offset & ~8191ull;
  CHECK(client.kernel->mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, client.kfd, offset, &out) == -EINVAL);
  CHECK(client.kernel->mmap(nullptr, 8192, PROT_WRITE, MAP_SHARED, client.kfd, 3ull << 62, &out) == -ENODEV);
  CHECK(client.kernel->mmap(nullptr, 8192, PROT_WRITE, MAP_SHARED, client.kfd, offset, &out) == 0);
}

TEST_CASE("RUNTIME_ENABLE comes before the first queue, once") {
  QueueClient client("gfx90a+vram=256M+svm=on");
  auto enable = [&](uint32_t mode) {
    vgpu::uapi::RuntimeEnable args{0, mode, 0};
    return client.call(_IOWR('K', 0x25, vgpu::uapi::RuntimeEnable), args);
  };
  CHECK(enable(0) == 0);
  CHECK(enable(1) == 0);
  CHECK(enable(1) == -EBUSY);
  CHECK(enable(0) == 0);
  REQUIRE(client.create() == 0);
  CHECK(enable(1) == -EEXIST);
  int32_t xnack = 0;
  CHECK(client.call(AMDKFD_IOC_SET_XNACK_MODE, xnack) == -EBUSY);
  xnack = -1;
  CHECK(client.call(AMDKFD_IOC_SET_XNACK_MODE, xnack) == 0);
  CHECK(xnack == 0);
}

TEST_CASE("a packet completes its signal, each way of watching doorbells") {
  for (const char* way : {"uffd", "signal", "poll"}) {
    INFO(way);
    QueueClient client(std::string("gfx90a+vram=256M+doorbell=") + way);
    REQUIRE(client.create() == 0);
    for (int round = 0; round < 5; ++round) {
      const uint64_t signal = client.make_signal();
      client.submit_barrier(signal);
      REQUIRE(client.wait_signal());
      CHECK(client.read_index() == static_cast<uint64_t>(round) + 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(round * 10));  // let the GPU thread fall asleep
    }
    CHECK(client.destroy(0) == 0);
  }
}

TEST_CASE("a store to a fresh doorbell mapping returns while the GPU waits for memory") {
  for (int round = 0; round < 20; ++round) {
    QueueClient client;
    REQUIRE(client.create() == 0);
    auto* dependency = reinterpret_cast<std::atomic<int64_t>*>(client.control.cpu + 0x908);
    reinterpret_cast<int64_t*>(client.control.cpu + 0x900)[0] = 1;
    *dependency = 1;
    client.submit_barrier(client.make_signal(), client.control.va + 0x900);
    std::this_thread::sleep_for(std::chrono::milliseconds(round / 4));
    client.doorbells = nullptr;
    client.map_doorbell()->store(0);  // a mapping that nobody has touched
    *dependency = 0;
    REQUIRE(client.wait_signal());
  }
}

TEST_CASE("an idle GPU burns no CPU time") {
  QueueClient client;
  REQUIRE(client.create() == 0);
  client.make_signal();
  client.submit_barrier(client.control.va + 0x800);
  REQUIRE(client.wait_signal());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  auto cpu_ms = [] {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
  };
  const auto before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(cpu_ms() - before <= 20);
}

TEST_CASE("an event follows its signal, in order, late or among spurious ones") {
  for (const char* spec :
       {"gfx90a+vram=256M", "gfx1100+vram=256M", "gfx90a+vram=256M+hostile=3:event_mischief/eintr"}) {
    INFO(spec);
    QueueClient client(spec);
    auto page = client.buffer(32768, kGtt);
    kfd_ioctl_create_event_args event{};
    event.event_page_offset = page.handle;
    event.event_type = KFD_IOC_EVENT_SIGNAL;
    event.auto_reset = 1;
    REQUIRE(client.call(AMDKFD_IOC_CREATE_EVENT, event) == 0);
    REQUIRE(client.create() == 0);
    for (int round = 0; round < 20; ++round) {
      const uint64_t signal = client.make_signal();
      auto* words = reinterpret_cast<uint64_t*>(client.control.cpu + 0x800);
      words[2] = page.va + event.event_id * 8;  // the mailbox
      words[3] = event.event_id;
      client.submit_barrier(signal);
      int wakes = 0;
      do {
        kfd_event_data data{};
        data.event_id = event.event_id;
        kfd_ioctl_wait_events_args wait{reinterpret_cast<uint64_t>(&data), 1, 1, 5000, 99};
        REQUIRE(client.call(AMDKFD_IOC_WAIT_EVENTS, wait) == 0);
        REQUIRE(wait.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE);
      } while (client.signal_value() != 0 && ++wakes < 10);
      REQUIRE(client.signal_value() == 0);
      // A spurious event may end the wait before the interrupt that empties the slot.
      if (wakes == 0 && !client.kernel->machine().gpus[0].config.hostile.event_mischief) {
        CHECK(reinterpret_cast<uint64_t*>(page.cpu)[event.event_id] == ~0ull);
      }
    }
  }
}

TEST_CASE("registered memory that the program frees is a memory fault, and the program lives") {
  QueueClient client;
  kfd_ioctl_create_event_args event{};
  event.event_type = KFD_IOC_EVENT_MEMORY;
  REQUIRE(client.call(AMDKFD_IOC_CREATE_EVENT, event) == 0);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  kfd_ioctl_alloc_memory_of_gpu_args user;
  const auto va = reinterpret_cast<uint64_t>(Client::reserve(4096));
  REQUIRE(client.alloc(va, 4096, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, user,
                       reinterpret_cast<uint64_t>(page)) == 0);
  REQUIRE(client.map(user.handle) == 0);
  REQUIRE(client.create() == 0);
  munmap(page, 4096);
  client.submit_barrier(va);  // its completion signal lies in the page that is gone
  kfd_event_data data{};
  data.event_id = event.event_id;
  kfd_ioctl_wait_events_args wait{reinterpret_cast<uint64_t>(&data), 1, 1, 5000, 99};
  REQUIRE(client.call(AMDKFD_IOC_WAIT_EVENTS, wait) == 0);
  CHECK(wait.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE);
  CHECK(data.memory_exception_data.gpu_id == client.gpu_id());
}

TEST_CASE("a packet that touches unmapped memory: the event tells the page, and nothing runs any more") {
  QueueClient client;
  kfd_ioctl_create_event_args event{};
  event.event_type = KFD_IOC_EVENT_MEMORY;
  REQUIRE(client.call(AMDKFD_IOC_CREATE_EVENT, event) == 0);
  REQUIRE(client.create() == 0);
  client.submit_barrier(0x123456789000);
  kfd_event_data data{};
  data.event_id = event.event_id;
  kfd_ioctl_wait_events_args wait{reinterpret_cast<uint64_t>(&data), 1, 1, 5000, 99};
  REQUIRE(client.call(AMDKFD_IOC_WAIT_EVENTS, wait) == 0);
  REQUIRE(wait.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE);
  CHECK(data.memory_exception_data.va == 0x123456789000);
  CHECK(data.memory_exception_data.failure.NotPresent == 1);
  client.make_signal();
  client.submit_barrier(client.control.va + 0x800);
  CHECK_FALSE(client.wait_signal(50));
}

TEST_CASE("a bad packet reaches the payload and the event that the save area names") {
  QueueClient client;
  vgpu::uapi::RuntimeEnable enable{0, 1, 0};
  REQUIRE(client.call(_IOWR('K', 0x25, vgpu::uapi::RuntimeEnable), enable) == 0);
  kfd_ioctl_create_event_args event{};
  event.event_type = KFD_IOC_EVENT_SIGNAL;
  REQUIRE(client.call(AMDKFD_IOC_CREATE_EVENT, event) == 0);
  static std::atomic<uint64_t> payload{0};
  vgpu::uapi::SaveAreaHeader header{};
  header.err_payload_addr = reinterpret_cast<uint64_t>(&payload);
  header.err_event_id = event.event_id;
  std::memcpy(client.save.cpu, &header, sizeof header);
  REQUIRE(client.create() == 0);
  std::memset(client.ring.cpu, 0, 64);
  client.write_index() = 1;
  reinterpret_cast<std::atomic<uint32_t>*>(client.ring.cpu)->store(200);  // a packet type that does not exist
  client.map_doorbell()->store(0);
  kfd_event_data data{};
  data.event_id = event.event_id;
  kfd_ioctl_wait_events_args wait{reinterpret_cast<uint64_t>(&data), 1, 1, 5000, 99};
  REQUIRE(client.call(AMDKFD_IOC_WAIT_EVENTS, wait) == 0);
  CHECK(wait.wait_result == KFD_IOC_WAIT_RESULT_COMPLETE);
  CHECK(std::popcount(payload.load()) == 1);
  CHECK(payload.load() >= 1ull << 15);
}
