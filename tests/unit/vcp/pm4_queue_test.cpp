// PM4 compute queues. The words of the sequences are those that two other clients of the kernel interface write: a
// runtime that drives PM4 rings directly (launch, barrier, signal), and the kernel driver's own test program (command
// buffer, thread dimensions, fence inside a NOP); only addresses are ours.
#include "tests/unit/vcp/pm4_client.h"

using namespace vcp_test;

TEST_CASE("a launch in the form of gfx11 becomes the dispatch that its registers describe") {
  Bench bench(gfx1100_config());
  Pm4Client queue(bench);
  const uint64_t code = 0x7f0000400100, arguments = 0x7f0000500000, scratch = 0x7f0000300000;
  queue.submit({0xc0065800,
                0,
                0xffffffff,
                0xffffffff,
                0,
                0,
                0,
                0x3f0,  // ACQUIRE_MEM
                0xc0027600,
                0x20c,
                lo(code >> 8),
                hi(code >> 8),  // PGM
                0xc0027600,
                0x212,
                0xe0bf0001,
                0x1009f,  // RSRC1, RSRC2
                0xc0017600,
                0x228,
                0x10,  // RSRC3
                0xc0017600,
                0x218,
                0x2080,  // TMPRING_SIZE
                0xc0027600,
                0x210,
                lo(scratch >> 8),
                hi(scratch >> 8),  // DISPATCH_SCRATCH_BASE
                0xc0037600,
                0x21b,
                0,
                0,
                0,  // RESTART
                0xc0027600,
                0x240,
                lo(arguments),
                hi(arguments),  // USER_DATA
                0xc0017600,
                0x215,
                0,  // RESOURCE_LIMITS
                0xc0087600,
                0x204,
                0,
                0,
                0,
                0x20,
                3,
                1,
                0,
                0,  // START to PERFCOUNT_ENABLE
                0xc0031500,
                2,
                3,
                4,
                0x8005,
                0xc0004600,
                0x407});  // DISPATCH_DIRECT, CS_PARTIAL_FLUSH
  bench.run();
  REQUIRE(bench.reports.errors.empty());
  REQUIRE(bench.engine->started.size() == 1);
  const auto& d = bench.engine->started[0];
  CHECK(d.code_va == code);
  CHECK(d.rsrc1 == 0xe0bf0001);
  CHECK(d.rsrc2 == 0x1009f);
  CHECK(d.rsrc3 == 0x10);
  CHECK(d.wave32);
  CHECK(d.grid == std::array<uint32_t, 3>{64, 9, 4});
  CHECK(d.group == std::array<uint32_t, 3>{32, 3, 1});
  CHECK(d.first_group == std::array<uint32_t, 3>{});
  CHECK(d.user_sgprs[0] == lo(arguments));
  CHECK(d.user_sgprs[1] == hi(arguments));
  CHECK(d.lds_bytes == 2 * 512);
  CHECK(d.scratch_base == scratch);
  CHECK(d.scratch_wave_bytes == 2 * 256);
  CHECK(d.scratch_waves == 0x80 * 6);
  CHECK(d.queue_id == queue.params.queue_id);
  CHECK(d.doorbell_id == queue.params.doorbell_id);
  CHECK(bench.engine->invalidations == std::vector<std::array<bool, 3>>{{false, true, true}});
  CHECK(queue.read_index() == queue.written() % queue.dwords());
}

TEST_CASE("gfx9 counts scratch waves over the whole die and has its third resource register elsewhere") {
  Bench bench;
  Pm4Client queue(bench);
  queue.submit({0xc0027600, 0x212, 0xaf0000, 0x9,        0xc0017600, 0x22d, 9, 0xc0017600, 0x218,      0x3080,  //
                0xc0017600, 0x20c, 0x100,    0xc0037600, 0x207,      64,    1, 1,          0xc0031500, 1,
                1,          1,     0x5});
  bench.run();
  REQUIRE(bench.engine->started.size() == 1);
  const auto& d = bench.engine->started[0];
  CHECK(d.rsrc3 == 9);
  CHECK_FALSE(d.wave32);
  CHECK(d.scratch_wave_bytes == 3 * 1024);
  CHECK(d.scratch_waves == 0x80);
}

