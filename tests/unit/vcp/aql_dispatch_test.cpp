// From packet and kernel descriptor to the registers of a dispatch, and what makes the processor refuse a packet.
// Offsets and bits: LLVM's AMDGPU usage document; exception codes: <linux/kfd_ioctl.h>.
#include "tests/unit/vcp/bench.h"

using namespace vcp_test;

namespace {

enum Property : uint16_t {
  kSegmentBuffer = 1,
  kDispatchPtr = 2,
  kQueuePtr = 4,
  kKernargPtr = 8,
  kDispatchId = 16,
  kFlatScratch = 32,
  kPrivateSize = 64,
  kWave32 = 1024
};

uint32_t low(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t high(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

/// Submits one packet that must be refused and returns the exception code.
uint32_t refused(Bench& bench, AqlClient& queue, const aql::KernelDispatchPacket& packet) {
  queue.submit(packet);
  bench.run();
  CHECK(bench.engine->started.empty());
  REQUIRE(bench.reports.errors.size() == 1);
  CHECK(bench.reports.errors[0].doorbell_id == queue.params.doorbell_id);
  CHECK_FALSE(bench.reports.errors[0].text.empty());
  CHECK(queue.read_index() == 0);
  return bench.reports.errors[0].code;
}

}  // namespace

TEST_CASE("user SGPRs are packed in the descriptor's order") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench, kSegmentBuffer | kDispatchPtr | kQueuePtr | kKernargPtr | kDispatchId | kFlatScratch, 14 << 1);
  for (uint32_t i = 0; i < 4; ++i) queue.queue->scratch_resource_descriptor[i] = 0x5c0000 + i;
  queue.queue->scratch_backing_memory_location = 0x1234567890;
  queue.submit(barrier_packet({}, 0));
  auto packet = dispatch_packet(kernel.va);
  packet.kernarg_address = 0xabcdef0123;
  queue.submit(packet);
  bench.run();
  REQUIRE(bench.engine->started.size() == 1);
  const auto& d = bench.engine->started[0];
  const uint64_t va = queue.ring_va + 64;
  const std::array<uint32_t, 16> expected{0x5c0000,
                                          0x5c0001,
                                          0x5c0002,
                                          0x5c0003,
                                          low(va),
                                          high(va),
                                          low(queue.queue_va),
                                          high(queue.queue_va),
                                          low(packet.kernarg_address),
                                          high(packet.kernarg_address),
                                          1,
                                          0,
                                          low(0x1234567890),
                                          high(0x1234567890),
                                          0,
                                          0};
  CHECK(d.user_sgprs == expected);
  CHECK(d.dispatch_index == 1);
  CHECK(d.packet_va == va);
}

TEST_CASE("what does not fit 16 user SGPRs is dropped") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench,
                kSegmentBuffer | kDispatchPtr | kQueuePtr | kKernargPtr | kDispatchId | kFlatScratch | kPrivateSize,
                15 << 1);
  queue.queue->scratch_wave64_lane_byte_size = 64;
  auto packet = dispatch_packet(kernel.va);
  packet.private_segment_size = 33;
  queue.submit(packet);
  bench.run();
  REQUIRE(bench.engine->started.size() == 1);
  CHECK(bench.engine->started[0].user_sgprs[14] == 36);  // rounded to dwords
}

TEST_CASE("kernel arguments are preloaded where the descriptor asks, and the loading code is skipped") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench, kKernargPtr, 5 << 1);
  kernel.set<uint16_t>(58, 3 | (2 << 7));
  const uint64_t arguments = bench.allocate(64);
  for (uint32_t i = 0; i < 8; ++i) bench.host<uint32_t>(arguments)[i] = 100 + i;
  auto packet = dispatch_packet(kernel.va);
  packet.kernarg_address = arguments;
  queue.submit(packet);
  bench.run();
  REQUIRE(bench.engine->started.size() == 1);
  const auto& d = bench.engine->started[0];
  CHECK(d.code_va == kernel.va + 512);
  CHECK(d.user_sgprs[2] == 102);
  CHECK(d.user_sgprs[4] == 104);
  CHECK(d.user_sgprs[5] == 0);
}

