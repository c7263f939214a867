// GPR index mode of gfx9: while MODE says so, M0[7:0] is added to the numbers of vector registers of vector ALU
// instructions, for the operands that M0[15:12] selects (source 0, 1, 2, destination).
#pragma once

#include "tools/vgpu/isa/inst.h"
#include "tools/vgpu/shader/wave.h"

namespace vgpu {

inline bool gpr_indexed(const Wave& wave) { return (wave.mode & Mode::kGprIndex) != 0; }

/// Executes `inst` with its register numbers shifted; raises when one is beyond the wave's allocation.
void execute_indexed(Wave& wave, const Inst& inst);

void exec_set_gpr_idx_on(Wave& wave, const Inst& inst);
void exec_set_gpr_idx_off(Wave& wave, const Inst& inst);
void exec_set_gpr_idx_idx(Wave& wave, const Inst& inst);
void exec_set_gpr_idx_mode(Wave& wave, const Inst& inst);

}  // namespace vgpu
