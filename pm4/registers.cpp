#include "pm4/registers.h"

#include <algorithm>
#include <array>

namespace barehip::pm4 {
namespace {

struct Row {
  uint16_t offset;
  std::string_view name;
};

constexpr std::array kRows = std::to_array<Row>({
    {0x200, "COMPUTE_DISPATCH_INITIATOR"},
    {0x201, "COMPUTE_DIM_X"},
    {0x202, "COMPUTE_DIM_Y"},
    {0x203, "COMPUTE_DIM_Z"},
    {0x204, "COMPUTE_START_X"},
    {0x205, "COMPUTE_START_Y"},
    {0x206, "COMPUTE_START_Z"},
    {0x207, "COMPUTE_NUM_THREAD_X"},
    {0x208, "COMPUTE_NUM_THREAD_Y"},
    {0x209, "COMPUTE_NUM_THREAD_Z"},
    {0x20c, "COMPUTE_PGM_LO"},
    {0x20d, "COMPUTE_PGM_HI"},
    {0x20e, "COMPUTE_DISPATCH_PKT_ADDR_LO"},
    {0x20f, "COMPUTE_DISPATCH_PKT_ADDR_HI"},
    {0x210, "COMPUTE_DISPATCH_SCRATCH_BASE_LO"},
    {0x211, "COMPUTE_DISPATCH_SCRATCH_BASE_HI"},
    {0x212, "COMPUTE_PGM_RSRC1"},
    {0x213, "COMPUTE_PGM_RSRC2"},
    {0x214, "COMPUTE_VMID"},
    {0x215, "COMPUTE_RESOURCE_LIMITS"},
    {0x216, "COMPUTE_STATIC_THREAD_MGMT_SE0"},
    {0x217, "COMPUTE_STATIC_THREAD_MGMT_SE1"},
    {0x218, "COMPUTE_TMPRING_SIZE"},
    {0x219, "COMPUTE_STATIC_THREAD_MGMT_SE2"},
    {0x21a, "COMPUTE_STATIC_THREAD_MGMT_SE3"},
    {0x21b, "COMPUTE_RESTART_X"},
    {0x21c, "COMPUTE_RESTART_Y"},
    {0x21d, "COMPUTE_RESTART_Z"},
    {0x21e, "COMPUTE_THREAD_TRACE_ENABLE"},
    {0x220, "COMPUTE_DISPATCH_ID"},
    {0x240, "COMPUTE_USER_DATA_0"},
    {0x241, "COMPUTE_USER_DATA_1"},
    {0x242, "COMPUTE_USER_DATA_2"},
    {0x243, "COMPUTE_USER_DATA_3"},
    {0x244, "COMPUTE_USER_DATA_4"},
    {0x245, "COMPUTE_USER_DATA_5"},
    {0x246, "COMPUTE_USER_DATA_6"},
    {0x247, "COMPUTE_USER_DATA_7"},
    {0x248, "COMPUTE_USER_DATA_8"},
    {0x249, "COMPUTE_USER_DATA_9"},
    {0x24a, "COMPUTE_USER_DATA_10"},
    {0x24b, "COMPUTE_USER_DATA_11"},
    {0x24c, "COMPUTE_USER_DATA_12"},
    {0x24d, "COMPUTE_USER_DATA_13"},
    {0x24e, "COMPUTE_USER_DATA_14"},
    {0x24f, "COMPUTE_USER_DATA_15"},
});

}  // namespace

std::string_view sh_register_name(uint16_t offset) {
  const auto* it = std::ranges::find(kRows, offset, &Row::offset);
  return it == kRows.end() ? std::string_view{} : it->name;
}

}  // namespace barehip::pm4
