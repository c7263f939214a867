#include "pm4/caps.h"

#include <algorithm>
#include <array>

namespace barehip::pm4 {
namespace {

// Sources: BARRIER_VALUE and the 22-bit count of the older engines (gfx942's too) are what stock runtimes ask for by
// target; field widths are those of the kernel's SDMA packet headers (version 4: 22 bits, though gfx90a copies more at
// once for stock runtimes; version 6: 30 bits); the rest is seen in the queues of stock programs. Nobody fills more
// than 22 bits' worth at once.
constexpr CapSet kGfx900{Cap::kAqlPm4Ib};
constexpr CapSet kGfx90a{Cap::kAqlPm4Ib, Cap::kAqlBarrierValue, Cap::kSdmaCount30};
constexpr CapSet kGfx942{Cap::kAqlPm4Ib, Cap::kAqlBarrierValue};
constexpr CapSet kGfx11{
    Cap::kAqlPm4Ib,   Cap::kGcr,        Cap::kWaitRegMem64, Cap::kDispatchWave32,  Cap::kSdmaCount30,
    Cap::kSdmaFill30, Cap::kSdmaGcrReq, Cap::kSdmaMtype,    Cap::kSdmaCachePolicy, Cap::kSdmaBackwardsCopy};

constexpr uint32_t kShort = 0x3fffe0, kLong = 0x3fffffe0;
constexpr PacketLimits kShortCopies900{
    .sdma_max_copy_bytes = kShort, .sdma_max_fill_bytes = kShort, .sdma_min_submit_dwords = 64};
constexpr PacketLimits kShortCopies{
    .sdma_max_copy_bytes = kShort, .sdma_max_fill_bytes = kShort, .sdma_min_submit_dwords = 0};
constexpr PacketLimits kLongCopies{
    .sdma_max_copy_bytes = kLong, .sdma_max_fill_bytes = kShort, .sdma_min_submit_dwords = 0};

constexpr std::array kTable = std::to_array<PacketCaps>({
    {90000, kGfx900, kShortCopies900},
    {90006, kGfx900, kShortCopies},
    {90008, kGfx900, kShortCopies},
    {90010, kGfx90a, kLongCopies},
    {90402, kGfx942, kShortCopies},
    {110000, kGfx11, kLongCopies},
    {110001, kGfx11, kLongCopies},
    {110002, kGfx11, kLongCopies},
    {110003, kGfx11, kLongCopies},
    {110500, kGfx11, kLongCopies},
    {110501, kGfx11, kLongCopies},
});

constexpr std::array<std::string_view, static_cast<size_t>(Cap::kCount)> kNames = {
    "AQL_PM4_IB",   "AQL_BARRIER_VALUE", "GCR",        "WAIT_REG_MEM64",    "DISPATCH_WAVE32",     "SDMA_COUNT_30",
    "SDMA_FILL_30", "SDMA_GCR_REQ",      "SDMA_MTYPE", "SDMA_CACHE_POLICY", "SDMA_BACKWARDS_COPY",
};

}  // namespace

const PacketCaps* find_packet_caps(uint32_t gfx_target_version) {
  const auto* it = std::ranges::find(kTable, gfx_target_version, &PacketCaps::gfx_target_version);
  return it == kTable.end() ? nullptr : it;
}

std::string_view to_string(Cap cap) {
  return cap < Cap::kCount ? kNames[static_cast<size_t>(cap)] : std::string_view("?");
}

}  // namespace barehip::pm4
