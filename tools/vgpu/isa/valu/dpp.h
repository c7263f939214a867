// Where DPP (data parallel primitives) lanes come from.
#pragma once

#include <array>
#include <cstdint>

namespace vgpu::valu {

constexpr uint8_t kNoLane = 0xff;
using LaneMap = std::array<uint8_t, 64>;

/// Source lane of each lane for a 9-bit DPP16 control; kNoLane where it lies outside the row or wave. Every lane is
/// kNoLane for a control that does not exist. Constant time after the first use.
const LaneMap& dpp16_map(uint32_t control);

/// The same for eight 3-bit selectors.
LaneMap dpp8_map(uint32_t selectors);

}  // namespace vgpu::valu
