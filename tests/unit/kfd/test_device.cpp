// The low-level API on a GPU: the simulated one (BAREHIP_DEVICES), or the real one. Nothing here asks for
// more than hardware does. Cases tagged [fault] end the process's use of the GPU, so each runs in a process
// of its own.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <barehip/aql.h>
#include <barehip/device.h>
#include <barehip/event.h>
#include <barehip/memory.h>
#include <barehip/queue.h>
#include <barehip/signal.h>

#include "pm4/caps.h"
#include "pm4/sdma.h"
#include "tests/catch.h"

using namespace barehip;

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr int kSkipped = 77;

/// Opened once: the kernel gives a process one GPU address space. Not closed, like a runtime's.
System& the_system() {
  static System* system = [] {
    const Result<const barehip_os_table*> os = os_from_environment();
    if (!os) FAIL(os.error().text);
    Result<std::unique_ptr<System>> opened = System::open(**os);
    const char* simulated = getenv("BAREHIP_DEVICES");
    if (!opened && (simulated == nullptr || *simulated == '\0')) {
      printf("skipped: %s\n", opened.error().text.c_str());
      fflush(stdout);
      _Exit(kSkipped);
    }
    if (!opened) FAIL(opened.error().text);
    return opened->release();
  }();
  return *system;
}

Device& the_device() { return *the_system().devices()[0]; }

std::unique_ptr<AqlQueue> make_queue(const AqlQueueOptions& options = {}) {
  Result<std::unique_ptr<AqlQueue>> queue = AqlQueue::create(the_device(), options);
  if (!queue) FAIL(queue.error().text);
  return std::move(*queue);
}

Signal make_signal(int64_t value, bool interrupt = true) {
  Result<Signal> signal = the_system().signals().acquire(value, interrupt);
  if (!signal) FAIL(signal.error().text);
  return std::move(*signal);
}

/// A barrier packet with system fences.
void submit_barrier(AqlQueue& queue, uint64_t completion, uint64_t dependency = 0) {
  using aql::FenceScope;
  const uint64_t index = queue.reserve();
  while (!queue.has_room(index)) std::this_thread::yield();
  auto* packet = static_cast<aql::BarrierPacket*>(queue.slot(index));
  memset(reinterpret_cast<char*>(packet) + 4, 0, sizeof *packet - 4);
  packet->dep_signal[0] = dependency;
  packet->completion_signal = completion;
  AqlQueue::publish(
      packet, aql::make_first_dword(
                  aql::make_header(aql::PacketType::kBarrierAnd, true, FenceScope::kSystem, FenceScope::kSystem), 0));
  queue.ring(index);
}

Result<int64_t> wait_zero(const Signal& signal, uint64_t spin_ns = kDefaultSpinNs) {
  return signal.wait(WaitCondition::kEqual, 0, &the_device(), 20 * kSecondNs, spin_ns);
}

const pm4::PacketCaps& the_caps() {
  const GpuProperties& p = the_device().properties();
  const pm4::PacketCaps* caps = pm4::find_packet_caps(p.gfx_major * 10000 + p.gfx_minor * 100 + p.gfx_step);
  REQUIRE(caps != nullptr);
  return *caps;
}

template <class P>
void emit(SdmaQueue& queue, const P& packet) {
  std::array<uint32_t, 16> dwords{};
  const Result<uint32_t> count = pm4::sdma::encode(packet, the_caps().caps, dwords);
  REQUIRE(count);
  void* room = queue.try_reserve(*count * 4);
  REQUIRE(room != nullptr);
  memcpy(room, dwords.data(), *count * 4);
}

/// Publishes; a submission that is too short for this engine is filled up with NOPs.
void submit(SdmaQueue& queue) {
  while (queue.reserved_bytes() - queue.written_bytes() < the_caps().limits.sdma_min_submit_dwords * 4)
    emit(queue, pm4::sdma::Nop{});
  queue.publish();
}

/// Brings a signal of value 1 to 0: by an atomic where those reach host memory, else by a plain store.
void emit_completion(SdmaQueue& queue, const Signal& signal) {
  if (!the_device().properties().host_atomics) {
    emit(queue, pm4::sdma::Fence{signal.value_address(), 0});
  } else {
    pm4::sdma::Atomic decrement;
    decrement.address = signal.value_address();
    decrement.src = UINT64_MAX;
    emit(queue, decrement);
  }
}

