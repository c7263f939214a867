// One wave of a shader core: its registers and everything that an instruction may touch while it executes.
//
// How an instruction executes: the decoder (tools/vgpu/isa) yields an Inst that is kept for as long as its address is
// cached, and whose `exec` is an ExecFn. The engine sets `pc` to the instruction and `next_pc` behind it, then calls
// inst.exec(wave, inst). The function reads and writes the registers below, in place. Nothing is returned: a branch
// sets `next_pc`, an error calls raise(), everything that stops the wave sets `state`.
//
// Scalar registers: `s` is indexed by the canonical scalar number, which is the 8-bit operand code of the gfx9
// encoding for 0..127. The decoder maps what differs per target (M0 and NULL of gfx11) and the read-only sources to
// the slots beyond 127, so that every scalar operand that is not a constant is a plain index, 64-bit operands too.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "tools/vgpu/shader/engine.h"

namespace vgpu {

struct Inst;       // tools/vgpu/isa
struct WorkGroup;  // tools/vgpu/shader/work_group.h
class Wave;
class MemoryPort;  // tools/vgpu/shader/memory_port.h

/// Executes one decoded instruction on one wave. Never throws, never blocks, allocates nothing unless it raises.
using ExecFn = void (*)(Wave&, const Inst&);

/// Canonical scalar register numbers (index into Wave::s).
enum SReg : uint16_t {
  kSgpr0 = 0,            ///< 0..105 (gfx9 has 102/103 FLAT_SCRATCH and 104/105 XNACK_MASK here)
  kFlatScratchLo = 102,  ///< gfx9 only
  kXnackMaskLo = 104,    ///< gfx9 only
  kVccLo = 106,
  kVccHi = 107,
  kTtmp0 = 108,  ///< 108..123
  kM0 = 124,     ///< for all targets (operand code 125 on gfx11)
  kExecLo = 126,
  kExecHi = 127,
  kSharedBase = 128,  ///< two dwords each: operand codes 235..238
  kSharedLimit = 130,
  kPrivateBase = 132,
  kPrivateLimit = 134,
  kZero = 136,  ///< four dwords, always 0: NULL as a source
  kSink = 140,  ///< sixteen dwords, write-only: NULL as a destination
  kScc = 156,   ///< the SCC bit, 0 or 1 (operand code 253)
  kScalarSlots = 160,
};

/// Bits of the MODE register that matter here (HW_REG_MODE).
struct Mode {
  static constexpr uint32_t kRound32Shift = 0, kRound64Shift = 2;    ///< two bits: 0 even, 1 up, 2 down, 3 to zero
  static constexpr uint32_t kDenorm32Shift = 4, kDenorm64Shift = 6;  ///< two bits: 3 keeps all; 64 covers f16 too
  static constexpr uint32_t kDx10Clamp = 1u << 8, kIeee = 1u << 9;
  static constexpr uint32_t kGprIndex = 1u << 27;  ///< gfx9: M0 shifts vector register numbers
};

enum class WaveState : uint8_t {
  kRunning,
  kReindexed,  ///< runs on, and how vector registers are numbered may have changed (gfx9 GPR index mode)
  kYielded,    ///< s_sleep and its like: runnable, but another wave goes first
  kBarrier,    ///< waits for the rest of its work-group
  kHalted,     ///< s_sethalt, or a trap that nobody handles; only the end of the dispatch frees it
  kFaulted,    ///< raise() was called; `error` says why
  kEnded,
};

class Wave {
 public:
  // --- registers -----------------------------------------------------------------------------------------------
  alignas(64) uint32_t s[kScalarSlots] = {};
  /// Vector registers, [register][lane], always 64 lanes per register (lanes 32..63 are idle in wave32), 64-byte
  /// aligned. Arch VGPR n is row n for n < vgpr_count; AccVGPR n is row acc_base + n for n < acc_count. On gfx90a both
  /// are windows of one file, so arch registers end where acc_base begins.
  uint32_t* v = nullptr;
  uint32_t vgpr_count = 0;  ///< arch registers the kernel may use; a higher number is an error
  uint32_t acc_base = 0;
  uint32_t acc_count = 0;
  uint32_t sgpr_count = 0;    ///< user-visible SGPRs (VCC and its like not counted)
  uint32_t mode = 0;          ///< MODE, see struct Mode
  uint64_t pc = 0;            ///< of the instruction that executes
  uint64_t next_pc = 0;       ///< where the wave goes on
  uint64_t flat_scratch = 0;  ///< base of this wave's scratch; gfx9 goes by s[kFlatScratchLo]
  uint64_t lane_mask = 0;     ///< all lanes of the wave size: 2^32-1 or 2^64-1
  bool wave32 = false;
  bool priv = false;  ///< inside the trap handler
  WaveState state = WaveState::kRunning;

  // --- surroundings --------------------------------------------------------------------------------------------
  WorkGroup* group = nullptr;    ///< dispatch, LDS, barrier
  MemoryPort* memory = nullptr;  ///< this worker's way to GPU addresses
  std::byte* lds = nullptr;      ///< of the work-group; lds_bytes long
  uint32_t lds_bytes = 0;
  uint32_t index = 0;         ///< within the work-group
  uint32_t slot = 0;          ///< of the whole GPU: says CU, SIMD, scratch slot
  uint32_t trap_status = 0;   ///< TRAPSTS
  bool halt = false;          ///< STATUS.HALT: stops the wave once it is outside the trap handler
  uint64_t instructions = 0;  ///< executed so far
  WaveError error;            ///< valid when state is kFaulted

  // --- access --------------------------------------------------------------------------------------------------
  uint32_t* vgpr(uint32_t n) { return v + size_t{n} * 64; }
  const uint32_t* vgpr(uint32_t n) const { return v + size_t{n} * 64; }
  uint32_t* agpr(uint32_t n) { return vgpr(acc_base + n); }

  uint64_t s64(uint32_t n) const {
    uint64_t value;
    std::memcpy(&value, &s[n], sizeof value);
    return value;
  }
  void set_s64(uint32_t n, uint64_t value) { std::memcpy(&s[n], &value, sizeof value); }

  /// A lane mask operand (VCC, EXEC or an SGPR pair): one register in wave32, two in wave64.
  uint64_t mask(uint32_t n) const { return wave32 ? uint64_t{s[n]} : s64(n); }
  void set_mask(uint32_t n, uint64_t value) {
    if (wave32)
      s[n] = static_cast<uint32_t>(value);
    else
      set_s64(n, value);
  }
  uint64_t exec() const { return mask(kExecLo); }
  uint64_t vcc() const { return mask(kVccLo); }
  uint32_t scc() const { return s[kScc]; }
  void set_scc(bool value) { s[kScc] = value ? 1u : 0u; }
  uint32_t lanes() const { return wave32 ? 32 : 64; }

  // --- errors --------------------------------------------------------------------------------------------------
  /// The instruction at pc cannot be executed: stops the wave. `reason` is plain text; pc, work-group and the
  /// instruction's own text are added by the engine. The registers keep what was written so far.
  void raise(WaveError::Kind kind, std::string reason) {
    state = WaveState::kFaulted;
    error.kind = kind;
    error.pc = pc;
    error.text = std::move(reason);
  }
  void raise_fault(const MemoryFault& fault, uint32_t lane) {
    raise(WaveError::Kind::kMemoryFault, {});
    error.fault = fault;
    error.lane = lane;
  }
};

}  // namespace vgpu
