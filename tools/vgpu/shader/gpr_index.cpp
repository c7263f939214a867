#include "tools/vgpu/shader/gpr_index.h"

#include "tools/vgpu/shader/scalar_operand.h"

namespace vgpu {
namespace {

constexpr uint32_t kIndexMask = 0xff, kSelectShift = 12, kSelectMask = 0xf << kSelectShift;
constexpr uint32_t kDestination = 3;  // bit of the selection; sources are bits 0..2

bool is_vector_alu(Format format) {
  switch (format) {
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc:
    case Format::kVop3:
    case Format::kVop3p: return true;
    default: return false;
  }
}

bool shift(Wave& wave, Operand& operand, uint32_t by) {
  if (!operand.is_vgpr()) return true;
  const uint32_t index = operand.index + by;
  if (index + operand.dwords > wave.vgpr_count) {
    wave.raise(WaveError::Kind::kIllegalInstruction, "an indexed vector register beyond the wave's allocation");
    return false;
  }
  operand.index = static_cast<uint16_t>(index);
  return true;
}

void set_mode(Wave& wave, bool on) {
  wave.mode = on ? wave.mode | Mode::kGprIndex : wave.mode & ~Mode::kGprIndex;
  wave.state = WaveState::kReindexed;
}

void set_field(Wave& wave, uint32_t mask, uint32_t value) { wave.s[kM0] = (wave.s[kM0] & ~mask) | (value & mask); }

}  // namespace

void execute_indexed(Wave& wave, const Inst& inst) {
  if (!is_vector_alu(inst.format)) return inst.exec(wave, inst);
  const uint32_t by = wave.s[kM0] & kIndexMask, select = wave.s[kM0] >> kSelectShift;
  Inst shifted = inst;
  for (uint32_t k = 0; k < 3; ++k) {
    if ((select >> k & 1) && !shift(wave, shifted.src[k], by)) return;
  }
  if ((select >> kDestination & 1) && !shift(wave, shifted.dst[0], by)) return;
  inst.exec(wave, shifted);
}

void exec_set_gpr_idx_on(Wave& wave, const Inst& inst) {
  set_field(wave, kIndexMask, scalar<uint32_t>(wave, inst.src[0]));
  set_field(wave, kSelectMask,
            static_cast<uint32_t>(inst.raw >> 8 & 0xf) << kSelectShift);  // the second source's code
  set_mode(wave, true);
}
void exec_set_gpr_idx_off(Wave& wave, const Inst&) { set_mode(wave, false); }
void exec_set_gpr_idx_idx(Wave& wave, const Inst& inst) {
  set_field(wave, kIndexMask, scalar<uint32_t>(wave, inst.src[0]));
}
void exec_set_gpr_idx_mode(Wave& wave, const Inst& inst) {
  set_field(wave, kSelectMask, static_cast<uint32_t>(inst.imm) << kSelectShift);
}

}  // namespace vgpu