TEST_CASE("a signal is stored, and its event raised, when the dispatches before it have ended") {
  const bool gfx11 = GENERATE(true, false);
  Bench bench(gfx11 ? gfx1100_config() : gfx90a_config());
  Pm4Client queue(bench);
  const uint64_t signal = bench.allocate(64), mailbox = bench.allocate(64), mark = bench.allocate(64);
  const uint32_t actions = gfx11 ? 0x70f514 : 0x88514;
  bench.engine->ends_at_once = false;
  queue.submit(launch_words());
  queue.submit({0xc0064900, actions, 0x20000000, lo(signal), hi(signal), 6, 0, 0});
  queue.submit({0xc0064900, 0x514, 0x22000000, lo(mailbox), hi(mailbox), 7, 0, 7});
  queue.submit({0xc0033700, 5u << 8, lo(mark), hi(mark), 1});
  bench.run();
  // Events wait; packets behind them do not, as nothing tells them to.
  CHECK(*bench.host<uint32_t>(mark) == 1);
  CHECK(*bench.host<uint32_t>(signal) == 0);
  CHECK(bench.reports.eop.empty());
  CHECK(bench.cp->must_poll());
  bench.engine->ended.insert(1);
  bench.run();
  CHECK(*bench.host<uint32_t>(signal) == 6);
  CHECK(*bench.host<uint32_t>(mailbox) == 7);
  CHECK(bench.reports.eop == std::vector<uint32_t>{7});
  CHECK_FALSE(bench.cp->must_poll());
}

TEST_CASE("an end-of-pipe event does not wait for dispatches after it") {
  Bench bench;
  Pm4Client queue(bench);
  const uint64_t first = bench.allocate(64), second = bench.allocate(64);
  bench.engine->ends_at_once = false;
  queue.submit(launch_words());
  queue.submit({0xc0064900, 0x514, 2u << 29, lo(first), hi(first), 1, 0, 0});
  queue.submit({0xc0031500, 1, 1, 1, 0x5});
  queue.submit({0xc0064900, 0x62f, 2u << 29, lo(second), hi(second), 2, 0, 0});  // CS_DONE
  bench.run();
  REQUIRE(bench.engine->started.size() == 2);
  bench.engine->ended.insert(1);
  bench.run();
  CHECK(*bench.host<uint64_t>(first) == 1);
  CHECK(*bench.host<uint64_t>(second) == 0);
  bench.engine->ended.insert(2);
  bench.run();
  CHECK(*bench.host<uint64_t>(second) == 2);
}

TEST_CASE("the GPU's clock arrives in memory") {
  Bench bench(gfx1100_config());
  Pm4Client queue(bench);
  const uint64_t stamp = bench.allocate(64);
  queue.submit({0xc0064900, 0x514, 0x2000000, 0, 0, 0, 0, 0,                     //
                0xc0064900, 0x514, 0x60000000, lo(stamp), hi(stamp), 0, 0, 0});  //
  bench.run();
  CHECK(*bench.host<uint64_t>(stamp) > 1000);
  CHECK(bench.reports.eop == std::vector<uint32_t>{0});  // int_sel 2 without data: an interrupt with context 0
}

TEST_CASE("CS_PARTIAL_FLUSH and waiting for memory hold later packets back") {
  Bench bench;
  Pm4Client queue(bench);
  const uint64_t mark = bench.allocate(64), flag = bench.allocate(64);
  bench.engine->ends_at_once = false;
  queue.submit(launch_words());
  queue.submit({0xc0004600, 0x407});
  const uint64_t before = queue.written() - 2;
  queue.submit({0xc0033700, 5u << 8, lo(mark), hi(mark), 1});
  queue.submit({0xc0053c00, 0x15, lo(flag), hi(flag), 5, 0xffffffff, 4});  // >= 5
  queue.submit({0xc0033700, 5u << 8, lo(mark), hi(mark), 2});
  bench.run();
  CHECK(*bench.host<uint32_t>(mark) == 0);
  CHECK(queue.read_index() == before);
  bench.engine->ended.insert(1);
  bench.run();
  CHECK(*bench.host<uint32_t>(mark) == 1);
  *bench.host<uint32_t>(flag) = 4;
  bench.run();
  CHECK(*bench.host<uint32_t>(mark) == 1);
  *bench.host<uint32_t>(flag) = 6;
  bench.run();
  CHECK(*bench.host<uint32_t>(mark) == 2);
}

