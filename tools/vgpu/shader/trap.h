// Entry into the second-level trap handler, as the driver's first-level handler makes it.
//
// The first-level handler (Linux amdkfd, cwsr_trap_handler_gfx9.asm and _gfx10.asm, non-debugger paths) jumps to the
// second level with: TTMP0/1 = PC[47:0] of the instruction that trapped and TTMP1[23:16] = trap id; TTMP2/3 = TBA;
// TTMP12 = STATUS without SPI_PRIO; TTMP14/15 = TMA; SCC clobbered; EXEC, VCC, M0 and SGPRs untouched. For an illegal
// instruction or a memory violation TRAPSTS says so; on gfx9 it also sets HALT in TTMP12 and moves the PC back by 8 for
// both, on gfx11 it sets HALT for memory violations only.
#pragma once

#include <cstdint>

#include "tools/vgpu/shader/wave.h"

namespace vgpu {

/// s_trap `trap_id` at wave.pc. The dispatch must have a handler.
void enter_trap(Wave& wave, uint32_t trap_id);

/// Turns the error of a faulted wave into a trap. False: that kind of error does not trap.
bool enter_trap_for_error(Wave& wave);

/// s_rfe_b64: back to `target`; the wave halts there when its STATUS says so.
void return_from_trap(Wave& wave, uint64_t target);

}  // namespace vgpu
