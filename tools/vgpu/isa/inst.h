// One decoded instruction: what the decoder yields, the executors run and the disassembler prints.
//
// Operations are named once for all targets and encodings: gfx9's v_add_u32 and gfx11's v_add_nc_u32 are both
// Op::v_add_nc_u32, whether they came as VOP2, VOP3, SDWA or DPP. The names are those of instructions.tsv.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vgpu {

class Wave;  // tools/vgpu/shader/wave.h
struct Inst;

/// Executes one decoded instruction on one wave; see wave.h for the contract.
using ExecFn = void (*)(Wave&, const Inst&);

/// What an instruction does. Op::kNone is no instruction.
enum class Op : uint16_t {
  kNone,
#include "tools/vgpu/isa/op_names.inc"
  kCount,
};

enum class Format : uint8_t {
  kNone,
  kSop1,
  kSop2,
  kSopc,
  kSopk,
  kSopp,
  kSmem,
  kVop1,
  kVop2,
  kVopc,
  kVop3,
  kVop3p,
  kVopd,
  kVintrp,
  kVinterp,
  kLdsdir,
  kDs,
  kFlat,
  kGlobal,
  kScratch,
  kMubuf,
  kMtbuf,
  kMimg,
  kExp,
  kCount,
};

/// How a VOP1, VOP2, VOPC (or, on gfx11, VOP3) instruction modifies its lanes' operands on the way in and out.
enum class LaneMode : uint8_t { kPlain, kSdwa, kDpp16, kDpp8 };

/// What the bits of an operand mean: decides what inline constants stand for, and how they are printed.
enum class OperandType : uint8_t {
  kNone,
  kI16,
  kI32,
  kI64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kV2I16,
  kV2F16,
  kV2Bf16,
  kV2I32,
  kV2F32,
  kBits,  ///< plain registers of `dwords` dwords; no constants
  kMask,  ///< one bit per lane: `dwords` is 1 in wave32, 2 in wave64
};

struct Operand {
  enum class Kind : uint8_t {
    kNone,       ///< not there (saddr "off", a destination the encoding lacks)
    kSgpr,       ///< `index` is the canonical scalar slot of wave.h: SGPRs, VCC, TTMP, M0, EXEC, NULL, apertures, SCC
    kVgpr,       ///< `index` 0..255
    kAgpr,       ///< `index` 0..255, counted from a0
    kConstant,   ///< `value` holds the bits, widened to the operand's type; a 16-bit pair holds both halves
    kVccz,       ///< operand code 251
    kExecz,      ///< operand code 252
    kLdsDirect,  ///< operand code 254 (gfx9): refused by the executors
  };

  Kind kind = Kind::kNone;
  OperandType type = OperandType::kNone;
  uint8_t dwords = 0;  ///< registers it spans; 16-bit operands have 1
  uint8_t code = 0;    ///< the encoding's own operand code, low 8 bits (for printing)
  uint16_t index = 0;
  bool neg : 1 = false;      ///< VOP3P: negate the low half
  bool abs : 1 = false;      ///< VOP3P: negate the high half (neg_hi). fma_mix: absolute value
  bool sext : 1 = false;     ///< SDWA: sign-extend the selected part
  bool literal : 1 = false;  ///< a constant that followed the instruction
  bool hi : 1 = false;       ///< op_sel: the high 16 bits are meant (VOP3P: for the low result)
  bool hi_hi : 1 = false;    ///< VOP3P op_sel_hi: the high half feeds the high result. fma_mix: source is f16
  uint8_t sel = 6;           ///< SDWA part: 0..3 byte, 4..5 word, 6 all
  uint64_t value = 0;

  bool is_vgpr() const { return kind == Kind::kVgpr; }
  bool is_sgpr() const { return kind == Kind::kSgpr; }
  bool is_constant() const { return kind == Kind::kConstant; }
  explicit operator bool() const { return kind != Kind::kNone; }
};