TEST_CASE("the driver's test program: command buffer, thread dimensions, a fence in a NOP's payload") {
  Bench bench;
  Pm4Client queue(bench);
  const uint64_t code = 0x7f0000410000, done = bench.allocate(64);
  std::vector<uint32_t> words = {0xc0055802,
                                 0x28c00000,
                                 0xffffffff,
                                 0,
                                 0,
                                 0,
                                 4,  // ACQUIRE_MEM
                                 0xc0087602,
                                 0x204,
                                 0,
                                 0,
                                 0,
                                 1,
                                 1,
                                 1,
                                 0,
                                 0,  // START to PERFCOUNT_ENABLE
                                 0xc0067602,
                                 0x20c,
                                 lo(code >> 8),
                                 hi(code >> 8),
                                 0,
                                 0,
                                 0,
                                 0,  // PGM to SCRATCH_BASE
                                 0xc0027602,
                                 0x212,
                                 0xc0084,
                                 0x28c8,  // RSRC1, RSRC2
                                 0xc0017602,
                                 0x22d,
                                 9,
                                 0xc0017602,
                                 0x215,
                                 0,
                                 0xc0017602,
                                 0x218,
                                 0,  //
                                 0xc0047602,
                                 0x21b,
                                 0,
                                 0,
                                 0,
                                 0,  // RESTART, THREAD_TRACE
                                 0xc0107602,
                                 0x240,
                                 1,
                                 2,
                                 3,
                                 4,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,  // USER_DATA
                                 0xc0031502,
                                 1024,
                                 16,
                                 16,
                                 0x21};  // DISPATCH_DIRECT
  const uint64_t buffer = bench.allocate(4 * (words.size() + 20), 256);
  const uint64_t fence = buffer + 4 * (words.size() + 1);
  for (const uint32_t word :
       {0xc0001002u, 0u, 0xc0064902u, 0x28514u, 0x23000000u, lo(fence), hi(fence), 0xdeadbeefu, 0u, 0xdeadbeefu,
        0xc0053c02u, 0x13u, lo(fence), hi(fence), 0xdeadbeefu, 0xffffffffu, 0x80000004u}) {
    words.push_back(word);
  }
  std::memcpy(bench.host(buffer), words.data(), words.size() * 4);
  bench.engine->ends_at_once = false;
  queue.submit({0xc0023f02, lo(buffer), hi(buffer), static_cast<uint32_t>(words.size()) | 0x20800000});
  queue.submit({0xc0033702, 0x4100500, lo(done), hi(done), 77});
  bench.run();
  REQUIRE(bench.reports.errors.empty());
  REQUIRE(bench.engine->started.size() == 1);
  const auto& d = bench.engine->started[0];
  CHECK(d.code_va == code);
  CHECK(d.grid == std::array<uint32_t, 3>{1024, 16, 16});
  CHECK(d.group == std::array<uint32_t, 3>{1, 1, 1});
  CHECK(d.user_sgprs[3] == 4);
  CHECK(*bench.host<uint32_t>(fence) == 0);
  CHECK(*bench.host<uint32_t>(done) == 0);
  bench.engine->ended.insert(1);
  bench.run();
  CHECK(*bench.host<uint32_t>(fence) == 0xdeadbeef);
  CHECK(*bench.host<uint32_t>(done) == 77);
  CHECK(bench.reports.eop.empty());  // "send data after confirm" raises no interrupt
}

TEST_CASE(
    "packets go on at the ring's start where it ends inside them; the read pointer wraps, the write pointer not") {
  Bench bench;
  Pm4Client queue(bench, 256);
  const uint64_t mark = bench.allocate(64);
  for (uint32_t n = 1; n <= 400; ++n) {
    queue.submit({0xc0033700, 5u << 8, lo(mark), hi(mark), n});
    bench.run();
    REQUIRE(*bench.host<uint32_t>(mark) == n);
    REQUIRE(queue.read_index() == queue.written() % 256);
  }
  CHECK(queue.written() == 2000);
}

TEST_CASE("a packet that is not whole below the write pointer waits for the rest") {
  Bench bench;
  Pm4Client queue(bench);
  const uint64_t mark = bench.allocate(64);
  queue.submit({0xc0033700, 5u << 8, lo(mark)});
  bench.run();
  CHECK(queue.read_index() == 0);
  CHECK_FALSE(bench.cp->must_poll());
  queue.submit({hi(mark), 9});
  bench.run();
  CHECK(*bench.host<uint32_t>(mark) == 9);
}

