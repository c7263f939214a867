// Hardware registers that s_getreg and s_setreg reach.
#pragma once

#include <cstdint>

#include "tools/vgpu/shader/wave.h"

namespace vgpu {

/// Bits of HW_REG_STATUS (same places on gfx9 and gfx11).
struct Status {
  static constexpr uint32_t kScc = 1, kSpiPriority = 6, kPriv = 1 << 5, kTrapEnabled = 1 << 6, kExecz = 1 << 9,
                            kVccz = 1 << 10, kInGroup = 1 << 11, kHalt = 1 << 13, kValid = 1 << 16;
};
/// Bits of HW_REG_TRAPSTS.
struct TrapStatus {
  static constexpr uint32_t kMemoryViolation = 1 << 8, kIllegalInstruction = 1 << 11;
};

uint32_t wave_status(const Wave& wave);

// The instructions' bodies; they raise for registers that vgpu does not have.
void exec_getreg(Wave& wave, const struct Inst& inst);
void exec_setreg(Wave& wave, const struct Inst& inst);
void exec_setreg_imm32(Wave& wave, const struct Inst& inst);

}  // namespace vgpu
