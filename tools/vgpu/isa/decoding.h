// The state of decoding one instruction and the operand rules that all formats share. Internal to this folder.
//
// Field layouts are those of the "Vega", "MI200", "MI300" and "RDNA3" instruction set architecture manuals, chapter
// "Microcode formats".
#pragma once

#include <span>

#include "tools/vgpu/isa/decode_tables.h"
#include "tools/vgpu/isa/op_table.h"

namespace vgpu::isa {

/// Bits [lo, lo+count) of a dword.
constexpr uint32_t bits(uint32_t word, unsigned lo, unsigned count) { return word >> lo & ((1u << count) - 1); }
constexpr bool bit(uint32_t word, unsigned n) { return word >> n & 1; }
constexpr int32_t sign_extend(uint32_t value, unsigned width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}

/// Operand codes of 9-bit source fields.
enum SourceCode : unsigned {
  kCodeM0OrNull = 124,
  kCodeNullOrM0 = 125,
  kCodeInt0 = 128,
  kCodeIntMinus16 = 208,
  kCodeDpp8 = 233,
  kCodeDpp8Fi = 234,
  kCodeSharedBase = 235,
  kCodePrivateLimit = 238,
  kCodeFloatFirst = 240,
  kCodeFloatLast = 248,
  kCodeSdwa = 249,
  kCodeDpp16 = 250,
  kCodeVccz = 251,
  kCodeExecz = 252,
  kCodeScc = 253,
  kCodeLdsDirect = 254,
  kCodeLiteral = 255,
  kCodeVgpr0 = 256,
};

class Decoding {
 public:
  Decoding(const Decoder::Tables& tables, IsaTarget target, std::span<const uint32_t> words, bool wave32, Inst& inst)
      : tables_(tables), words_(words), inst_(inst), target_(target), gfx11_(is_gfx11(target)), wave32_(wave32) {}

  /// Decodes into the Inst; false when the words are no instruction.
  bool run();

 private:
  // Formats. Each reads its fields and fills the operands; false for what is no instruction.
  bool scalar();                // decode_scalar.cpp: SOP*
  bool smem();                  //   SMEM
  bool vop1(), vop2(), vopc();  // decode_vector.cpp
  bool vop3(), vop3p(), vopd();
  bool ds(), flat(), buffer();  // decode_memory.cpp
  bool refused(Format format, unsigned opcode, uint8_t size);

  /// Whether vector memory and most VALU data may be AccVGPRs: one register file for both.
  bool unified_registers() const { return target_ == IsaTarget::kGfx90a || target_ == IsaTarget::kGfx942; }
  const OpModifiers& modifiers() const { return info_->modifiers[gfx11_]; }
  bool find(Format format, unsigned opcode);
  uint32_t word(size_t n);
  bool take_literal();

  // Operands by code.
  bool data(Operand& operand, unsigned reg, unsigned dwords, bool acc);
  bool scalar_register(Operand& operand, unsigned code, unsigned dwords, bool destination);
  void vgpr(Operand& operand, unsigned reg, unsigned dwords);
  void agpr(Operand& operand, unsigned reg, unsigned dwords);
  void mask(Operand& operand, unsigned code, bool destination);
  bool source(Operand& operand, const Slot& slot, unsigned code);
  void constant(Operand& operand, unsigned code);
  void literal(Operand& operand, const Slot& slot);
  static uint64_t float_constant(unsigned n, OperandType type);

  // VALU helpers.
  /// Field values of one VALU instruction; 9-bit source codes. kImplicit: the field does not exist, VCC is meant.
  struct VopFields {
    unsigned vdst = 0, sdst = kImplicit;
    unsigned sources[3] = {kImplicit, kImplicit, kImplicit};
  };
  static constexpr unsigned kImplicit = ~0u;
  bool vop_operands(const VopFields& fields);
  bool vop_destination(const Slot& slot, size_t n, const VopFields& fields);
  bool vop32(Format format, unsigned opcode, VopFields fields);
  bool lane_mode(VopFields& fields);
  bool is_wide() const;
  bool sdwa(VopFields& fields);
  bool dpp(VopFields& fields, size_t word_index);
  void vop3_modifiers(uint32_t low, uint32_t high);
  void packed_modifiers(uint32_t low, uint32_t high);
  bool matrix(uint32_t low, uint32_t high), wmma(uint32_t low, uint32_t high);
  void true16();
  bool vopd_half(size_t half, unsigned opcode, VopFields fields);

  const Decoder::Tables& tables_;
  std::span<const uint32_t> words_;
  Inst& inst_;
  const OpInfo* info_ = nullptr;
  IsaTarget target_;
  bool gfx11_, wave32_;
  bool literal_allowed_ = true;
  bool literal_taken_ = false;
  bool short_ = false;  ///< the words ended too early
  uint8_t dwords_ = 1;  ///< used so far
};

}  // namespace vgpu::isa