TEST_CASE("HDP is flushed through its register pair, as a barrier between host and GPU begins") {
  Bench bench(gfx1100_config());
  Pm4Client queue(bench);
  queue.submit({0xc0053c00, 0x45, 0xe26, 0xe27, 0xffffffff, 0xffffffff, 0x4,  //
                0xc0065800, 0, 0xffffffff, 0xffffffff, 0, 0, 0, 0xc3f1});
  bench.run();
  CHECK(bench.reports.errors.empty());
  CHECK(queue.read_index() == 15);
  CHECK(bench.engine->invalidations == std::vector<std::array<bool, 3>>{{true, true, true}});
}

TEST_CASE("packets under a condition") {
  Bench bench;
  Pm4Client queue(bench);
  const uint64_t condition = bench.allocate(64), mark = bench.allocate(64);
  SECTION("COND_EXEC in a ring") {
    queue.submit({0xc0032200, lo(condition), hi(condition), 0, 5, 0xc0033700, 5u << 8, lo(mark), hi(mark), 1});
    queue.submit({0xc0033700, 5u << 8, lo(mark + 8), hi(mark), 1});
    bench.run();
    CHECK(*bench.host<uint32_t>(mark) == 0);
    CHECK(*bench.host<uint32_t>(mark + 8) == 1);
    *bench.host<uint32_t>(condition) = 1;
    queue.submit({0xc0032200, lo(condition), hi(condition), 0, 5, 0xc0033700, 5u << 8, lo(mark), hi(mark), 1});
    bench.run();
    CHECK(*bench.host<uint32_t>(mark) == 1);
  }
  SECTION("PRED_EXEC in a command buffer") {
    const uint64_t buffer = bench.allocate(64, 64);
    const std::vector<uint32_t> words = {0xc0002300, 0x02000005, 0xc0033700, 5u << 8, lo(mark),     hi(mark), 1,  //
                                         0xc0002300, 0x01000005, 0xc0033700, 5u << 8, lo(mark + 8), hi(mark), 1};
    std::memcpy(bench.host(buffer), words.data(), words.size() * 4);
    queue.submit({0xc0023f00, lo(buffer), hi(buffer), 14 | 0x800000});
    bench.run();
    CHECK(*bench.host<uint32_t>(mark) == 0);
    CHECK(*bench.host<uint32_t>(mark + 8) == 1);
  }
}

TEST_CASE("command buffers chain, and come back to the ring") {
  Bench bench;
  Pm4Client queue(bench);
  const uint64_t first = bench.allocate(64, 64), second = bench.allocate(64, 64), mark = bench.allocate(64);
  const std::vector<uint32_t> jump = {0xc0023f00, lo(second), hi(second), 5 | 0x900000, 0xc0001234};  // rest: never run
  const std::vector<uint32_t> write = {0xc0033700, 5u << 8, lo(mark), hi(mark), 3};
  std::memcpy(bench.host(first), jump.data(), jump.size() * 4);
  std::memcpy(bench.host(second), write.data(), write.size() * 4);
  queue.submit({0xc0023f00, lo(first), hi(first), 5 | 0x800000});
  queue.submit({0xc0033700, 5u << 8, lo(mark + 4), hi(mark), 4});
  bench.run();
  CHECK(bench.reports.errors.empty());
  CHECK(*bench.host<uint32_t>(mark) == 3);
  CHECK(*bench.host<uint32_t>(mark + 4) == 4);
}

TEST_CASE("dimensions from memory, groups that start later, partial groups") {
  Bench bench;
  Pm4Client queue(bench);
  queue.submit({0xc0017600, 0x20c, 0x100, 0xc0037600, 0x207, 64 | 16u << 16, 1, 1});
  SECTION("DISPATCH_INDIRECT") {
    const uint64_t dims = bench.allocate(64);
    for (uint32_t i = 0; i < 3; ++i) bench.host<uint32_t>(dims)[i] = i + 2;
    queue.submit({0xc0021600, lo(dims), hi(dims), 0x5});
    bench.run();
    REQUIRE(bench.engine->started.size() == 1);
    CHECK(bench.engine->started[0].grid == std::array<uint32_t, 3>{128, 3, 4});
  }
  SECTION("without FORCE_START_AT_000 the start registers count, and dimensions are ends") {
    queue.submit({0xc0037600, 0x204, 3, 0, 1, 0xc0031500, 5, 1, 4, 0x1});
    bench.run();
    REQUIRE(bench.engine->started.size() == 1);
    CHECK(bench.engine->started[0].grid == std::array<uint32_t, 3>{128, 1, 3});
    CHECK(bench.engine->started[0].first_group == std::array<uint32_t, 3>{3, 0, 1});
  }
  SECTION("with PARTIAL_TG_EN the last group has the partial size") {
    queue.submit({0xc0031500, 5, 1, 1, 0x7});
    bench.run();
    REQUIRE(bench.engine->started.size() == 1);
    CHECK(bench.engine->started[0].grid[0] == 4 * 64 + 16);
  }
}

