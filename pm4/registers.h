// Compute registers that SET_SH_REG reaches, as offsets from its base, and the fields of them that we use. The
// offsets are the same on gfx9 and gfx11 (kernel headers gc_9_0_offset.h, gc_11_0_0_offset.h) unless noted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "pm4/caps.h"

namespace barehip::pm4 {

namespace reg {
inline constexpr uint16_t kDispatchInitiator = 0x200, kDimX = 0x201, kStartX = 0x204, kNumThreadX = 0x207,
                          kNumThreadY = 0x208, kNumThreadZ = 0x209, kPgmLo = 0x20c, kPgmHi = 0x20d,
                          kDispatchPktAddrLo = 0x20e, kDispatchPktAddrHi = 0x20f, kScratchBaseLo = 0x210,
                          kScratchBaseHi = 0x211, kPgmRsrc1 = 0x212, kPgmRsrc2 = 0x213, kResourceLimits = 0x215,
                          kStaticThreadMgmtSe0 = 0x216, kTmpringSize = 0x218, kRestartX = 0x21b, kDispatchId = 0x220,
                          kUserData0 = 0x240;
inline constexpr uint16_t kUserDataCount = 16;
/// gfx90a and gfx942 have PGM_RSRC3 elsewhere than gfx11; earlier gfx9 have none.
inline constexpr uint16_t kPgmRsrc3Gfx90a = 0x22d, kPgmRsrc3Gfx11 = 0x228;
}  // namespace reg

/// COMPUTE_DISPATCH_INITIATOR.
namespace initiator {
inline constexpr uint32_t kShaderEnable = 1u << 0, kPartialGroups = 1u << 1, kForceStartAtZero = 1u << 2,
                          kUseThreadDimensions = 1u << 5, kOrderMode = 1u << 6, kScalarInvalidate = 1u << 10,
                          kVectorInvalidate = 1u << 11, kReserved12 = 1u << 12, kWave32 = 1u << 15;
}

/// COMPUTE_TMPRING_SIZE: waves in [11:0]; the size of a wave's scratch in the bits above, in units of the target.
struct TmpringFormat {
  uint32_t unit_bytes;
  uint8_t wavesize_bits;
  bool waves_per_shader_engine;  ///< else over all engines (of one XCC)
};
constexpr TmpringFormat tmpring_format(CapSet caps) {
  return caps.has(Cap::kGcr) ? TmpringFormat{256, 15, true} : TmpringFormat{1024, 13, false};
}
constexpr uint32_t make_tmpring_size(uint32_t waves, uint32_t wave_units) { return (waves & 0xfff) | wave_units << 12; }
constexpr uint32_t tmpring_waves(uint32_t value) { return value & 0xfff; }
constexpr uint32_t tmpring_wave_bytes(uint32_t value, const TmpringFormat& format) {
  return ((value >> 12) & ((1u << format.wavesize_bits) - 1)) * format.unit_bytes;
}

/// Name of a register at `offset` from the SET_SH_REG base, "" when the table has none. For printing.
std::string_view sh_register_name(uint16_t offset);

}  // namespace barehip::pm4
