#include "tools/vgpu/isa/valu/dpp.h"

namespace vgpu::valu {
namespace {

constexpr uint8_t inside_row(int lane, int source) {
  return source >> 4 == lane >> 4 && source >= 0 ? static_cast<uint8_t>(source) : kNoLane;
}

constexpr uint8_t inside_wave(int source) {
  return source >= 0 && source < 64 ? static_cast<uint8_t>(source) : kNoLane;
}

constexpr uint8_t source_lane(uint32_t control, int lane) {
  const int row = lane & ~15, in_row = lane & 15, n = static_cast<int>(control & 15);
  if (control < 0x100) return static_cast<uint8_t>((lane & ~3) + static_cast<int>(control >> (2 * (lane & 3)) & 3));
  switch (control >> 4) {
    case 0x10: return n == 0 ? kNoLane : inside_row(lane, lane + n);                       // row_shl
    case 0x11: return n == 0 ? kNoLane : inside_row(lane, lane - n);                       // row_shr
    case 0x12: return n == 0 ? kNoLane : static_cast<uint8_t>(row + ((in_row - n) & 15));  // row_ror
    case 0x15: return static_cast<uint8_t>(row + n);                                       // row_share, newbcast
    case 0x16: return static_cast<uint8_t>(row + (in_row ^ n));                            // row_xmask
    default: break;
  }
  switch (control) {
    case 0x130: return inside_wave(lane + 1);                                // wave_shl
    case 0x134: return static_cast<uint8_t>((lane + 1) & 63);                // wave_rol
    case 0x138: return inside_wave(lane - 1);                                // wave_shr
    case 0x13c: return static_cast<uint8_t>((lane - 1) & 63);                // wave_ror
    case 0x140: return static_cast<uint8_t>(row + 15 - in_row);              // row_mirror
    case 0x141: return static_cast<uint8_t>((lane & ~7) + 7 - (lane & 7));   // row_half_mirror
    case 0x142: return lane < 16 ? kNoLane : static_cast<uint8_t>(row - 1);  // row_bcast:15
    case 0x143: return lane < 32 ? kNoLane : uint8_t{31};                    // row_bcast:31
    default: return kNoLane;
  }
}

using Maps = std::array<LaneMap, 512>;

}  // namespace

const LaneMap& dpp16_map(uint32_t control) {
  static const Maps& maps = *[] {
    auto* made = new Maps;
    for (uint32_t c = 0; c < made->size(); ++c)
      for (int lane = 0; lane < 64; ++lane) (*made)[c][static_cast<unsigned>(lane)] = source_lane(c, lane);
    return made;
  }();
  return maps[control & 511];
}

LaneMap dpp8_map(uint32_t selectors) {
  LaneMap map;
  for (uint32_t lane = 0; lane < 64; ++lane)
    map[lane] = static_cast<uint8_t>((lane & ~7u) + (selectors >> (3 * (lane & 7)) & 7));
  return map;
}

}  // namespace vgpu::valu
