// Numbers that the kernel or the hardware checks, against values worked out or observed elsewhere.
#include "kfd/cwsr.h"
#include "kfd/ioctl_table.h"
#include "kfd/scratch.h"
#include "kfd/uapi.h"
#include "tests/catch.h"

using namespace barehip;
using namespace barehip::kfd;

namespace {

GpuProperties gpu(uint32_t major, uint32_t minor, uint32_t step, uint32_t cus, uint32_t engines, uint32_t xccs = 1) {
  GpuProperties p;
  p.gfx_major = major;
  p.gfx_minor = minor;
  p.gfx_step = step;
  p.cu_count = cus;
  p.shader_engines = engines;
  p.num_xcc = xccs;
  p.lds_bytes_per_cu = 65536;
  p.max_slots_scratch_cu = 32;
  p.wave_size = major == 9 ? 64 : 32;
  return p;
}

}  // namespace

TEST_CASE("save areas have the sizes that the kernel computes") {
  struct Row {
    GpuProperties gpu;
    uint32_t stack, save, debug;
    uint64_t total;
  };
  // gfx942 with array_count 32 over 8 XCCs. gfx1151: four machines publish cwsr_size 19185664, ctl_stack_size
  // 16384.
  const std::vector<Row> rows = {
      {gpu(9, 0, 6, 60, 4), 20480, 20910080, 65536, 20975616},
      {gpu(9, 0, 8, 120, 8), 36864, 73273344, 131072, 73404416},
      {gpu(9, 0, 10, 104, 8), 36864, 63508480, 131072, 63639552},
      {gpu(9, 4, 2, 304, 32, 8), 12288, 23203840, 48640, 186019840},
      {gpu(11, 0, 0, 96, 6), 40960, 46047232, 98304, 46145536},
      {gpu(11, 0, 2, 32, 2), 16384, 11157504, 32768, 11190272},
      {gpu(11, 0, 3, 12, 1), 8192, 4186112, 12288, 4198400},
      {gpu(11, 5, 1, 40, 2), 16384, 19185664, 40960, 19226624},
  };
  for (const Row& row : rows) {
    INFO("gfx " << row.gpu.gfx_major << "." << row.gpu.gfx_minor << "." << row.gpu.gfx_step);
    const CwsrSizes sizes = cwsr_sizes(row.gpu);
    CHECK(sizes.ctl_stack_bytes == row.stack);
    CHECK(sizes.save_bytes == row.save);
    CHECK(sizes.debug_bytes == row.debug);
    CHECK(sizes.total_bytes == row.total);
  }
}

TEST_CASE("published save area sizes win over the formulas") {
  GpuProperties p = gpu(9, 0, 10, 104, 8);
  p.cwsr_bytes_per_xcc = 0x4000000;
  p.ctl_stack_bytes_per_xcc = 0xa000;
  const CwsrSizes sizes = cwsr_sizes(p);
  CHECK(sizes.save_bytes == 0x4000000);
  CHECK(sizes.ctl_stack_bytes == 0xa000);
  CHECK(sizes.total_bytes == 0x4000000 + 131072);
}

TEST_CASE("scratch of gfx1100 for 1040 bytes a lane is what stock ROCr sets") {
  const ScratchPlan plan = plan_scratch(gpu(11, 0, 0, 96, 6), {1040, 32, 1}, 0).value();
  CHECK(plan.tmpring_size == 0x82200);
  CHECK(plan.bytes == 0x6180000);
  CHECK(plan.wave64_lane_bytes == 520);
}

TEST_CASE(
    "scratch of gfx90a limited to one wave per shader engine is what stock ROCr sets for one small "
    "dispatch") {
  const ScratchPlan plan = plan_scratch(gpu(9, 0, 10, 104, 8), {1040, 64, 1}, 0x82000).value();
  CHECK(plan.tmpring_size == 0x41008);
  CHECK(plan.bytes == 0x82000);
  CHECK(plan.wave64_lane_bytes == 1040);
}

TEST_CASE("a budget never goes below one work-group per shader engine") {
  const ScratchPlan plan = plan_scratch(gpu(9, 0, 10, 104, 8), {1024, 64, 16}, 1).value();
  CHECK(plan.waves_per_engine == 16);
  CHECK(plan.bytes == uint64_t{1024} * 64 * 16 * 8);
}

TEST_CASE("fields of COMPUTE_TMPRING_SIZE do not overflow") {
  for (const GpuProperties& p : {gpu(9, 0, 8, 120, 8), gpu(9, 4, 2, 304, 32, 8), gpu(11, 0, 0, 96, 6)}) {
    const uint32_t most = max_scratch_bytes_per_lane(p, 64);
    const ScratchPlan plan = plan_scratch(p, {most, 64, 1}, 0).value();
    const uint32_t wavesize_bits = p.gfx_major == 9 ? 13 : 15;
    CHECK(plan.tmpring_size >> 12 < (1u << wavesize_bits));
    CHECK(plan.bytes / p.num_xcc < (1ull << 32));
    const Result<ScratchPlan> over = plan_scratch(p, {most + 4, 64, 1}, 0);
    REQUIRE_FALSE(over);
    CHECK(over.error().code == ErrorCode::kOutOfResources);
  }
}

