// What a PM4 compute queue refuses: the queue stops, and the text names packet and register.
#include "tests/unit/vcp/pm4_client.h"

using namespace vcp_test;

namespace {

struct Refused {
  const char* what;
  std::vector<uint32_t> words;
  const char* named;
};

void check_refused(Bench& bench, const std::vector<Refused>& rows) {
  uint32_t id = 0;
  for (const Refused& row : rows) {
    INFO(row.what);
    Pm4Client queue(bench, 1024, id++);
    queue.submit(row.words);
    bench.reports.errors.clear();
    bench.run();
    REQUIRE(bench.reports.errors.size() == 1);
    CHECK(bench.reports.errors[0].queue_id == queue.params.queue_id);
    CHECK(bench.reports.errors[0].code == 0);
    INFO(bench.reports.errors[0].text);
    CHECK(bench.reports.errors[0].text.find(row.named) != std::string::npos);
    CHECK(bench.reports.errors[0].text.starts_with("PM4"));
    const uint32_t stopped_at = queue.read_index();
    queue.submit({0xffff1000});
    bench.run();
    CHECK(queue.read_index() == stopped_at);
    bench.cp->remove_queue(queue.params.queue_id);
  }
}

}  // namespace

TEST_CASE("a PM4 queue stops at what it cannot run, with a text that names it") {
  Bench bench;
  const uint64_t cell = bench.allocate(64), self = bench.allocate(64, 64);
  const std::vector<uint32_t> nested = {0xc0023f00, lo(self), hi(self), 4 | 0x800000};
  std::memcpy(bench.host(self), nested.data(), nested.size() * 4);
  check_refused(
      bench,
      {{"not a packet", {0}, "type 0"},
       {"a packet of the kernel's queues", {0xc005a200, 0, 0, 0, 0, 0, 0}, "MAP_QUEUES"},
       {"a packet that nobody here needs", {0xc0055000, 0, 0, 0, 0, 0, 0}, "DMA_DATA"},
       {"an opcode without a name", {0xc000fe00, 0}, "opcode 254"},
       {"gfx11's ACQUIRE_MEM", {0xc0065800, 0, 0, 0, 0, 0, 0, 0}, "ACQUIRE_MEM"},
       {"the driver's register", {0xc0017600, 0x214, 1}, "COMPUTE_VMID"},
       {"restoring waves", {0xc0017600, 0x222, 1}, "COMPUTE_RELAUNCH"},
       {"performance counters", {0xc0017600, 0x20b, 1}, "COMPUTE_PERFCOUNT_ENABLE"},
       {"restarting", {0xc0037600, 0x21b, 0, 7, 0}, "COMPUTE_RESTART_X + 1"},
       {"a hole", {0xc0017600, 0x23f, 1}, "0x2e3f"},
       {"a graphics register", {0xc0017600, 0x10, 1}, "0x2c10"},
       {"gfx11's register", {0xc0017600, 0x22f, 0}, "0x2e2f"},
       {"a profiler's register", {0xc0017900, 0x200, 0xe0000000}, "0xc200"},
       {"a dispatch without a size", {0xc0031500, 1, 1, 1, 5}, "COMPUTE_NUM_THREAD"},
       {"a dispatch of a group too large", {0xc0037600, 0x207, 64, 17, 1, 0xc0031500, 1, 1, 1, 5}, "1088 work-items"},
       {"a dispatch of nothing", {0xc0037600, 0x207, 64, 1, 1, 0xc0031500, 1, 0, 1, 5}, "no work-groups"},
       {"no shader", {0xc0037600, 0x207, 64, 1, 1, 0xc0031500, 1, 1, 1, 4}, "COMPUTE_SHADER_EN"},
       {"32-lane waves on gfx9", {0xc0037600, 0x207, 64, 1, 1, 0xc0031500, 1, 1, 1, 0x8005}, "0x8000"},
       {"ordered append", {0xc0037600, 0x207, 64, 1, 1, 0xc0031500, 1, 1, 1, 0xd}, "0x8"},
       {"more LDS than there is",
        {0xc0017600, 0x213, 0xff << 15, 0xc0037600, 0x207, 64, 1, 1, 0xc0031500, 1, 1, 1, 5},
        "LDS"},
       {"a nested command buffer", {0xc0023f00, lo(self), hi(self), 4 | 0x800000}, "nests none"},
       {"an empty command buffer", {0xc0023f00, lo(self), hi(self), 0x800000}, "0 dwords"},
       {"one that is not valid", {0xc0023f00, lo(self), hi(self), 4}, "VALID"},
       {"a chain from the ring", {0xc0023f00, lo(self), hi(self), 4 | 0x900000}, "chained"},
       {"PRED_EXEC in the ring", {0xc0002300, 0x01000001, 0xffff1000}, "PRED_EXEC"},
       {"writing a register", {0xc0033700, 0, 0x2e14, 0, 1}, "register 0x2e14"},
       {"writing GDS", {0xc0033700, 3u << 8, 0, 0, 1}, "target 3"},
       {"writing past alignment", {0xc0033700, 5u << 8, lo(cell) + 2, hi(cell), 1}, "aligned"},
       {"reading a register", {0xc0044000, 2u << 8, 0x2004, 0, lo(cell), hi(cell)}, "register 0x2004"},
       {"reading a counter", {0xc0044000, 4 | 2u << 8, 0xd1b0, 0, lo(cell), hi(cell)}, "register 0xd1b0"},
       {"waiting for a register", {0xc0053c00, 3, 0x2004, 0, 0, 1, 4}, "register 0x2004"},
       {"waiting for what does not come", {0xc0053c00, 3, 0xe27, 0, 1, 1, 4}, "HDP_FLUSH_DONE"},
       {"function 7", {0xc0053c00, 7 | 1u << 4, lo(cell), hi(cell), 1, 1, 4}, "function 7"},
       {"a thread trace event", {0xc0004600, 0x37}, "event 55"},
       {"a flush with another index", {0xc0004600, 0x507}, "index 5"},
       {"an event that is none", {0xc0064900, 0x504, 0, 0, 0, 0, 0, 0}, "event 4"},
       {"an interrupt under a condition", {0xc0064900, 0x514, 5u << 24, 0, 0, 0, 0, 0}, "INT_SEL 5"},
       {"a counter as data", {0xc0064900, 0x514, 4u << 29, lo(cell), hi(cell), 0, 0, 0}, "DATA_SEL 4"},
       {"64 bits past alignment", {0xc0064900, 0x514, 2u << 29, lo(cell) + 4, hi(cell), 0, 0, 0}, "aligned"},
       {"an atomic on floats", {0xc0071e00, 0x0b, lo(cell), hi(cell), 0, 0, 0, 0, 0}, "operation 11"},
       {"a wide atomic past alignment", {0xc0071e00, 47, lo(cell) + 4, hi(cell), 1, 0, 0, 0, 0}, "ATOMIC_MEM"}});
}

TEST_CASE("gfx11's registers and packets are told from gfx9's") {
  Bench bench(gfx1100_config());
  check_refused(
      bench,
      {{"gfx9's ACQUIRE_MEM", {0xc0055800, 0, 0, 0, 0, 0, 0}, "ACQUIRE_MEM"},
       {"gfx9's third resource register is a mask here, and then there is a hole", {0xc0017600, 0x234, 9}, "0x2e34"},
       {"restoring waves", {0xc0017600, 0x230, 1}, "COMPUTE_RELAUNCH"},
       {"tunnels", {0xc0017600, 0x27d, 1}, "COMPUTE_DISPATCH_TUNNEL"}});
}

TEST_CASE("a write pointer that cannot be stops the queue") {
  Bench bench;
  Pm4Client queue(bench, 1024);
  queue.doorbell.store(1025);
  bench.run();
  REQUIRE(bench.reports.errors.size() == 1);
  CHECK(bench.reports.errors[0].text.find("1025") != std::string::npos);
}
