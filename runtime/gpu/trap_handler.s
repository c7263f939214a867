// The second-level trap handler: tells the host why a wave stopped, and halts it.
//
// The kernel driver's first-level handler enters here (Linux, amdkfd, cwsr_trap_handler_gfx9.asm and _gfx10.asm) with
//   ttmp0      PC[31:0]
//   ttmp1      PC[47:32], trap id in 23:16 (0: an exception, see TRAPSTS), 24: trap from the host
//   ttmp11     bit 23: a debugger is attached; gfx9: 31:26 what IB_STS must hold again
//   ttmp12     STATUS
//   ttmp14:15  TMA: amd_queue_t addresses by doorbell id, 0 where there is none (see Device::install_trap_handler)
// The message to the driver is M0 = doorbell id | reason bits << 10 (kfd_int_process_v9.c, kfd_int_process_v11.c), which
// raises the queue's exception when the process has enabled the runtime. Drivers from before that know no reasons: for
// them the queue's inactive signal says the same, and the message only wakes its waiter.
//
// Built once for each target; .amdgcn.gfx_generation_number chooses what differs.

.set TRAP_ID_SHIFT, 16
.set TRAP_ID_FIELD, TRAP_ID_SHIFT | (8 << 16)
.set HOST_TRAP_BIT, 24
.set DEBUGGER_BIT, 23
.set TRAP_ABORT, 2
.set TRAP_DEBUG, 3

.set STATUS_HALT_BIT, 13
.set TRAPSTS_MEM_VIOL_BIT, 8
.set TRAPSTS_ILLEGAL_BIT, 11
.set TRAPSTS_XNACK_ERROR_BIT, 28
.set TRAPSTS_MATH, 0x7f
.set MODE_MATH_ENABLE_SHIFT, 12

.set DOORBELL_MASK, 0x3ff
.set REASON_ABORT_BIT, 10
.set REASON_TRAP_BIT, 11
.set REASON_MATH_BIT, 12
.set REASON_ILLEGAL_BIT, 13
.set REASON_MEMORY_BIT, 14
.set REASON_APERTURE_BIT, 15

// amd_queue_t and amd_signal_t
.set QUEUE_INACTIVE_SIGNAL, 0xc0
.set SIGNAL_VALUE, 0x08
.set SIGNAL_MAILBOX, 0x10
.set SIGNAL_EVENT_ID, 0x18
.set INACTIVE_APERTURE, 0x20000000
.set INACTIVE_ILLEGAL, 0x40000000
.set INACTIVE_TRAP, 0x80000000

.macro wait_scalar
  s_waitcnt lgkmcnt(0)
.endm

.macro wait_stores
.if .amdgcn.gfx_generation_number >= 10
  s_waitcnt_vscnt null, 0x0
.else
  s_waitcnt vmcnt(0)
.endif
.endm

// 64 bits in v2:v3 to `offset` behind the address in ttmp4:5, past all caches.
.macro store_to_host offset
.if .amdgcn.gfx_generation_number >= 10
  global_store_b64 v0, v[2:3], ttmp[4:5] offset:\offset glc slc dlc
.elseif .amdgcn.gfx_generation_minor == 4
  global_store_dwordx2 v0, v[2:3], ttmp[4:5] offset:\offset sc0 sc1
.else
  global_store_dwordx2 v0, v[2:3], ttmp[4:5] offset:\offset glc slc
.endif
  wait_stores
.endm

.text
.globl trap_entry
.p2align 8
trap_entry:
  s_bfe_u32 ttmp2, ttmp1, TRAP_ID_FIELD
  s_cbranch_scc0 stop                       // an exception
  s_bitcmp1_b32 ttmp1, HOST_TRAP_BIT
  s_cbranch_scc1 resume                     // not ours: nothing to report
  s_add_u32 ttmp0, ttmp0, 4                 // behind s_trap
  s_addc_u32 ttmp1, ttmp1, 0
  s_cmp_eq_u32 ttmp2, TRAP_DEBUG
  s_cbranch_scc0 stop
  s_bitcmp1_b32 ttmp11, DEBUGGER_BIT
  s_cbranch_scc0 resume                     // __builtin_debugtrap without a debugger goes on

stop:
  // ttmp3 = doorbell id of this wave's queue
.if .amdgcn.gfx_generation_number >= 11
  s_sendmsg_rtn_b32 ttmp3, sendmsg(MSG_RTN_GET_DOORBELL)
  wait_scalar
.else
  s_mov_b32 ttmp4, exec_lo
  s_mov_b32 ttmp5, exec_hi
  s_brev_b32 exec_lo, 1                     // the answer clears bit 31
  s_sendmsg sendmsg(MSG_GET_DOORBELL)
ask_doorbell:
  s_nop 7
  s_bitcmp1_b32 exec_lo, 31
  s_cbranch_scc1 ask_doorbell
  s_mov_b32 ttmp3, exec_lo
  s_mov_b32 exec_lo, ttmp4
  s_mov_b32 exec_hi, ttmp5
.endif
  s_and_b32 ttmp3, ttmp3, DOORBELL_MASK

  // ttmp3 |= reasons. ttmp13 = the same as bits of the inactive signal.
  s_mov_b32 ttmp13, 0
  s_cmp_eq_u32 ttmp2, TRAP_ABORT
  s_cbranch_scc0 not_abort
  s_bitset1_b32 ttmp3, REASON_ABORT_BIT
  s_or_b32 ttmp13, ttmp13, INACTIVE_TRAP