// 65536 bytes a wave divide 4 GiB, and NUM_RECORDS would be 0.
TEST_CASE("the size of an XCC's scratch fits NUM_RECORDS") {
  const GpuProperties gfx908 = gpu(9, 0, 8, 120, 8);
  aql::AmdQueue queue{};
  for (const uint32_t lane_bytes : {16384u, 32768u, 65536u}) {
    const ScratchPlan plan = plan_scratch(gfx908, {lane_bytes, 64, 1}, 0).value();
    write_scratch(queue, gfx908, plan, 0x7f12'3456'7000);
    CHECK(plan.bytes > 3ull << 30);
    CHECK(queue.scratch_resource_descriptor[2] == plan.bytes);
    CHECK(queue.scratch_backing_memory_byte_size == plan.bytes);
  }
}

TEST_CASE("with several XCCs the descriptor tells the size of one XCC's scratch") {
  const GpuProperties gfx942 = gpu(9, 4, 2, 304, 32, 8);
  const ScratchPlan plan = plan_scratch(gfx942, {1024, 64, 1}, 0).value();
  aql::AmdQueue queue{};
  write_scratch(queue, gfx942, plan, 0x7f12'3456'7000);
  CHECK(queue.scratch_resource_descriptor[2] == plan.bytes / 8);
  CHECK(queue.scratch_backing_memory_byte_size == plan.bytes / 8);
}

TEST_CASE("a lane gets what its wave's whole units give, as in stock ROCr") {
  CHECK(plan_scratch(gpu(9, 0, 10, 104, 8), {20, 64, 1}, 0).value().wave64_lane_bytes == 32);
  CHECK(plan_scratch(gpu(11, 0, 0, 96, 6), {20, 32, 1}, 0).value().wave64_lane_bytes == 12);
  CHECK(plan_scratch(gpu(11, 0, 0, 96, 6), {20, 64, 1}, 0).value().wave64_lane_bytes == 20);
}

TEST_CASE("a request without private memory gets one unit a wave") {
  const ScratchPlan plan = plan_scratch(gpu(9, 0, 10, 104, 8), {0, 64, 1}, 0).value();
  CHECK(plan.tmpring_size >> 12 == 1);
  CHECK(plan.bytes == uint64_t{1024} * 104 * 32);
}

TEST_CASE("the scratch resource descriptor has each generation's constants") {
  aql::AmdQueue queue{};
  const GpuProperties gfx90a = gpu(9, 0, 10, 104, 8);
  write_scratch(queue, gfx90a, plan_scratch(gfx90a, {1040, 64, 1}, 0x82000).value(), 0x7f12'3456'7000);
  CHECK(queue.scratch_resource_descriptor[0] == 0x3456'7000);
  CHECK(queue.scratch_resource_descriptor[1] == 0x8000'7f12);
  CHECK(queue.scratch_resource_descriptor[2] == 0x82000);
  CHECK(queue.scratch_resource_descriptor[3] == 0xea4fac);
  CHECK(queue.scratch_backing_memory_location == 0x7f12'3456'7000);
  write_scratch(queue, gpu(11, 0, 0, 96, 6), {}, 0);
  CHECK(queue.scratch_resource_descriptor[1] == 0x4000'0000);
  CHECK(queue.scratch_resource_descriptor[2] == 0);
  CHECK(queue.scratch_resource_descriptor[3] == 0x20814fac);
  CHECK(queue.compute_tmpring_size == 0);
}

// Command words of stock clients, taken from their traces (CREATE_QUEUE: the 96-byte form).
TEST_CASE("command words are those of stock clients") {
  CHECK(uapi::kGET_VERSION == 0x80084b01);
  CHECK(uapi::kCREATE_QUEUE == 0xc0604b02);
  CHECK(uapi::kSET_MEMORY_POLICY == 0x40204b04);
  CHECK(uapi::kGET_CLOCK_COUNTERS == 0xc0284b05);
  CHECK(uapi::kCREATE_EVENT == 0xc0204b08);
  CHECK(uapi::kWAIT_EVENTS == 0xc0184b0c);
  CHECK(uapi::kGET_PROCESS_APERTURES_NEW == 0xc0104b14);
  CHECK(uapi::kACQUIRE_VM == 0x40084b15);
  CHECK(uapi::kALLOC_MEMORY_OF_GPU == 0xc0284b16);
  CHECK(uapi::kMAP_MEMORY_TO_GPU == 0xc0184b18);
  CHECK(uapi::kEXPORT_DMABUF == 0xc0104b24);
  CHECK(uapi::kRUNTIME_ENABLE == 0xc0104b25);
}

TEST_CASE("the table names every number and no other") {
  CHECK(std::string(ioctl_name(0xc0604b02)) == "CREATE_QUEUE");
  CHECK(std::string(ioctl_name(0xc0584b02)) == "CREATE_QUEUE");
  CHECK(std::string(ioctl_name(0xc0184b20)) == "SVM");
  CHECK(ioctl_name(0xc0184b7f) == nullptr);
  CHECK(ioctl_name(0xc0406400) == nullptr);
  for (uint32_t nr = 1; nr <= 0x26; ++nr) CHECK(ioctl_name(uint32_t{'K'} << 8 | nr) != nullptr);
}
