#include "tools/vgpu/shader/trap.h"

#include "tools/vgpu/shader/hwreg.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {
namespace {

void enter(Wave& wave, uint64_t pc, uint32_t trap_id, bool halt_after) {
  const Dispatch& d = wave.group->dispatch->dispatch;
  wave.priv = true;
  const uint32_t status = (wave_status(wave) & ~Status::kSpiPriority) | (halt_after ? Status::kHalt : 0);
  wave.s[kTtmp0] = static_cast<uint32_t>(pc);
  wave.s[kTtmp0 + 1] = (static_cast<uint32_t>(pc >> 32) & 0xffff) | (trap_id & 0xff) << 16;
  wave.set_s64(kTtmp0 + 2, d.trap_tba);
  wave.s[kTtmp0 + 12] = status;
  wave.set_s64(kTtmp0 + 14, d.trap_tma);
  wave.set_scc(true);  // left over from the test whether a handler is there
  wave.next_pc = d.trap_tba;
}

}  // namespace

void enter_trap(Wave& wave, uint32_t trap_id) { enter(wave, wave.pc, trap_id, false); }

bool enter_trap_for_error(Wave& wave) {
  const bool gfx11 = wave.group->dispatch->target->gfx11;
  uint32_t cause = 0;
  switch (wave.error.kind) {
    case WaveError::Kind::kMemoryFault:
    case WaveError::Kind::kApertureViolation: cause = TrapStatus::kMemoryViolation; break;
    case WaveError::Kind::kIllegalInstruction: cause = TrapStatus::kIllegalInstruction; break;
    default: return false;
  }
  wave.trap_status |= cause;
  const bool memory = cause == TrapStatus::kMemoryViolation;
  enter(wave, gfx11 ? wave.pc : wave.pc - 8, 0, memory || !gfx11);
  wave.pc = wave.next_pc;
  wave.state = WaveState::kRunning;
  return true;
}

void return_from_trap(Wave& wave, uint64_t target) {
  wave.priv = false;
  wave.next_pc = target & 0xffffffffffffull;
  if (!wave.halt) return;
  wave.state = WaveState::kHalted;
  wave.group->dispatch->trapped = true;
}

}  // namespace vgpu
