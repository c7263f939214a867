// A second-level trap handler that tells all it sees in interrupts, and programs that enter it. One file for both
// targets: the build defines GFX11 where it is meant.
  .text

#ifdef GFX11
#define TELL s_sendmsg sendmsg(MSG_INTERRUPT); s_nop 0
#else
#define TELL s_sendmsg sendmsg(MSG_INTERRUPT); s_nop 0
#endif

  .globl handler
  .protected handler
  .type handler,@function
  .p2align 8
handler:
  s_mov_b32 ttmp4, m0
  s_lshr_b32 m0, ttmp1, 16           // trap id
  TELL
  s_getreg_b32 m0, hwreg(HW_REG_TRAPSTS)
  TELL
  s_mov_b32 m0, ttmp12               // STATUS
  TELL
  s_mov_b32 m0, ttmp0                // PC
  TELL
  s_mov_b32 m0, ttmp14               // TMA
  TELL
#ifdef GFX11
  s_sendmsg_rtn_b32 ttmp5, sendmsg(MSG_RTN_GET_DOORBELL)
  s_waitcnt lgkmcnt(0)
#else
  s_mov_b64 ttmp[2:3], exec
  s_mov_b32 exec_lo, 0x80000000
  s_sendmsg sendmsg(MSG_GET_DOORBELL)
handler_wait:
  s_nop 7
  s_bitcmp0_b32 exec_lo, 31
  s_cbranch_scc0 handler_wait
  s_mov_b32 ttmp5, exec_lo
  s_mov_b64 exec, ttmp[2:3]
#endif
  s_mov_b32 m0, ttmp5
  TELL
  s_mov_b32 m0, ttmp4
  s_bfe_u32 ttmp5, ttmp1, 0x80010    // trap id again
  s_cmp_eq_u32 ttmp5, 3
  s_cbranch_scc0 handler_halt
  s_add_u32 ttmp0, ttmp0, 4
  s_addc_u32 ttmp1, ttmp1, 0
  s_branch handler_leave
handler_halt:
  s_or_b32 ttmp12, ttmp12, 0x2000    // STATUS.HALT
handler_leave:
  s_and_b32 ttmp1, ttmp1, 0xffff
  s_setreg_b32 hwreg(HW_REG_STATUS), ttmp12
  s_rfe_b64 ttmp[0:1]

  .macro program name
  .globl \name
  .protected \name
  .type \name,@function
  .p2align 8
\name:
  .endm

  program trap_and_go_on
  s_mov_b32 s20, 0x123456
  s_mov_b32 m0, 0x42
  s_cmp_eq_u32 s20, 0x123456         // SCC = 1 has to survive
  s_trap 3
  s_cbranch_scc0 trap_lost
  s_sendmsg sendmsg(MSG_INTERRUPT)   // M0 has to survive
  s_nop 0
trap_lost:
  s_endpgm

  program trap_and_stop
  s_nop 0
  s_trap 2
  s_mov_b32 m0, 0xbad
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_endpgm

  program illegal
  s_nop 0
  s_nop 0
  s_nop 0
  .long 0xbe80ff00                   // SOP1 with an opcode that no target has
  s_endpgm

  program memory_violation
  s_mov_b32 s20, 0
  s_mov_b32 s21, 0x5432
  s_load_dword s22, s[20:21], 0x10
  s_endpgm

  program rfe_outside
  s_rfe_b64 s[0:1]
  s_endpgm

  program barrier_never
  s_cmp_eq_u32 ttmp11, 0
  s_cbranch_scc1 barrier_waits
  s_sethalt 1
barrier_waits:
  s_barrier
  s_endpgm

  program clocks
  s_mov_b32 s19, 64
clocks_loop:
  s_sleep 1
  s_sub_u32 s19, s19, 1
  s_cbranch_scc0 clocks_more
clocks_more:
  s_cmp_lg_u32 s19, 0
  s_cbranch_scc1 clocks_loop
#ifdef GFX11
  s_sendmsg_rtn_b64 s[20:21], sendmsg(MSG_RTN_GET_REALTIME)
  s_waitcnt lgkmcnt(0)
  s_sendmsg_rtn_b64 s[22:23], sendmsg(MSG_RTN_GET_REALTIME)
#else
  s_memrealtime s[20:21]
  s_waitcnt lgkmcnt(0)
  s_memrealtime s[22:23]
#endif
  s_waitcnt lgkmcnt(0)
  s_sub_u32 m0, s22, s20
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_endpgm

  program registers
  s_getreg_b32 m0, hwreg(HW_REG_MODE)
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5
  s_getreg_b32 m0, hwreg(HW_REG_MODE, 0, 8)
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_getreg_b32 m0, hwreg(HW_REG_LDS_ALLOC)
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_endpgm

  program calls
  s_mov_b32 s30, 0
  s_getpc_b64 s[4:5]
calls_here:
  s_add_u32 s4, s4, calls_function-calls_here
  s_addc_u32 s5, s5, 0
  s_swappc_b64 s[6:7], s[4:5]
  s_call_b64 s[6:7], calls_function
  s_mov_b32 m0, s30
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_endpgm
calls_function:
  s_add_u32 s30, s30, 21
  s_setpc_b64 s[6:7]