TEST_CASE("gfx1100 has no preload, runs 32-lane waves and counts scratch waves per shader engine") {
  Bench bench(gfx1100_config());
  AqlClient queue(bench);
  Kernel kernel(bench, kKernargPtr | kWave32, (15 << 1) | 1);
  kernel.set<uint16_t>(58, 3);
  queue.queue->compute_tmpring_size = 0x82200;  // stock runtime 6.4.3 for 1040 bytes a lane
  queue.queue->scratch_wave64_lane_byte_size = 520;
  queue.queue->scratch_backing_memory_location = 0x700000000;
  auto packet = dispatch_packet(kernel.va);
  packet.private_segment_size = 1040;
  queue.submit(packet);
  bench.run();
  REQUIRE(bench.engine->started.size() == 1);
  const auto& d = bench.engine->started[0];
  CHECK(d.wave32);
  CHECK(d.code_va == kernel.va + 256);
  CHECK(d.scratch_wave_bytes == 0x82 * 256);
  CHECK(d.scratch_waves == 512 * 6);
  CHECK(d.scratch_base == 0x700000000);
}

TEST_CASE("registers, sizes and the trap handler go through") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  kernel.set<uint32_t>(44, 0x3).set<uint32_t>(48, 0xac0003);
  bench.cp->set_trap_handler(0x10000, 0x20000);
  auto packet = dispatch_packet(kernel.va);
  packet.setup = 2;
  packet.workgroup_size_x = 16;
  packet.workgroup_size_y = 4;
  packet.workgroup_size_z = 9;  // beyond the dimensions: not looked at
  packet.grid_size_x = 33;
  packet.grid_size_y = 5;
  packet.grid_size_z = 0;
  packet.group_segment_size = 1000;
  queue.submit(packet);
  bench.run();
  REQUIRE(bench.engine->started.size() == 1);
  const auto& d = bench.engine->started[0];
  CHECK(d.group == std::array<uint32_t, 3>{16, 4, 1});
  CHECK(d.grid == std::array<uint32_t, 3>{33, 5, 1});
  CHECK(d.lds_bytes == 1024);
  CHECK(d.rsrc1 == 0xac0003);
  CHECK(d.rsrc3 == 0x3);
  CHECK(d.trap_tba == 0x10000);
  CHECK(d.trap_tma == 0x20000);
  CHECK(d.doorbell_id == 100);
}

TEST_CASE("packets that the firmware refuses") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  auto packet = dispatch_packet(kernel.va);
  SECTION("no dimensions") {
    packet.setup = 0;
    CHECK(refused(bench, queue, packet) == 16);
  }
  SECTION("an empty grid") {
    packet.grid_size_y = 0;
    CHECK(refused(bench, queue, packet) == 16);
  }
  SECTION("too much LDS") {
    packet.group_segment_size = 65537;
    CHECK(refused(bench, queue, packet) == 17);
  }
  SECTION("no kernel") {
    packet.kernel_object = 0;
    CHECK(refused(bench, queue, packet) == 18);
  }
  SECTION("a kernel entry that is not aligned") {
    kernel.set<int64_t>(16, 260);
    CHECK(refused(bench, queue, packet) == 18);
  }
  SECTION("32-lane waves on a GPU without them") {
    kernel.set<uint16_t>(56, kWave32 | kKernargPtr);
    CHECK(refused(bench, queue, packet) == 18);
  }
  SECTION("reserved header bits") {
    packet.header |= 0x8000;
    CHECK(refused(bench, queue, packet) == 19);
  }
  SECTION("an agent dispatch") {
    packet.header = 0x1404;
    CHECK(refused(bench, queue, packet) == 20);
  }
  SECTION("a packet type that does not exist") {
    packet.header = 0x1409;
    CHECK(refused(bench, queue, packet) == 20);
  }
  SECTION("an empty work-group") {
    packet.workgroup_size_z = 0;
    CHECK(refused(bench, queue, packet) == 21);
  }
  SECTION("a work-group of more than 1024") {
    packet.workgroup_size_x = 1024;
    packet.workgroup_size_y = 2;
    CHECK(refused(bench, queue, packet) == 21);
  }
  SECTION("a work-group whose registers do not fit a compute unit") {
    packet.workgroup_size_x = 1024;  // 16 waves
    kernel.set<uint32_t>(48, 31);    // 256 VGPRs: two waves a SIMD, eight a unit
    CHECK(refused(bench, queue, packet) == 22);
  }
  SECTION("an unknown vendor packet") {
    packet.header = 0x1400;
    packet.setup = 7;
    CHECK(refused(bench, queue, packet) == 23);
  }
}