TEST_CASE("ATOMIC_MEM returns what was there; COPY_DATA takes it") {
  Bench bench;
  Pm4Client queue(bench);
  const uint64_t cell = bench.allocate(64), out = bench.allocate(64);
  *bench.host<uint64_t>(cell) = 40;
  queue.submit({0xc0071e00, 47, lo(cell), hi(cell), 2, 0, 0, 0, 0});  // ADD64
  queue.submit({0xc0044000, 6 | 2u << 8 | 1u << 16, 0, 0, lo(out), hi(out)});
  queue.submit({0xc0071e00, 39, lo(cell + 8), hi(cell), 5, 0, 0, 0, 0});            // SWAP64, as a profiler does it
  queue.submit({0xc0071e00, 0x28 | 1u << 8, lo(cell), hi(cell), 50, 0, 43, 0, 8});  // CMPSWAP64 until it holds
  bench.run();
  CHECK(*bench.host<uint64_t>(cell) == 42);
  CHECK(*bench.host<uint64_t>(out) == 40);
  CHECK(*bench.host<uint64_t>(cell + 8) == 5);
  CHECK(bench.cp->must_poll());
  *bench.host<uint64_t>(cell) = 43;
  bench.run();
  CHECK(*bench.host<uint64_t>(cell) == 50);
}

TEST_CASE("gfx11 waits on 64 bits; gfx9 has no such packet") {
  const bool gfx11 = GENERATE(true, false);
  Bench bench(gfx11 ? gfx1100_config() : gfx90a_config());
  Pm4Client queue(bench);
  const uint64_t cell = bench.allocate(64), mark = bench.allocate(64);
  queue.submit({0xc0079300, 0x13, lo(cell), hi(cell), 0, 1, 0xffffffff, 0xffffffff, 4});
  queue.submit({0xc0033700, 5u << 8, lo(mark), hi(mark), 1});
  bench.run();
  CHECK(*bench.host<uint32_t>(mark) == 0);
  *bench.host<uint64_t>(cell) = 1ull << 32;
  bench.run();
  CHECK(*bench.host<uint32_t>(mark) == (gfx11 ? 1 : 0));
  CHECK(bench.reports.errors.size() == (gfx11 ? 0 : 1));
}

TEST_CASE("drop_doorbells: a client that keeps the write pointer in memory loses nothing, another does") {
  const bool keeps = GENERATE(true, false);
  auto config = gfx90a_config();
  config.hostile.drop_doorbells = true;
  Bench bench(config);
  Pm4Client queue(bench);
  const uint64_t mark = bench.allocate(64);
  int missing = 0;
  for (uint32_t n = 1; n <= 60; ++n) {
    queue.place({0xc0033700, 5u << 8, lo(mark), hi(mark), n});
    if (keeps) queue.publish();
    queue.ring();
    bench.run();
    missing += *bench.host<uint32_t>(mark) != n;
  }
  CHECK(keeps == (missing == 0));
}

TEST_CASE("a wave's error stops the queue, and a fault of the processor itself too") {
  Bench bench;
  Pm4Client queue(bench);
  const uint64_t mark = bench.allocate(64);
  SECTION("wave") {
    bench.engine->ends_at_once = false;
    queue.submit(launch_words());
    bench.run();
    bench.engine->fail(1, {.kind = vgpu::WaveError::Kind::kMemoryFault, .fault = {.va = 0x1000}});
    bench.run();
    CHECK(bench.engine->killed.contains(1));
  }
  SECTION("packet") {
    queue.submit({0xc0033700, 5u << 8, 0x1000, 0, 1});
    bench.run();
    REQUIRE(bench.reports.faults.size() == 1);
    CHECK(bench.reports.faults[0].va == 0x1000);
  }
  queue.submit({0xc0033700, 5u << 8, lo(mark), hi(mark), 1});
  bench.run();
  CHECK(*bench.host<uint32_t>(mark) == 0);
}

TEST_CASE("a queue that is destroyed takes its waves along") {
  Bench bench;
  Pm4Client queue(bench);
  bench.engine->ends_at_once = false;
  queue.submit(launch_words());
  bench.run();
  bench.cp->remove_queue(queue.params.queue_id);
  CHECK(bench.engine->killed.contains(1));
}