Memory host_memory(uint64_t bytes) {
  MemoryOptions options;
  options.kind = MemoryKind::kHostCoherent;
  Result<Memory> memory = Memory::allocate(the_device(), bytes, options);
  if (!memory) FAIL(memory.error().text);
  return std::move(*memory);
}

}  // namespace

TEST_CASE("a barrier packet completes its signal, seen by spinning and by sleeping") {
  const std::unique_ptr<AqlQueue> queue = make_queue();
  const uint64_t spin = GENERATE(uint64_t{0}, kDefaultSpinNs);
  for (const bool interrupt : {true, false}) {
    const Signal signal = make_signal(1, interrupt);
    submit_barrier(*queue, signal.handle());
    const Result<int64_t> seen = wait_zero(signal, spin);
    REQUIRE(seen);
  }
}

TEST_CASE("a queue goes round its ring") {
  AqlQueueOptions options;
  options.packets = 64;
  const std::unique_ptr<AqlQueue> queue = make_queue(options);
  constexpr int kPackets = 300;
  const Signal signal = make_signal(kPackets);
  for (int i = 0; i < kPackets; ++i) submit_barrier(*queue, signal.handle());
  REQUIRE(wait_zero(signal));
  CHECK(queue->write_index() == kPackets);
}

TEST_CASE("a barrier waits for another queue's signal") {
  const std::unique_ptr<AqlQueue> first = make_queue();
  const std::unique_ptr<AqlQueue> second = make_queue();
  Signal gate = make_signal(1);
  const Signal done = make_signal(1);
  submit_barrier(*second, done.handle(), gate.handle());
  const Result<int64_t> early = done.wait(WaitCondition::kEqual, 0, &the_device(), 20'000'000);
  REQUIRE_FALSE(early);
  CHECK(early.error().code == ErrorCode::kTimeout);
  submit_barrier(*first, gate.handle());
  CHECK(wait_zero(done));
}

TEST_CASE("profiling gives timestamps on the clock of the host") {
  AqlQueueOptions options;
  options.profiling = true;
  const std::unique_ptr<AqlQueue> queue = make_queue(options);
  const Result<ClockSample> before = the_device().sample_clocks();
  const Signal signal = make_signal(1);
  submit_barrier(*queue, signal.handle());
  REQUIRE(wait_zero(signal));
  const Result<ClockSample> after = the_device().sample_clocks();
  REQUIRE(before);
  REQUIRE(after);
  CHECK(signal.start_ticks() <= signal.end_ticks());
  CHECK(signal.end_ticks() <= after->gpu_ticks);
  CHECK(signal.start_ticks() >= before->gpu_ticks);
  const Result<uint64_t> ns = the_device().ticks_to_ns(signal.end_ticks());
  REQUIRE(ns);
  CHECK(*ns + kSecondNs / 1000 >= before->boottime_ns);
  CHECK(*ns <= after->boottime_ns + kSecondNs / 1000);
}

TEST_CASE("a copy queue copies, and signals its end") {
  Result<std::unique_ptr<SdmaQueue>> made = SdmaQueue::create(the_device(), {});
  if (!made) FAIL(made.error().text);
  SdmaQueue& queue = **made;
  constexpr uint32_t kBytes = 10000;
  const Memory source = host_memory(kBytes), target = host_memory(kBytes);
  Result<Memory> vram = Memory::allocate(the_device(), kBytes, {});
  REQUIRE(vram);
  for (uint32_t i = 0; i < kBytes; ++i) source.host_as<uint8_t>()[i] = static_cast<uint8_t>(i * 7 + i / 256);
  const Signal signal = make_signal(1);
  const auto copy = [&](uint64_t from, uint64_t to) {
    pm4::sdma::CopyLinear packet;
    packet.bytes = kBytes;
    packet.src = from;
    packet.dst = to;
    emit(queue, packet);
  };
  copy(source.gpu_address(), vram->gpu_address());
  copy(vram->gpu_address(), target.gpu_address());
  emit_completion(queue, signal);
  emit(queue, pm4::sdma::Fence{signal.mailbox(), signal.event_id()});
  emit(queue, pm4::sdma::Trap{signal.event_id()});
  submit(queue);
  REQUIRE(wait_zero(signal, 0));
  CHECK(memcmp(source.host(), target.host(), kBytes) == 0);
}