TEST_CASE("a refused packet stops its queue and only its queue") {
  Bench bench;
  AqlClient bad(bench, 64, 0), good(bench, 64, 1);
  Signal done(bench, 1), never(bench, 1);
  bad.submit(dispatch_packet(0));
  bad.submit(barrier_packet({}, never.va));
  good.submit(barrier_packet({}, done.va));
  bench.run();
  CHECK(bench.reports.errors.size() == 1);
  CHECK(never.fields->value == 1);
  CHECK(done.fields->value == 0);
}

TEST_CASE("without the driver's exception event the reason is in the inactive signal") {
  Bench bench;
  AqlClient queue(bench);
  CHECK(refused(bench, queue, dispatch_packet(0)) == 18);
  CHECK(queue.inactive.fields->value == 8);
  CHECK(*queue.inactive.mailbox == 3);
  CHECK(bench.reports.eop == std::vector<uint32_t>{3});

  Bench enabled;
  enabled.cp->set_runtime_enabled(true);
  AqlClient other(enabled);
  CHECK(refused(enabled, other, dispatch_packet(0)) == 18);
  CHECK(other.inactive.fields->value == 0);
}

TEST_CASE("memory that the processor cannot reach is a fault of the queue") {
  Bench bench;
  AqlClient queue(bench, 64, 5);
  constexpr uint64_t kNowhere = 0x5000000000;
  SECTION("a kernel descriptor") { queue.submit(dispatch_packet(kNowhere)); }
  SECTION("a dependency") { queue.submit(barrier_packet({kNowhere}, 0)); }
  SECTION("a completion signal") { queue.submit(barrier_packet({}, kNowhere)); }
  bench.run();
  REQUIRE(bench.reports.faults.size() == 1);
  CHECK(bench.reports.faults[0].va >= kNowhere);
  CHECK(bench.reports.faults[0].va < kNowhere + 64);
  CHECK(bench.reports.faults[0].not_present);
  CHECK(bench.reports.fault_queues == std::vector<uint32_t>{5});
  CHECK(bench.reports.errors.empty());
  CHECK_FALSE(bench.cp->must_poll());
}

TEST_CASE("a wave's memory fault ends its dispatch without completion") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  Signal done(bench, 1);
  bench.engine->ends_at_once = false;
  queue.submit(dispatch_packet(kernel.va, kBarrierAgent, done.va));
  bench.run();
  bench.engine->fail(1, {.kind = vgpu::WaveError::Kind::kMemoryFault, .fault = {0x1000, vgpu::Access::kWrite, true}});
  bench.run();
  CHECK(bench.reports.wave_errors.size() == 1);
  CHECK(bench.reports.faults_of_waves == 1);
  CHECK(bench.engine->killed.contains(1));
  CHECK(done.fields->value == 1);
  CHECK(queue.read_index() == 0);
}

TEST_CASE("an s_trap without a handler is told to nobody, and what follows waits for ever") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  Signal after(bench, 1);
  bench.engine->ends_at_once = false;
  queue.submit(dispatch_packet(kernel.va));
  queue.submit(barrier_packet({}, after.va));
  bench.run();
  bench.engine->fail(1, {.kind = vgpu::WaveError::Kind::kTrapWithoutHandler});
  bench.run();
  CHECK(bench.reports.faults.empty());
  CHECK(bench.reports.errors.empty());
  CHECK(after.fields->value == 1);
}

TEST_CASE("fences of a packet reach vector and scalar caches, never the instruction cache") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  queue.submit(dispatch_packet(kernel.va, 0x0002));
  bench.run();
  CHECK(bench.engine->invalidations.empty());
  queue.submit(dispatch_packet(kernel.va, kBarrierAgent));
  bench.run();
  CHECK(bench.engine->invalidations == std::vector<std::array<bool, 3>>{{false, true, true}});
}

TEST_CASE("an interrupt of a shader carries the queue's doorbell") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  bench.engine->on_start = [&](const vgpu::Dispatch& d) { bench.engine->sink().on_shader_interrupt(d, 0x42, false); };
  queue.submit(dispatch_packet(kernel.va));
  bench.run();
  CHECK(bench.reports.sq == std::vector<uint32_t>{0x42});
}