not_abort:
  s_getreg_b32 ttmp2, hwreg(HW_REG_TRAPSTS)
  s_bitcmp1_b32 ttmp2, TRAPSTS_XNACK_ERROR_BIT
  s_cbranch_scc0 not_page_fault
  s_bitset1_b32 ttmp3, REASON_MEMORY_BIT    // the driver reports the page by its memory event
  s_branch not_aperture
not_page_fault:
  s_bitcmp1_b32 ttmp2, TRAPSTS_MEM_VIOL_BIT
  s_cbranch_scc0 not_aperture
  s_bitset1_b32 ttmp3, REASON_APERTURE_BIT
  s_or_b32 ttmp13, ttmp13, INACTIVE_APERTURE
not_aperture:
  s_bitcmp1_b32 ttmp2, TRAPSTS_ILLEGAL_BIT
  s_cbranch_scc0 not_illegal
  s_bitset1_b32 ttmp3, REASON_ILLEGAL_BIT
  s_or_b32 ttmp13, ttmp13, INACTIVE_ILLEGAL
not_illegal:
  s_getreg_b32 ttmp4, hwreg(HW_REG_MODE)
  s_lshr_b32 ttmp4, ttmp4, MODE_MATH_ENABLE_SHIFT
  s_and_b32 ttmp2, ttmp2, ttmp4
  s_and_b32 ttmp2, ttmp2, TRAPSTS_MATH
  s_cbranch_scc0 not_math
  s_bitset1_b32 ttmp3, REASON_MATH_BIT
  s_or_b32 ttmp13, ttmp13, INACTIVE_TRAP
not_math:
  s_andn2_b32 ttmp2, ttmp3, DOORBELL_MASK
  s_cbranch_scc1 have_reason
  s_bitset1_b32 ttmp3, REASON_TRAP_BIT      // any other s_trap
  s_or_b32 ttmp13, ttmp13, INACTIVE_TRAP
have_reason:

  // The inactive signal, where the TMA names the queue. The wave never runs on, so v0 to v3 may go.
  s_cmp_eq_u64 ttmp[14:15], 0
  s_cbranch_scc1 send
  s_cmp_eq_u32 ttmp13, 0
  s_cbranch_scc1 send
  s_dcache_inv
  s_and_b32 ttmp2, ttmp3, DOORBELL_MASK
  s_lshl_b32 ttmp2, ttmp2, 3
  s_load_dwordx2 ttmp[4:5], ttmp[14:15], ttmp2
  wait_scalar
  s_cmp_eq_u64 ttmp[4:5], 0
  s_cbranch_scc1 send
  s_load_dwordx2 ttmp[4:5], ttmp[4:5], QUEUE_INACTIVE_SIGNAL
  wait_scalar
  s_cmp_eq_u64 ttmp[4:5], 0
  s_cbranch_scc1 send
  s_mov_b64 exec, 1
  v_mov_b32 v0, 0
  v_mov_b32 v2, ttmp13
  v_mov_b32 v3, 0
  store_to_host SIGNAL_VALUE
  s_load_dword ttmp13, ttmp[4:5], SIGNAL_EVENT_ID
  s_load_dwordx2 ttmp[4:5], ttmp[4:5], SIGNAL_MAILBOX
  wait_scalar
  s_cmp_eq_u64 ttmp[4:5], 0
  s_cbranch_scc1 send
  v_mov_b32 v2, ttmp13
  store_to_host 0

send:
  s_mov_b32 ttmp2, m0
  s_mov_b32 m0, ttmp3
  s_nop 0
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, ttmp2
  s_bitset1_b32 ttmp12, STATUS_HALT_BIT
.if .amdgcn.gfx_generation_number < 10
  // A halted wave of gfx9 still fetches at its PC, which may be what faulted: halt it here. ttmp7 and ttmp11[22:7] keep the
  // place for a debugger.
  s_mov_b32 ttmp7, ttmp0
  s_and_b32 ttmp1, ttmp1, 0xffff
  s_lshl_b32 ttmp1, ttmp1, 7
  s_andn2_b32 ttmp11, ttmp11, 0x7fff80
  s_or_b32 ttmp11, ttmp11, ttmp1
  s_getpc_b64 ttmp[0:1]
after_getpc:
  s_add_u32 ttmp0, ttmp0, parked - after_getpc
  s_addc_u32 ttmp1, ttmp1, 0
.endif

resume:
.if .amdgcn.gfx_generation_number == 9
  s_lshr_b32 ttmp2, ttmp11, 11              // IB_STS[20:15] from ttmp11[31:26]
  s_and_b32 ttmp2, ttmp2, 0x1f8000
  s_setreg_b32 hwreg(HW_REG_IB_STS), ttmp2
.endif
  s_and_b64 exec, exec, exec                // EXECZ and VCCZ follow only a write
  s_and_b64 vcc, vcc, vcc
  s_setreg_b32 hwreg(HW_REG_STATUS), ttmp12
  s_rfe_b64 ttmp[0:1]

.if .amdgcn.gfx_generation_number < 10
parked:
  s_nop 0
  s_branch parked
.endif