TEST_CASE("registered memory is the same memory, at whatever address") {
  Result<std::unique_ptr<SdmaQueue>> made = SdmaQueue::create(the_device(), {});
  REQUIRE(made);
  std::vector<uint32_t> data(5000, 1);
  const Result<Memory> first = Memory::register_host(the_device(), data.data() + 3, 1024 * 4);
  const Result<Memory> second = Memory::register_host(the_device(), data.data() + 1027, 64);
  if (!first) FAIL(first.error().text);
  if (!second) FAIL(second.error().text);
  const Signal signal = make_signal(1);
  pm4::sdma::Fence fence;
  fence.data = 0xabcd;
  for (const uint64_t address : {first->gpu_address(), first->gpu_address() + 1023 * 4, second->gpu_address() + 60}) {
    fence.address = address;
    emit(**made, fence);
  }
  emit_completion(**made, signal);
  submit(**made);
  REQUIRE(wait_zero(signal));
  CHECK(data[2] == 1);
  CHECK(data[3] == 0xabcd);
  CHECK(data[1026] == 0xabcd);
  CHECK(data[1027 + 15] == 0xabcd);
  CHECK(data[1027 + 16] == 1);
}

TEST_CASE("queues come and go") {
  for (int i = 0; i < 20; ++i) {
    const std::unique_ptr<AqlQueue> queue = make_queue();
    const Signal signal = make_signal(1);
    submit_barrier(*queue, signal.handle());
    REQUIRE(wait_zero(signal));
  }
}

TEST_CASE("two threads sleep for one signal") {
  const std::unique_ptr<AqlQueue> queue = make_queue();
  Signal gate = make_signal(1);
  const Signal done = make_signal(1);
  submit_barrier(*queue, done.handle(), gate.handle());
  std::array<bool, 2> woken{};
  std::array<std::thread, 2> threads;
  for (size_t i = 0; i < threads.size(); ++i)
    threads[i] = std::thread([&, i] { woken[i] = wait_zero(done, 0).has_value(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gate.store(0);
  // Nobody tells the command processor that the host wrote a signal: it polls.
  for (std::thread& thread : threads) thread.join();
  CHECK(woken[0]);
  CHECK(woken[1]);
}

TEST_CASE("a copy from an address that is not mapped is a sticky memory fault", "[fault]") {
  Result<std::unique_ptr<SdmaQueue>> made = SdmaQueue::create(the_device(), {});
  REQUIRE(made);
  const Memory target = host_memory(4096);
  const Signal signal = make_signal(1);
  pm4::sdma::CopyLinear packet;
  packet.bytes = 64;
  packet.src = the_device().properties().gpuvm_base + (1 << 20);
  packet.dst = target.gpu_address();
  emit(**made, packet);
  emit_completion(**made, signal);
  submit(**made);
  const Result<int64_t> seen = signal.wait(WaitCondition::kLess, 0, &the_device(), 20 * kSecondNs);
  REQUIRE_FALSE(seen);
  INFO(seen.error().text);
  CHECK(seen.error().code == ErrorCode::kIllegalAddress);
  REQUIRE(the_device().error() != nullptr);
  CHECK_FALSE(AqlQueue::create(the_device(), {}));
}

TEST_CASE("a packet of a reserved type stops its queue with an error", "[fault]") {
  const std::unique_ptr<AqlQueue> queue = make_queue();
  const Signal signal = make_signal(1);
  const uint64_t index = queue->reserve();
  auto* packet = static_cast<aql::BarrierPacket*>(queue->slot(index));
  packet->completion_signal = signal.handle();
  AqlQueue::publish(packet, 0x0109);
  queue->ring(index);
  const Result<int64_t> seen = wait_zero(signal);
  REQUIRE_FALSE(seen);
  INFO(seen.error().text);
  CHECK(seen.error().code == ErrorCode::kQueueError);
  REQUIRE(queue->error() != nullptr);
  CHECK(queue->error()->code == ErrorCode::kQueueError);
}
