// Vendor packets: BARRIER_VALUE, and PM4 command buffers. Contents of the buffers as in the golden traces.
#include "pm4/pm4.h"
#include "tests/unit/vcp/bench.h"

using namespace vcp_test;

namespace {

/// A PM4-IB packet as stock runtimes write it (5.2.3-b, words of the slot).
aql::VendorPm4IbPacket ib_packet(Bench& bench, const std::vector<uint32_t>& commands, uint64_t signal) {
  const uint64_t va = bench.allocate(commands.size() * 4, 64);
  std::memcpy(bench.host(va), commands.data(), commands.size() * 4);
  aql::VendorPm4IbPacket p{};
  p.vendor_format = 1;
  p.indirect_buffer[0] = 0xc0023f00;
  p.indirect_buffer[1] = static_cast<uint32_t>(va);
  p.indirect_buffer[2] = static_cast<uint32_t>(va >> 32);
  p.indirect_buffer[3] = static_cast<uint32_t>(commands.size()) | 0x800000;
  p.dwords_remaining = 0xa;
  p.completion_signal = signal;
  return p;
}

uint32_t lo(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t hi(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

aql::VendorBarrierValuePacket value_packet(uint64_t signal, int64_t value, int64_t mask, uint32_t condition,
                                           uint64_t done) {
  aql::VendorBarrierValuePacket p{};
  p.header = 0x1500;
  p.vendor_format = 2;
  p.signal = signal;
  p.value = value;
  p.mask = mask;
  p.condition = condition;
  p.completion_signal = done;
  return p;
}

}  // namespace

TEST_CASE("a code load's ACQUIRE_MEM invalidates the instruction cache, in each target's form") {
  SECTION("gfx90a") {
    Bench bench;
    AqlClient queue(bench);
    Signal done(bench, 1, 5);
    queue.submit(ib_packet(bench, {0xc0055800, 0x28840000, 0xffffffff, 0xff, 0, 0, 0}, done.va));
    bench.run();
    CHECK(done.fields->value == 0);
    CHECK(bench.engine->invalidations == std::vector<std::array<bool, 3>>{{true, true, false}});
  }
  SECTION("gfx1100") {
    Bench bench(gfx1100_config());
    AqlClient queue(bench);
    Signal done(bench, 1, 5);
    queue.submit(ib_packet(bench, {0xc0065800, 0, 0x3f, 0, 0x7f00000, 0, 0, 0x4381}, done.va));
    bench.run();
    CHECK(done.fields->value == 0);
    CHECK(bench.engine->invalidations == std::vector<std::array<bool, 3>>{{true, true, true}});
  }
  SECTION("the other target's form is refused") {
    Bench bench(gfx1100_config());
    AqlClient queue(bench);
    Signal done(bench, 1);
    queue.submit(ib_packet(bench, {0xc0055800, 0x28840000, 0xffffffff, 0xff, 0, 0, 0}, done.va));
    bench.run();
    CHECK(done.fields->value == 1);
    REQUIRE(bench.reports.errors.size() == 1);
    CHECK(bench.reports.errors[0].code == 23);
  }
}

TEST_CASE("a command buffer writes, copies the clock, waits and releases") {
  Bench bench;
  AqlClient queue(bench);
  Signal done(bench, 1);
  const uint64_t data = bench.allocate(64);
  const uint64_t flag = bench.allocate(64);
  queue.submit(ib_packet(bench,
                         {0xffff1000,  // NOP of one dword
                          0xc0043700,
                          5u << 8 | 1u << 20,
                          lo(data),
                          hi(data),
                          11,
                          22,  // WRITE_DATA
                          0xc0044000,
                          9 | 5u << 8 | 1u << 16 | 1u << 20,
                          0,
                          0,
                          lo(data + 8),
                          hi(data + 8),  // COPY_DATA clock
                          0xc0053c00,
                          3 | 1u << 4,
                          lo(flag),
                          hi(flag),
                          1,
                          0xff,
                          4,  // WAIT_REG_MEM ==
                          0xc0064900,
                          0x14 | 5u << 8,
                          2u << 29 | 2u << 24,
                          lo(data + 16),
                          hi(data + 16),
                          33,
                          0,
                          9},  // RELEASE_MEM
                         done.va));
  bench.run();
  auto* words = bench.host<uint32_t>(data);
  CHECK(words[0] == 11);
  CHECK(words[1] == 22);
  CHECK(words[2] > 1000);
  CHECK(done.fields->value == 1);
  CHECK(words[4] == 0);
  CHECK(bench.cp->must_poll());
  *bench.host<uint32_t>(flag) = 0x101;
  bench.run();
  CHECK(words[4] == 33);
  CHECK(done.fields->value == 0);
  CHECK(bench.reports.eop == std::vector<uint32_t>{9});
}

TEST_CASE("an end-of-pipe event waits for earlier dispatches") {
  Bench bench;
  AqlClient queue(bench);
  Kernel kernel(bench);
  Signal done(bench, 1);
  bench.engine->ends_at_once = false;
  queue.submit(dispatch_packet(kernel.va));
  queue.submit(ib_packet(bench, {0xc0004600, 7 | 4u << 8}, done.va));  // CS_PARTIAL_FLUSH
  bench.run();
  CHECK(done.fields->value == 1);
  bench.engine->ended.insert(1);
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("command buffers with what is not supported or not whole are refused by name") {
  Bench bench;
  AqlClient queue(bench);
  std::vector<uint32_t> commands;
  std::string expected;
  SECTION("a dispatch") {
    commands = {0xc0031500, 1, 1, 1, 1};
    expected = "DISPATCH_DIRECT";
  }
  SECTION("a register write") {
    commands = {0xc0017600, 0x214, 1};
    expected = "COMPUTE_VMID";
  }
  SECTION("a truncated packet") {
    commands = {0xc0055800, 0};
    expected = "longer";
  }
  SECTION("no packet at all") {
    commands = {0, 0};
    expected = "type 0";
  }
  queue.submit(ib_packet(bench, commands, 0));
  bench.run();
  REQUIRE(bench.reports.errors.size() == 1);
  CHECK(bench.reports.errors[0].code == 23);
  CHECK(bench.reports.errors[0].text.find(expected) != std::string::npos);
  CHECK(queue.read_index() == 0);
}

TEST_CASE("BARRIER_VALUE compares under a mask, where the firmware has it") {
  Bench bench;
  AqlClient queue(bench);
  Signal s(bench, 0x105), done(bench, 1);
  struct Case {
    uint32_t condition;
    int64_t value, mask, before, after;
  };
  const auto c = GENERATE(Case{0, 5, 0xff, 0x104, 0x105}, Case{1, 5, 0xff, 0x105, 0x106}, Case{2, 5, ~0ll, 5, -7},
                          Case{3, 5, ~0ll, 4, 5});
  s.fields->value = c.before;
  queue.submit(value_packet(s.va, c.value, c.mask, c.condition, done.va));
  bench.run();
  CHECK(done.fields->value == 1);
  s.fields->value = c.after;
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("BARRIER_VALUE without a signal completes, as stock event records use it") {
  Bench bench;
  AqlClient queue(bench);
  Signal done(bench, 1);
  queue.submit(value_packet(0, 0, 0, 0, done.va));
  bench.run();
  CHECK(done.fields->value == 0);
}

TEST_CASE("gfx1100 has no BARRIER_VALUE") {
  Bench bench(gfx1100_config());
  AqlClient queue(bench);
  queue.submit(value_packet(0, 0, 0, 0, 0));
  bench.run();
  REQUIRE(bench.reports.errors.size() == 1);
  CHECK(bench.reports.errors[0].code == 23);
}
