// Queues: what the kernel is asked for, what the command processor finds in memory, and what happens when it
// stops.
#include <chrono>
#include <cstring>
#include <thread>

#include <barehip/aql.h>
#include <barehip/queue.h>
#include <barehip/signal.h>

#include "kfd/aql_queue.h"
#include "kfd/os_failing.h"
#include "kfd/os_recording.h"
#include "tests/catch.h"
#include "tests/unit/kfd/machine.h"

using namespace barehip;
using namespace barehip::kfd;
using barehip::kfd::test::Machine;
using namespace std::chrono_literals;

namespace {

std::unique_ptr<AqlQueue> make_queue(Machine& m, const AqlQueueOptions& options = {}) {
  Result<std::unique_ptr<AqlQueue>> queue = AqlQueue::create(m.device(), options);
  REQUIRE(queue);
  return std::move(*queue);
}

QueuePage& page_of(const AqlQueue& queue) { return *reinterpret_cast<QueuePage*>(queue.descriptor()); }

bool soon(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

}  // namespace

TEST_CASE("CREATE_QUEUE of an AQL queue") {
  Machine m;
  AqlQueueOptions options;
  options.packets = 64;
  const std::unique_ptr<AqlQueue> queue = make_queue(m, options);
  REQUIRE(m.os.queues.size() == 1);
  const uapi::create_queue_args& args = m.os.queues.begin()->second.args;
  CHECK(args.queue_type == 2);
  CHECK(args.ring_size == 4096);
  CHECK(args.queue_percentage == 100);
  CHECK(args.queue_priority == 7);
  CHECK(args.write_pointer_address == queue->descriptor() + 0x38);
  CHECK(args.read_pointer_address == queue->descriptor() + 0x80);
  CHECK(args.eop_buffer_size == 4096);
  CHECK(args.ctx_save_restore_size == 0x3c91000);
  CHECK(args.ctl_stack_size == 0x9000);
  CHECK(args.gpu_id == 4660);
}

TEST_CASE("the queue page tells the command processor what it needs") {
  Machine m;
  AqlQueueOptions options;
  options.packets = 128;
  options.profiling = true;
  const std::unique_ptr<AqlQueue> queue = make_queue(m, options);
  const QueuePage& page = page_of(*queue);
  CHECK(page.queue.base_address == m.os.queues.begin()->second.args.ring_base_address);
  CHECK(page.queue.size == 128);
  CHECK(page.queue.group_segment_aperture_base_hi == 0x10000);
  CHECK(page.queue.private_segment_aperture_base_hi == 0x20000);
  CHECK(page.queue.max_cu_id == 103);
  CHECK(page.queue.max_wave_id == 31);
  CHECK(page.queue.read_dispatch_id_field_base_byte_offset == 0x80);
  CHECK(page.queue.scratch_resource_descriptor[1] == 0x80000000);
  CHECK(page.queue.scratch_resource_descriptor[3] == 0xea4fac);
  CHECK(page.queue.queue_properties == 0xa);
  CHECK(page.queue.queue_inactive_signal == reinterpret_cast<uint64_t>(&page.inactive_signal));
  CHECK(page.inactive_signal.kind == 1);
  CHECK(page.inactive_signal.event_mailbox_ptr != 0);
  CHECK(page.doorbell_signal.kind == -1);
  CHECK(page.doorbell_signal.queue_ptr == queue->descriptor());
  for (uint64_t i = 0; i < 128; ++i) CHECK(*static_cast<const uint16_t*>(queue->slot(i)) == 1);
  queue->set_profiling(false);
  CHECK(page.queue.queue_properties == 2);
}

TEST_CASE("the save area's header carries payload and event") {
  Machine m;
  const std::unique_ptr<AqlQueue> queue = make_queue(m);
  const auto& header = *reinterpret_cast<const uapi::context_save_area_header*>(
      m.os.queues.begin()->second.args.ctx_save_restore_address);
  CHECK(header.debug_offset == 0x3c91000);
  CHECK(header.debug_size == 0x20000);
  CHECK(header.err_payload_addr == reinterpret_cast<uint64_t>(&page_of(*queue).error_payload));
  CHECK(header.err_event_id == page_of(*queue).inactive_signal.event_id);
}

TEST_CASE("a queue with several XCCs has a header in each slice") {
  Machine m("gfx90a", [](test::FakeOs& os) {
    os.set_property(1, "gfx_target_version", "90402");
    os.set_property(1, "num_xcc", "8");
    os.set_property(1, "simd_count", "1216");
    os.set_property(1, "array_count", "32");
  });
  const std::unique_ptr<AqlQueue> queue = make_queue(m);
  const uapi::create_queue_args& args = m.os.queues.begin()->second.args;
  CHECK(args.ctx_save_restore_size == 23203840);
  for (uint64_t xcc = 0; xcc < 8; ++xcc) {
    const auto& header = *reinterpret_cast<const uapi::context_save_area_header*>(args.ctx_save_restore_address +
                                                                                  xcc * args.ctx_save_restore_size);
    CHECK(header.debug_offset == (8 - xcc) * args.ctx_save_restore_size);
    CHECK(header.debug_size == 8 * 48640);
    CHECK(header.err_payload_addr != 0);
  }
}

TEST_CASE("a launch makes no system call and one doorbell store") {
  test::FakeOs os;
  os.add_usual_machine();
  FailingOs counting(os.table());
  Result<std::unique_ptr<System>> system = System::open(counting.table());
  REQUIRE(system);
  AqlQueueOptions options;
  options.packets = 64;
  Result<std::unique_ptr<AqlQueue>> made = AqlQueue::create(*(*system)->devices()[0], options);
  REQUIRE(made);
  AqlQueue& queue = **made;
  const uint64_t doorbell = page_of(queue).doorbell_signal.hardware_doorbell_ptr;
  CHECK(doorbell % 8 == 0);
  // Calls of this thread only: the watcher goes to sleep whenever it is its turn.
  counting.fail_nth(0, 0, ~FailingOs::mask(OsCall::kClockNs));
  for (uint64_t i = 0; i < 64; ++i) {
    CHECK(queue.has_room(i));
    CHECK(queue.reserve() == i);
    auto* slot = static_cast<aql::BarrierPacket*>(queue.slot(i));
    slot->completion_signal = 42;
    AqlQueue::publish(slot, 0x1503);
    CHECK(*static_cast<const volatile uint32_t*>(queue.slot(i)) == 0x1503);
    queue.ring(i);
    CHECK(*reinterpret_cast<const volatile uint64_t*>(doorbell) == i);
  }
  CHECK_FALSE(queue.has_room(64));
  CHECK(page_of(queue).queue.write_dispatch_id == 64);
  page_of(queue).queue.read_dispatch_id = 1;
  CHECK(queue.has_room(64));
  CHECK(queue.slot(64) == queue.slot(0));
  CHECK(counting.seen() == 0);
}

TEST_CASE("sizes that cannot be are refused") {
  Machine m;
  for (const uint32_t packets : {0u, 32u, 100u, 262144u}) {
    AqlQueueOptions options;
    options.packets = packets;
    CHECK(AqlQueue::create(m.device(), options).error().code == ErrorCode::kInvalidArgument);
  }
  CHECK(m.os.queues.empty());
}

TEST_CASE("a queue is destroyed before its memory goes") {
  Machine m;
  {
    const std::unique_ptr<AqlQueue> queue = make_queue(m);
    m.os.on_ioctl = [&](uint32_t nr, void*) {
      if (nr == 0x17 || nr == 0x19) CHECK(m.os.destroyed_queues.size() == 1);
    };
  }
  m.os.on_ioctl = nullptr;
  CHECK(m.os.live_queues() == 0);
}

TEST_CASE("what the driver answers to one queue too many") {
  Machine m;
  struct Row {
    int error;
    ErrorCode code;
  };
  const Row row = GENERATE(Row{ENOMEM, ErrorCode::kOutOfResources}, Row{ENOSPC, ErrorCode::kOutOfResources},
                           Row{EBUSY, ErrorCode::kOutOfResources}, Row{EIO, ErrorCode::kDeviceLost},
                           Row{EINVAL, ErrorCode::kSystem}, Row{524, ErrorCode::kNotSupported});
  m.os.ioctl_errors[0x02] = row.error;
  const Result<std::unique_ptr<AqlQueue>> queue = AqlQueue::create(m.device(), {});
  REQUIRE_FALSE(queue);
  CHECK(queue.error().code == row.code);
  CHECK(queue.error().sys_errno == row.error);
}

TEST_CASE("creating a queue leaks nothing, whichever call fails") {
  constexpr uint32_t kFailable = FailingOs::mask(OsCall::kIoctl) | FailingOs::mask(OsCall::kMmap);
  test::FakeOs os;
  os.add_usual_machine();
  FailingOs failing(os.table());
  Result<std::unique_ptr<System>> system = System::open(failing.table());
  REQUIRE(system);
  Device& device = *(*system)->devices()[0];
  // Makes the watcher, the event page and the doorbells, which stay.
  {
    const auto first = AqlQueue::create(device, {});
  }
  const uint64_t bytes = os.mapped_bytes();
  const size_t objects = os.live_objects(), events = os.live_events();
  const bool sdma = GENERATE(false, true);
  AqlQueueOptions options;
  options.scratch_bytes_per_lane = 256;
  int failures = 0;
  for (uint64_t n = 1;; ++n) {
    failing.fail_nth(n, ENOMEM, kFailable);
    bool made = false, failed = false;
    // The queue is destroyed with nothing failing.
    const auto create = [&](auto result) {
      made = result.has_value();
      failed = failing.failed();
      failing.fail_nth(0, 0, 0);
    };
    if (sdma)
      create(SdmaQueue::create(device, {}));
    else
      create(AqlQueue::create(device, options));
    INFO("call " << n);
    REQUIRE(os.mapped_bytes() == bytes);
    REQUIRE(os.live_objects() == objects);
    REQUIRE(os.live_events() == events);
    REQUIRE(os.live_queues() == 0);
    failures += made ? 0 : 1;
    // One failure is survived: less scratch is tried.
    if (!failed) break;
  }
  CHECK(failures >= (sdma ? 5 : 10));
}

// ---- scratch
// -------------------------------------------------------------------------------------------------------

TEST_CASE("scratch that is asked for is there before the queue is") {
  Machine m;
  AqlQueueOptions options;
  options.scratch_bytes_per_lane = 1024;
  uint32_t at_creation = 0;
  m.os.on_ioctl = [&](uint32_t nr, void* args) {
    if (nr != 0x02) return;
    const auto& queue = *reinterpret_cast<const aql::AmdQueue*>(
        static_cast<uapi::create_queue_args*>(args)->write_pointer_address - 0x38);
    at_creation = queue.scratch_wave64_lane_byte_size;
  };
  const std::unique_ptr<AqlQueue> queue = make_queue(m, options);
  CHECK(at_creation == 1024);
  CHECK(queue->scratch_bytes_per_lane() == 1024);
  const aql::AmdQueue& q = page_of(*queue).queue;
  CHECK(q.compute_tmpring_size >> 12 == 64);
  CHECK(q.scratch_backing_memory_location != 0);
}

TEST_CASE("the watcher serves a request for scratch and lets the queue go on") {
  const uint32_t lanes = GENERATE(64u, 32u);
  Machine m(lanes == 64 ? "gfx90a" : "gfx1100");
  const std::unique_ptr<AqlQueue> queue = make_queue(m);
  QueuePage& page = page_of(*queue);
  auto& packet = *static_cast<aql::KernelDispatchPacket*>(queue->slot(queue->reserve()));
  packet.private_segment_size = 1040;
  packet.workgroup_size_x = 256;
  packet.workgroup_size_y = packet.workgroup_size_z = 1;
  // The command processor: the wave size's bit, then the event.
  std::atomic_ref(page.inactive_signal.value).store(lanes == 64 ? 1 : 0x400);
  m.os.raise_event(page.inactive_signal.event_id);
  REQUIRE(soon([&] { return std::atomic_ref(page.inactive_signal.value).load() == 0; }));
  CHECK(queue->scratch_bytes_per_lane() == 1040 * lanes / 64);
  CHECK(page.queue.scratch_backing_memory_location % 4096 == 0);
  CHECK(page.queue.scratch_resource_descriptor[2] == page.queue.scratch_backing_memory_byte_size);
  if (lanes == 32) CHECK(page.queue.compute_tmpring_size == 0x82200);
  CHECK(queue->error() == nullptr);
}

TEST_CASE("with little memory the scratch gets fewer waves") {
  Machine m;
  const std::unique_ptr<AqlQueue> queue = make_queue(m);
  QueuePage& page = page_of(*queue);
  auto& packet = *static_cast<aql::KernelDispatchPacket*>(queue->slot(queue->reserve()));
  packet.private_segment_size = 16384;
  packet.workgroup_size_x = packet.workgroup_size_y = packet.workgroup_size_z = 1;
  constexpr uint64_t kMost = 64 << 20;
  m.os.on_ioctl = [&](uint32_t nr, void* args) {
    // The fake kernel refuses a zero size; a real one says ENOMEM. Both are told here by hand.
    if (nr == 0x16) m.os.ioctl_errors.erase(0x16);
    if (nr == 0x16 && static_cast<uapi::alloc_memory_of_gpu_args*>(args)->size > kMost)
      m.os.ioctl_errors[0x16] = ENOMEM;
  };
  std::atomic_ref(page.inactive_signal.value).store(1);
  m.os.raise_event(page.inactive_signal.event_id);
  REQUIRE(soon([&] { return std::atomic_ref(page.inactive_signal.value).load() == 0; }));
  CHECK(page.queue.scratch_backing_memory_byte_size <= kMost);
  CHECK(page.queue.scratch_wave64_lane_byte_size == 16384);
  CHECK(queue->error() == nullptr);
}

TEST_CASE("scratch beyond what a lane can have ends the queue") {
  Machine m;
  const std::unique_ptr<AqlQueue> queue = make_queue(m);
  QueuePage& page = page_of(*queue);
  auto& packet = *static_cast<aql::KernelDispatchPacket*>(queue->slot(queue->reserve()));
  packet.private_segment_size = 1 << 20;
  packet.workgroup_size_x = 64;
  std::atomic_ref(page.inactive_signal.value).store(1);
  m.os.raise_event(page.inactive_signal.event_id);
  REQUIRE(soon([&] { return queue->error() != nullptr; }));
  CHECK(queue->error()->code == ErrorCode::kOutOfResources);
  CHECK(std::atomic_ref(page.inactive_signal.value).load() == 1);
}

// ---- errors
// --------------------------------------------------------------------------------------------------------

TEST_CASE("every inactive bit has its error and its text") {
  struct Row {
    uint64_t bits;
    ErrorCode code;
    const char* part;
  };
  const Row row = GENERATE(
      Row{2, ErrorCode::kQueueError, "dimensions"}, Row{4, ErrorCode::kQueueError, "more LDS"},
      Row{8, ErrorCode::kQueueError, "kernel object"}, Row{0x20, ErrorCode::kQueueError, "packet of a type"},
      Row{0x40, ErrorCode::kQueueError, "too large"}, Row{0x80, ErrorCode::kQueueError, "more registers"},
      Row{0x100, ErrorCode::kQueueError, "vendor packet"}, Row{0x20000000, ErrorCode::kIllegalAddress, "aperture"},
      Row{0x40000000, ErrorCode::kIllegalInstruction, "illegal instruction"}, Row{0x80000000, ErrorCode::kTrap, "trap"},
      Row{0x10000, ErrorCode::kQueueError, "unknown code 0x10000"});
  Machine m;
  const std::unique_ptr<AqlQueue> queue = make_queue(m);
  QueuePage& page = page_of(*queue);
  Result<Signal> signal = m.system->signals().acquire(1);
  REQUIRE(signal);
  std::atomic_ref(page.inactive_signal.value).store(static_cast<int64_t>(row.bits));
  m.os.raise_event(page.inactive_signal.event_id);
  const Result<int64_t> seen = signal->wait(WaitCondition::kEqual, 0, &m.device(), 10'000'000'000, 0);
  REQUIRE_FALSE(seen);
  CHECK(seen.error().code == row.code);
  CHECK(seen.error().text.find(row.part) != std::string::npos);
  REQUIRE(queue->error() != nullptr);
  CHECK(queue->error()->code == row.code);
}

// Stock ROCr does so too (AqlQueue::Suspend before the error callback).
TEST_CASE("a queue that stopped with an error is taken off the GPU") {
  Machine m;
  AqlQueueOptions options;
  options.priority = QueuePriority::kHigh;
  std::unique_ptr<AqlQueue> queue = make_queue(m, options);
  const std::unique_ptr<AqlQueue> other = make_queue(m);
  QueuePage& page = page_of(*queue);
  std::atomic_ref(page.inactive_signal.value).store(0x80000000);
  m.os.raise_event(page.inactive_signal.event_id);
  REQUIRE(soon([&] { return m.os.seen_updates() == 1; }));
  CHECK(queue->error() != nullptr);
  CHECK(other->error() == nullptr);
  CHECK(m.os.updates[0].queue_id == queue->queue_id());
  CHECK(m.os.updates[0].ring_base_address == page.queue.base_address);
  CHECK(m.os.updates[0].ring_size == 4096 * 64);
  CHECK(m.os.updates[0].queue_percentage == 0);
  CHECK(m.os.updates[0].queue_priority == 11);
  // Once: the signal stays set, and every other queue's trouble wakes the watcher.
  const uint32_t event_id = page.inactive_signal.event_id;
  m.os.raise_event(event_id);
  queue.reset();
  m.os.raise_event(event_id);
  std::this_thread::sleep_for(5ms);
  CHECK(m.os.seen_updates() == 1);
}

TEST_CASE("the error payload of the save area is read") {
  Machine m;
  const std::unique_ptr<AqlQueue> queue = make_queue(m);
  const auto& header = *reinterpret_cast<const uapi::context_save_area_header*>(
      m.os.queues.begin()->second.args.ctx_save_restore_address);
  auto* payload = reinterpret_cast<uint64_t*>(header.err_payload_addr);
  SECTION("an illegal instruction") {
    *payload = 1ull << 3;
    m.os.raise_event(header.err_event_id);
    REQUIRE(soon([&] { return queue->error() != nullptr; }));
    CHECK(queue->error()->code == ErrorCode::kIllegalInstruction);
  }
  SECTION("a trap") {
    *payload = 1ull << 1;
    m.os.raise_event(header.err_event_id);
    REQUIRE(soon([&] { return queue->error() != nullptr; }));
    CHECK(queue->error()->code == ErrorCode::kTrap);
  }
  SECTION("a memory violation waits for the fault that names the page") {
    *payload = 1ull << 4;
    m.os.raise_event(header.err_event_id);
    m.os.raise_memory_fault({{1, 0, 0, 0}, 0x5000, 4660, 0});
    REQUIRE(soon([&] { return m.device().error() != nullptr; }));
    CHECK(m.device().error()->text.find("0x5000") != std::string::npos);
    CHECK(queue->error() == nullptr);
  }
}

TEST_CASE("the trap handler's table has the queues by doorbell") {
  Machine m;
  MemoryOptions options;
  options.executable = true;
  const Result<Memory> code = Memory::allocate(m.device(), 4096, options);
  REQUIRE(code);
  CHECK(m.device().install_trap_handler(*code, 100).error().code == ErrorCode::kInvalidArgument);
  REQUIRE(m.device().install_trap_handler(*code, 256));
  CHECK(m.os.trap_handler.tba_addr == code->gpu_address() + 256);
  const auto* table = reinterpret_cast<const uint64_t*>(m.os.trap_handler.tma_addr);
  {
    const std::unique_ptr<AqlQueue> queue = make_queue(m);
    const uint64_t offset = m.os.queues.begin()->second.args.doorbell_offset & 0x1fff;
    CHECK(table[offset / 8] == queue->descriptor());
    CHECK(m.device().install_trap_handler(*code).error().code == ErrorCode::kInvalidArgument);
  }
  for (int i = 0; i < 1024; ++i) CHECK(table[i] == 0);
}

// ---- SDMA
// ----------------------------------------------------------------------------------------------------------

TEST_CASE("CREATE_QUEUE of a copy queue") {
  const uint32_t minor = GENERATE(14u, 17u);
  Machine m("gfx90a", [&](test::FakeOs& os) { os.kfd_minor = minor; });
  SdmaQueueOptions options;
  options.engine = 1;
  const Result<std::unique_ptr<SdmaQueue>> queue = SdmaQueue::create(m.device(), options);
  REQUIRE(queue);
  const uapi::create_queue_args& args = m.os.queues.begin()->second.args;
  CHECK(args.queue_type == (minor == 17 ? 4 : 1));
  CHECK(args.sdma_engine_id == (minor == 17 ? 1 : 0));
  CHECK(args.ring_size == 1 << 20);
  CHECK(args.eop_buffer_address == 0);
  CHECK(args.ctx_save_restore_address == 0);
}

TEST_CASE("the engine of a copy queue is a wish") {
  std::vector<std::pair<uint32_t, uint32_t>> asked;
  const auto ask = [&](Machine& m) {
    m.os.on_ioctl = [&](uint32_t nr, void* args) {
      const auto& queue = *static_cast<uapi::create_queue_args*>(args);
      m.os.ioctl_errors.erase(0x02);
      if (nr != 0x02) return;
      asked.emplace_back(queue.queue_type, queue.sdma_engine_id);
      if (queue.queue_type == 4) m.os.ioctl_errors[0x02] = ENOMEM;  // allocate_sdma_queue: all of that engine are taken
    };
    SdmaQueueOptions options;
    options.engine = 1;
    const bool made = SdmaQueue::create(m.device(), options).has_value();
    m.os.on_ioctl = nullptr;
    return made;
  };
  SECTION("an engine without a free queue") {
    Machine m("gfx90a", [](test::FakeOs& os) { os.kfd_minor = 17; });
    CHECK(ask(m));
    CHECK(asked == std::vector<std::pair<uint32_t, uint32_t>>{{4, 1}, {1, 0}});
  }
  SECTION("a GPU before gfx90a") {
    Machine m("gfx90a", [](test::FakeOs& os) {
      os.kfd_minor = 17;
      os.set_property(1, "gfx_target_version", "90008");
    });
    CHECK(ask(m));
    CHECK(asked == std::vector<std::pair<uint32_t, uint32_t>>{{1, 0}});
  }
}

TEST_CASE("packets of a copy queue never cross the ring's end") {
  Machine m;
  SdmaQueueOptions options;
  options.ring_bytes = 4096;
  const Result<std::unique_ptr<SdmaQueue>> made = SdmaQueue::create(m.device(), options);
  REQUIRE(made);
  SdmaQueue& queue = **made;
  const uapi::create_queue_args& args = m.os.queues.begin()->second.args;
  auto* read = reinterpret_cast<uint64_t*>(args.read_pointer_address);
  auto* write = reinterpret_cast<uint64_t*>(args.write_pointer_address);
  auto* ring = reinterpret_cast<uint8_t*>(args.ring_base_address);
  REQUIRE(queue.try_reserve(3000) == ring);
  memset(ring, 0xff, 4096);
  CHECK(*write == 0);
  queue.publish();
  CHECK(*write == 3000);
  CHECK(queue.written_bytes() == 3000);
  CHECK(queue.try_reserve(2000) == nullptr);
  *read = 3000;
  CHECK(queue.try_reserve(2000) == ring);
  for (int i = 3000; i < 4096; ++i) REQUIRE(ring[i] == 0);
  queue.publish();
  CHECK(*write == 4096 + 2000);
  CHECK(queue.try_reserve(3) == nullptr);
  CHECK(queue.try_reserve(4096) == nullptr);
}
