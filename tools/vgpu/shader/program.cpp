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

// gfx9's branches of both ways: lanes that go one way run first, the others wait on a stack of four SGPRs each, whose
// depth is in MODE. The smaller part runs first, so that the stack stays small.
constexpr uint32_t kStackDepthShift = 29;

void fork(Wave& w, uint64_t taken, uint64_t target) {
  const uint64_t exec = w.exec(), pass = taken & exec, fail = ~taken & exec;
  if (pass == exec) {
    w.next_pc = target;
    return;
  }
  if (fail == exec) return;
  const uint32_t depth = w.mode >> kStackDepthShift;
  const bool fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);
  w.set_s64(depth * 4, fail_first ? pass : fail);
  w.set_s64(depth * 4 + 2, fail_first ? target : w.next_pc);
  w.set_mask(kExecLo, fail_first ? fail : pass);
  w.mode += 1u << kStackDepthShift;
  if (!fail_first) w.next_pc = target;
}

void fork_to_address(Wave& w, const Inst& i) {
  fork(w, scalar<uint64_t>(w, i.src[0]), scalar<uint64_t>(w, i.src[1]) & ~3ull);
}
void fork_to_label(Wave& w, const Inst& i) {
  fork(w, scalar<uint64_t>(w, i.src[0]), w.next_pc + static_cast<uint64_t>(int64_t{i.imm} * 4));
}

void join(Wave& w, const Inst& i) {
  if (w.mode >> kStackDepthShift == scalar<uint32_t>(w, i.src[0])) return;
  w.mode -= 1u << kStackDepthShift;
  const uint32_t depth = w.mode >> kStackDepthShift;
  w.set_mask(kExecLo, w.s64(depth * 4));
  w.next_pc = w.s64(depth * 4 + 2);
}

// gfx11, 64 lanes: the loop's body runs for the low and then for the high half, if they have lanes.
void half_loop_begin(Wave& w, const Inst& i) {
  uint32_t& other = w.s[i.src[0].index];
  if (w.s64(kExecLo) == 0) return jump(w, i);
  if (w.s[kExecLo] == 0) {
    other = 0;
    return;
  }
  other = w.s[kExecHi];
  w.s[kExecHi] = 0;
}

void half_loop_end(Wave& w, const Inst& i) {
  uint32_t& other = w.s[i.src[0].index];
  if (w.s[kExecHi] != 0) {
    w.s[kExecLo] = other;
  } else if (other != 0) {
    w.s[kExecHi] = other;
    other = w.s[kExecLo];
    w.s[kExecLo] = 0;
    jump(w, i);
  }
}

void kill(Wave& w, const Inst& i) {
  if (i.imm & 1) w.state = WaveState::kEnded;
}

void code_end(Wave& w, const Inst&) {
  w.raise(WaveError::Kind::kIllegalInstruction, "the padding behind the program was reached");
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
    {"s_rfe_restore_b64", rfe},
    {"s_cbranch_g_fork", fork_to_address},
    {"s_cbranch_i_fork", fork_to_label},
    {"s_cbranch_join", join},
    {"s_subvector_loop_begin", half_loop_begin},
    {"s_subvector_loop_end", half_loop_end},
    {"s_setkill", kill},
    {"s_code_end", code_end},
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