/// Field positions by format:
///   SOP*    dst[0], src[0..1]; `imm` is simm16 (sign-extended), for branches in dwords relative to the next
///           instruction; s_setreg_imm32 and its like: `literal`.
///           s_sendmsg_rtn_*: `imm` is the message.
///   SMEM    dst[0] loads; src[0] base; src[1] soffset or none; src[2] data of stores and atomics; `imm` offset.
///           s_dcache_*, s_memtime: what they have of it.
///   VOP*    dst[0], dst[1] (carry or VCC-like mask); src[0..2]. VOP2/VOPC that use VCC implicitly have it as an
///           operand. "mac" operations read dst[0] too and list no third source.
///   VOPD    dst[0], src[0..2] of `op_x`; dst[1], src[3..5] of `op_y`; fmaak/fmamk list their literal as an operand.
///   DS      dst[0]; src[0] address; src[1], src[2] data; `imm` 16-bit offset; offset0 and offset1 are its two bytes.
///   FLAT, GLOBAL, SCRATCH  dst[0]; src[0] vaddr; src[1] data; src[2] saddr or none; `imm` offset, sign-extended.
///           Atomics that return nothing have no dst[0]. LDS loads have neither.
///   MUBUF, MTBUF  dst[0] loads and returning atomics; src[0] vaddr or none; src[1] data; src[2] V#; src[3] soffset;
///           `imm` offset.
struct Inst {
  ExecFn exec = nullptr;  ///< set by whoever caches instructions; the decoder leaves it empty
  uint64_t raw = 0;       ///< the first two dwords, for reports

  Op op = Op::kNone;
  Op op_x = Op::kNone, op_y = Op::kNone;  ///< VOPD (op is v_dual): the two operations
  Format format = Format::kNone;
  LaneMode lane_mode = LaneMode::kPlain;
  uint8_t size = 0;  ///< bytes, 4..16 (also for words that are no instruction: how far to skip)

  uint16_t vgpr_end = 0;  ///< highest VGPR that it names + 1: the wave must own as many (the executors do not check)
  uint16_t agpr_end = 0;  ///< the same for AccVGPRs

  // VALU modifiers.
  bool clamp : 1 = false;
  uint8_t omod : 2 = 0;        ///< 0 none, 1 *2, 2 *4, 3 /2
  bool dst_hi : 1 = false;     ///< op_sel of the destination: result goes to bits 31:16
  bool true16 : 1 = false;     ///< gfx11 VOP1/2/C with 16-bit register halves in the register number
  bool keep_half : 1 = false;  ///< a 16-bit result leaves the other half of its register as it was
  bool gfx11 : 1 = false;      ///< the target is of the gfx11 family
  bool vop3 : 1 = false;       ///< encoded as VOP3 (also "VOP3 + DPP")
  uint8_t dst_sel : 3 = 6;     ///< SDWA
  uint8_t dst_unused : 2 = 0;  ///< SDWA: 0 pad with zero, 1 sign-extend, 2 preserve

  // DPP.
  bool bound_ctrl : 1 = false;  ///< lanes without a source read 0 instead of being skipped
  bool fi : 1 = false;          ///< fetch from inactive lanes too
  uint8_t row_mask : 4 = 0xf;
  uint8_t bank_mask : 4 = 0xf;
  uint32_t dpp_ctrl = 0;  ///< DPP16: 9 bits; DPP8: eight 3-bit lane selectors

  // Memory.
  bool glc : 1 = false;  ///< gfx942: sc0
  bool slc : 1 = false;  ///< gfx942: nt
  bool dlc : 1 = false;  ///< gfx942: sc1 (other gfx9: scc of gfx90a MUBUF/FLAT)
  bool lds : 1 = false;  ///< the loaded data goes to LDS
  bool offen : 1 = false;
  bool idxen : 1 = false;
  bool gds : 1 = false;
  bool tfe : 1 = false;
  bool sve : 1 = false;         ///< scratch: vaddr is used
  bool imm_offset : 1 = false;  ///< SMEM: `imm` is there
  uint8_t tbuffer_format = 0;   ///< MTBUF: the format field (gfx9 dfmt | nfmt << 4)

  int32_t imm = 0;
  uint32_t literal = 0;                  ///< the literal dword, when one followed
  uint8_t cbsz = 0, abid = 0, blgp = 0;  ///< MFMA

  std::array<Operand, 2> dst;
  std::array<Operand, 6> src;

  uint8_t offset0() const { return static_cast<uint8_t>(imm); }
  uint8_t offset1() const { return static_cast<uint8_t>(static_cast<uint32_t>(imm) >> 8); }
};

}  // namespace vgpu
