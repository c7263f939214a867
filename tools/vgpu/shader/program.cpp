// Program control: branches, calls, barriers, messages, traps, hardware registers, and what only orders or waits.
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/gpr_index.h"
#include "tools/vgpu/shader/hwreg.h"
#include "tools/vgpu/shader/scalar_operand.h"
#include "tools/vgpu/shader/trap.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {
namespace {

void jump(Wave& w, const Inst& i) { w.next_pc += static_cast<int64_t>(i.imm) * 4; }

template <bool (*Condition)(const Wave&)>
void branch_if(Wave& w, const Inst& i) {
  if (Condition(w)) jump(w, i);
}
bool scc0(const Wave& w) { return w.scc() == 0; }
bool scc1(const Wave& w) { return w.scc() != 0; }
bool vccz(const Wave& w) { return w.vcc() == 0; }
bool vccnz(const Wave& w) { return w.vcc() != 0; }
bool execz(const Wave& w) { return w.exec() == 0; }
bool execnz(const Wave& w) { return w.exec() != 0; }

void nothing(Wave&, const Inst&) {}

void getpc(Wave& w, const Inst& i) { set_scalar(w, i.dst[0], w.next_pc); }
void setpc(Wave& w, const Inst& i) { w.next_pc = scalar<uint64_t>(w, i.src[0]) & ~3ull; }
void swappc(Wave& w, const Inst& i) {
  const uint64_t target = scalar<uint64_t>(w, i.src[0]) & ~3ull;
  set_scalar(w, i.dst[0], w.next_pc);
  w.next_pc = target;
}
void call(Wave& w, const Inst& i) {
  set_scalar(w, i.dst[0], w.next_pc);
  jump(w, i);
}

void end_program(Wave& w, const Inst&) { w.state = WaveState::kEnded; }
void barrier(Wave& w, const Inst&) {
  if (w.group->waves.size() > 1) w.state = WaveState::kBarrier;
}
void yield(Wave& w, const Inst& i) {
  if (i.imm != 0) w.state = WaveState::kYielded;
}

// HALT is kept, and without effect, while the trap handler runs.
void set_halt(Wave& w, const Inst& i) {
  w.halt = (i.imm & 1) != 0;
  if (w.halt && !w.priv) w.state = WaveState::kHalted;
}

void trap(Wave& w, const Inst& i) {
  if (w.priv) return w.raise(WaveError::Kind::kUnsupported, "a trap inside the trap handler");
  if (w.group->dispatch->dispatch.trap_tba != 0) return enter_trap(w, static_cast<uint32_t>(i.imm) & 0xff);
  w.raise(WaveError::Kind::kTrapWithoutHandler, "no trap handler is set: the wave halts and the host is not told");
}

void rfe(Wave& w, const Inst& i) {
  if (!w.priv) return w.raise(WaveError::Kind::kIllegalInstruction, "only a trap handler may return from a trap");
  return_from_trap(w, scalar<uint64_t>(w, i.src[0]));
}

// Message ids as in LLVM's SIDefines.
enum Message : uint32_t {
  kInterrupt = 1,
  kDeallocVgprs = 3,
  kGetDoorbellGfx9 = 10,
  kRtnDoorbell = 128,
  kRtnDdid = 129,
  kRtnTma = 130,
  kRtnRealtime = 131,
  kRtnTba = 133,
};

void send_message(Wave& w, const Inst& i) {
  const bool gfx11 = w.group->dispatch->target->gfx11;
  const uint32_t id = static_cast<uint32_t>(i.imm) & (gfx11 ? 0xff : 0xf);
  if (id == kInterrupt) return w.group->host->interrupt(w, w.s[kM0] & 0xffffff);
  if (gfx11 && id == kDeallocVgprs) {
    w.vgpr_count = 0;
    return;
  }
  if (!gfx11 && id == kGetDoorbellGfx9) {
    w.s[kExecLo] = w.group->dispatch->dispatch.doorbell_id & 0x3ff;  // bit 31 clear: answered
    return;
  }
  w.raise(WaveError::Kind::kUnsupported, "message " + std::to_string(id) + " is not modelled");
}

void send_message_halt(Wave& w, const Inst& i) {
  send_message(w, i);
  if (w.state == WaveState::kRunning) {
    w.halt = true;
    if (!w.priv) w.state = WaveState::kHalted;
  }
}

void send_message_return(Wave& w, const Inst& i) {
  const Dispatch& d = w.group->dispatch->dispatch;
  // The message number is the source operand itself.
  const uint32_t id = i.src[0] ? i.src[0].code : static_cast<uint32_t>(i.imm) & 0xff;
  uint64_t answer = 0;
  switch (id) {
    case kRtnDoorbell: answer = d.doorbell_id & 0x3ff; break;
    case kRtnDdid: answer = d.dispatch_index; break;
    case kRtnTma: answer = d.trap_tma; break;
    case kRtnRealtime: answer = w.group->host->gpu_clock(); break;
    case kRtnTba: answer = d.trap_tba; break;
    default: return w.raise(WaveError::Kind::kUnsupported, "message " + std::to_string(id) + " is not modelled");
  }
  w.s[i.dst[0].index] = static_cast<uint32_t>(answer);
  if (i.op == Op::s_sendmsg_rtn_b64) w.s[i.dst[0].index + 1] = static_cast<uint32_t>(answer >> 32);
}

template <uint32_t kShift>
void set_mode(Wave& w, const Inst& i) {
  w.mode = (w.mode & ~(15u << kShift)) | (static_cast<uint32_t>(i.imm) & 15) << kShift;
}

void invalidate_instructions(Wave& w, const Inst&) {
  w.group->host->invalidate_instructions();
  w.state = WaveState::kYielded;
}

constexpr ExecEntry kEntries[] = {
    {"s_branch", jump},
    {"s_cbranch_scc0", branch_if<scc0>},
    {"s_cbranch_scc1", branch_if<scc1>},
    {"s_cbranch_vccz", branch_if<vccz>},
    {"s_cbranch_vccnz", branch_if<vccnz>},
    {"s_cbranch_execz", branch_if<execz>},
    {"s_cbranch_execnz", branch_if<execnz>},
    {"s_cbranch_cdbgsys", nothing},  // no debugger is attached: its condition bits are 0
    {"s_cbranch_cdbguser", nothing},
    {"s_cbranch_cdbgsys_or_user", nothing},
    {"s_cbranch_cdbgsys_and_user", nothing},
    {"s_getpc_b64", getpc},
    {"s_setpc_b64", setpc},
    {"s_swappc_b64", swappc},
    {"s_call_b64", call},
    {"s_rfe_b64", rfe},
    {"s_endpgm", end_program},
    {"s_endpgm_saved", end_program},
    {"s_barrier", barrier},
    {"s_sleep", yield},
    {"s_sethalt", set_halt},
    {"s_trap", trap},
    {"s_sendmsg", send_message},
    {"s_sendmsghalt", send_message_halt},
    {"s_sendmsg_rtn_b32", send_message_return},
    {"s_sendmsg_rtn_b64", send_message_return},
    {"s_getreg_b32", exec_getreg},
    {"s_setreg_b32", exec_setreg},
    {"s_setreg_imm32_b32", exec_setreg_imm32},
    {"s_round_mode", set_mode<0>},
    {"s_denorm_mode", set_mode<4>},
    {"s_icache_inv", invalidate_instructions},
    {"s_set_gpr_idx_on", exec_set_gpr_idx_on},
    {"s_set_gpr_idx_off", exec_set_gpr_idx_off},
    {"s_set_gpr_idx_idx", exec_set_gpr_idx_idx},
    {"s_set_gpr_idx_mode", exec_set_gpr_idx_mode},
    // Instructions execute one after the other, so what only waits or gives hints has nothing to do.
    {"s_nop", nothing},
    {"s_waitcnt", nothing},
    {"s_waitcnt_depctr", nothing},
    {"s_waitcnt_vmcnt", nothing},
    {"s_waitcnt_vscnt", nothing},
    {"s_waitcnt_lgkmcnt", nothing},
    {"s_waitcnt_expcnt", nothing},
    {"s_wait_idle", nothing},
    {"s_wait_event", nothing},
    {"s_delay_alu", nothing},
    {"s_clause", nothing},
    {"s_setprio", nothing},
    {"s_set_inst_prefetch_distance", nothing},
    {"s_singleuse_vdst", nothing},
    {"s_version", nothing},
    {"s_wakeup", nothing},
    {"s_incperflevel", nothing},
    {"s_decperflevel", nothing},
    {"s_ttracedata", nothing},
    {"s_ttracedata_imm", nothing},
};

}  // namespace

std::span<const ExecEntry> program_exec_entries() { return kEntries; }

}  // namespace vgpu
