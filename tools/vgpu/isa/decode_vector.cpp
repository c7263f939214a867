// Vector ALU formats: VOP1, VOP2, VOPC with their SDWA and DPP words, VOP3, VOP3P, VOPD.
#include "tools/vgpu/isa/decoding.h"

namespace vgpu::isa {
namespace {

constexpr unsigned kCodeVccLo = 106;

bool is_half(OperandType type) {
  return type == OperandType::kF16 || type == OperandType::kI16 || type == OperandType::kBf16;
}

bool writes_float8(std::string_view name) {
  return name == "v_cvt_sr_fp8_f32" || name == "v_cvt_sr_bf8_f32" || name == "v_cvt_pk_fp8_f32" ||
         name == "v_cvt_pk_bf8_f32";
}

bool is_mix(const OpModifiers& modifiers) { return modifiers.packed == 2 || modifiers.packed == 3; }

}  // namespace

bool Decoding::vop_destination(const Slot& slot, size_t n, const VopFields& fields) {
  Operand& operand = inst_.dst[n];
  operand.type = slot.type;
  if (slot.type == OperandType::kMask) {
    const bool compare = n == 0;  // the only mask is the result, in the place of vdst
    if (compare && gfx11_ && info_->name.starts_with("v_cmpx")) return true;  // writes EXEC only
    const unsigned code = compare && fields.vdst != kImplicit ? fields.vdst : fields.sdst;
    mask(operand, code == kImplicit ? kCodeVccLo : code, true);
    return bool(operand);
  }
  if (slot.cls == RegClass::sgpr) return scalar_register(operand, fields.vdst & 0x7f, slot.dwords, true);
  if (slot.cls == RegClass::agpr)
    agpr(operand, fields.vdst, slot.dwords);
  else
    vgpr(operand, fields.vdst, slot.dwords);
  return fields.vdst + slot.dwords <= 256;
}

/// Fills destinations and sources in the order of the shape.
bool Decoding::vop_operands(const VopFields& fields) {
  // gfx9: the instructions that came with op_sel leave the other half alone, the older ones clear it.
  inst_.keep_half = gfx11_ || modifiers().op_sel;
  for (Operand& operand : inst_.src)
    if (!modifiers().neg_abs) operand.neg = operand.abs = false;
  size_t dst = 0, src = 0, field = 0;
  for (size_t i = 0; i < info_->slot_count; ++i) {
    const Slot& slot = info_->slots[i];
    if (slot.role == '>') {
      // v_swap names its second register in the source field.
      VopFields place = fields;
      if (dst == 1 && slot.type != OperandType::kMask) {
        if (fields.sources[0] < kCodeVgpr0 || inst_.lane_mode != LaneMode::kPlain) return false;
        place.vdst = fields.sources[0] - kCodeVgpr0;
      }
      if (!vop_destination(slot, dst++, place)) return false;
    } else if (slot.role == 'k') {
      if (!take_literal()) return false;
      inst_.src[src].type = slot.type;
      inst_.src[src].dwords = 1;
      literal(inst_.src[src++], slot);
    } else if (slot.role == 's') {
      unsigned code = field < 3 ? fields.sources[field++] : kImplicit;
      if (code == kImplicit) {
        if (slot.type != OperandType::kMask) return false;
        code = kCodeVccLo;
      }
      if (!source(inst_.src[src++], slot, code)) return false;
    }
  }
  return true;
}

/// gfx11 VOP1/2/C: 16-bit operands name register halves, bit 7 is the half.
void Decoding::true16() {
  if (!gfx11_) return;
  auto halve = [this](Operand& operand) {
    inst_.true16 = true;
    operand.hi = operand.index >> 7 & 1;
    operand.index &= 0x7f;
  };
  for (size_t i = 0; i < info_->slot_count; ++i) {
    const Slot& slot = info_->slots[i];
    if (slot.role == '>' && slot.half) {
      halve(inst_.dst[0]);
      inst_.dst_hi = inst_.dst[0].hi;
    }
  }
  for (Operand& operand : inst_.src)
    if (operand.is_vgpr() && is_half(operand.type)) halve(operand);
}

bool Decoding::sdwa(VopFields& fields) {
  if (gfx11_) return false;
  const uint32_t w = word(dwords_++);
  inst_.lane_mode = LaneMode::kSdwa;
  fields.sources[0] = bits(w, 0, 8) | (bit(w, 23) ? 0u : 256u);
  if (fields.sources[1] != kImplicit) fields.sources[1] = (fields.sources[1] & 0xff) | (bit(w, 31) ? 0u : 256u);
  if (inst_.format == Format::kVopc) {
    if (bit(w, 15)) fields.vdst = bits(w, 8, 7);
  } else {
    inst_.dst_sel = bits(w, 8, 3) & 7;
    inst_.dst_unused = bits(w, 11, 2) & 3;
    inst_.clamp = bit(w, 13);
    inst_.omod = bits(w, 14, 2) & 3;
  }
  for (unsigned n = 0; n < 2; ++n) {
    Operand& operand = inst_.src[n];
    const unsigned base = 16 + n * 8;
    operand.sel = static_cast<uint8_t>(bits(w, base, 3));
    operand.sext = bit(w, base + 3);
    operand.neg = bit(w, base + 4);
    operand.abs = bit(w, base + 5);
  }
  return inst_.dst_sel != 7 && inst_.dst_unused != 3 && inst_.src[0].sel != 7 && inst_.src[1].sel != 7;
}

bool Decoding::dpp(VopFields& fields, size_t word_index) {
  const unsigned code = fields.sources[0];
  const uint32_t w = word(word_index);
  fields.sources[0] = bits(w, 0, 8) + kCodeVgpr0;
  literal_allowed_ = false;
  if (code != kCodeDpp16) {
    if (!gfx11_) return false;
    inst_.lane_mode = LaneMode::kDpp8;
    inst_.fi = code == kCodeDpp8Fi;
    inst_.dpp_ctrl = w >> 8;
    return true;
  }
  inst_.lane_mode = LaneMode::kDpp16;
  inst_.dpp_ctrl = bits(w, 8, 9);
  inst_.fi = gfx11_ && bit(w, 18);
  inst_.bound_ctrl = bit(w, 19);
  inst_.bank_mask = bits(w, 24, 4) & 0xf;
  inst_.row_mask = w >> 28 & 0xf;
  if (!inst_.vop3) {
    inst_.src[0].neg = bit(w, 20);
    inst_.src[0].abs = bit(w, 21);
    inst_.src[1].neg = bit(w, 22);
    inst_.src[1].abs = bit(w, 23);
  }
  return true;
}

/// Whether an operand has 64 bits.
bool Decoding::is_wide() const {
  for (size_t i = 0; i < info_->slot_count; ++i)
    if (info_->slots[i].dwords > 1 && info_->slots[i].type != OperandType::kMask) return true;
  return false;
}

/// SDWA and DPP words of VOP1, VOP2 and VOPC, told by the code of source 0.
bool Decoding::lane_mode(VopFields& fields) {
  const unsigned code = fields.sources[0];
  const bool is_sdwa = code == kCodeSdwa && !gfx11_;
  const bool is_dpp = code == kCodeDpp16 || (gfx11_ && (code == kCodeDpp8 || code == kCodeDpp8Fi));
  if ((!is_sdwa && !is_dpp) || info_->slot_count == 0) return true;
  if (is_wide()) {
    // Doubles have no parts to select; lanes of them are exchanged by row_newbcast only, where the target can at all.
    const uint32_t control = bits(word(dwords_), 8, 9);
    if (is_sdwa || !unified_registers() || control >> 4 != 0x15) return false;
  }
  for (size_t i = 0; i < info_->slot_count; ++i)
    if (info_->slots[i].role == 'k' || info_->slots[i].cls == RegClass::sgpr) return false;
  return is_sdwa ? sdwa(fields) : dpp(fields, dwords_++);
}

bool Decoding::vop32(Format format, unsigned opcode, VopFields fields) {
  if (!find(format, opcode)) return false;
  if (!lane_mode(fields) || !vop_operands(fields)) return false;
  true16();
  return true;
}

bool Decoding::vop1() {
  const uint32_t w = words_[0];
  return vop32(Format::kVop1, bits(w, 9, 8),
               {.vdst = bits(w, 17, 8), .sources = {bits(w, 0, 9), kImplicit, kImplicit}});
}

bool Decoding::vop2() {
  const uint32_t w = words_[0];
  return vop32(Format::kVop2, bits(w, 25, 6),
               {.vdst = bits(w, 17, 8), .sources = {bits(w, 0, 9), bits(w, 9, 8) + kCodeVgpr0, kImplicit}});
}

bool Decoding::vopc() {
  const uint32_t w = words_[0];
  return vop32(Format::kVopc, bits(w, 17, 8),
               {.vdst = kImplicit, .sources = {bits(w, 0, 9), bits(w, 9, 8) + kCodeVgpr0, kImplicit}});
}

void Decoding::vop3_modifiers(uint32_t low, uint32_t high) {
  inst_.clamp = modifiers().clamp && bit(low, 15);
  inst_.omod = modifiers().omod ? bits(high, 27, 2) & 3 : 0;
  const bool permlane = info_->name.starts_with("v_permlane");
  if (permlane) {
    inst_.fi = bit(low, 11);
    inst_.bound_ctrl = bit(low, 12);
    return;
  }
  const bool two_results = bool(inst_.dst[1]);  // the second one's register takes the place of abs and op_sel
  for (unsigned n = 0; n < 3; ++n) {
    Operand& operand = inst_.src[n];
    if (!operand || operand.type == OperandType::kMask) continue;
    if (modifiers().neg_abs) operand.neg = bit(high, 29 + n);
    if (two_results) continue;
    if (modifiers().neg_abs) operand.abs = bit(low, 8 + n);
    if (modifiers().op_sel || (gfx11_ && is_half(operand.type))) operand.hi = bit(low, 11 + n);
  }
  const bool half_result = info_->slot_count > 0 && info_->slots[0].half;
  if (half_result && (modifiers().op_sel || gfx11_)) inst_.dst_hi = bit(low, 14);
  // Conversions to 8-bit floats choose the word, or with one more bit the byte, of a register that keeps the rest.
  if (writes_float8(info_->name)) {
    inst_.dst_hi = bit(low, 14);
    inst_.src[2].hi = bit(low, 13);
  }
}

bool Decoding::vop3() {
  const uint32_t w = words_[0];
  dwords_ = 2;
  const uint32_t w1 = word(1);
  inst_.vop3 = true;
  literal_allowed_ = gfx11_;
  if (!find(Format::kVop3, bits(w, 16, 10))) return false;
  VopFields fields{bits(w, 0, 8), bits(w, 8, 7), {bits(w1, 0, 9), bits(w1, 9, 9), bits(w1, 18, 9)}};
  const unsigned src0 = fields.sources[0];
  if (gfx11_ && (src0 == kCodeDpp16 || src0 == kCodeDpp8 || src0 == kCodeDpp8Fi) && !dpp(fields, dwords_++))
    return false;
  if (!vop_operands(fields)) return false;
  vop3_modifiers(w, w1);
  return true;
}

void Decoding::packed_modifiers(uint32_t low, uint32_t high) {
  inst_.clamp = modifiers().clamp && bit(low, 15);
  for (unsigned n = 0; n < 3; ++n) {
    Operand& operand = inst_.src[n];
    if (!operand) continue;
    operand.neg = bit(high, 29 + n);
    operand.abs = bit(low, 8 + n);
    operand.hi = bit(low, 11 + n);
    operand.hi_hi = n == 2 ? bit(low, 14) : bit(high, 27 + n);
    // A source of the mix instructions is a float unless it is marked as half.
    if (is_mix(modifiers()) && !operand.hi_hi) {
      operand.type = OperandType::kF32;
      if (operand.is_constant() && !operand.literal) constant(operand, operand.code);
    }
  }
}

/// Matrix instructions of gfx908 to gfx942: broadcast controls, and for each operand the choice of register file.
bool Decoding::matrix(uint32_t low, uint32_t high) {
  const bool unified = unified_registers();
  const bool result_in_agprs = !unified || bit(low, 15);
  inst_.cbsz = bits(low, 8, 3) & 7;
  inst_.abid = bits(low, 11, 4) & 15;
  inst_.blgp = bits(high, 29, 3) & 7;
  const unsigned codes[3] = {bits(high, 0, 9), bits(high, 9, 9), bits(high, 18, 9)};
  const bool sparse = info_->name.starts_with("v_smfmac");
  const unsigned vdst = bits(low, 0, 8), result_dwords = info_->slots[0].dwords;
  if (!data(inst_.dst[0], vdst, result_dwords, result_in_agprs)) return false;
  for (unsigned n = 0; n < 3; ++n) {
    Slot slot = info_->slots[n + 1];
    slot.cls = RegClass::any;
    if (n == 2 && !sparse) slot.dwords = static_cast<uint8_t>(result_dwords);
    const bool acc = n < 2 ? bit(high, 27 + n) : result_in_agprs && !sparse;
    if (codes[n] < kCodeVgpr0) {
      if (n < 2 || sparse || codes[n] < kCodeInt0 || codes[n] > kCodeFloatLast) return false;
      if (!source(inst_.src[n], slot, codes[n])) return false;
    } else {
      if (acc) slot.cls = RegClass::agpr;
      if (!source(inst_.src[n], slot, codes[n])) return false;
    }
  }
  return true;
}

/// Matrix instructions of gfx11: the summand is as wide as the result; in wave64 both are half as wide.
bool Decoding::wmma(uint32_t low, uint32_t high) {
  Slot slots[4];
  for (size_t n = 0; n < 4; ++n) slots[n] = info_->slots[n];
  const uint8_t result_dwords = wave32_ ? 8 : 4;
  slots[3].dwords = result_dwords;
  literal_allowed_ = false;
  if (!data(inst_.dst[0], bits(low, 0, 8), result_dwords, false)) return false;
  const unsigned codes[3] = {bits(high, 0, 9), bits(high, 9, 9), bits(high, 18, 9)};
  for (unsigned n = 0; n < 3; ++n) {
    if (codes[n] < kCodeVgpr0 && (n < 2 || codes[n] < kCodeInt0)) return false;
    slots[n + 1].cls = RegClass::any;
    if (!source(inst_.src[n], slots[n + 1], codes[n])) return false;
  }
  packed_modifiers(low, high);
  return true;
}

bool Decoding::vop3p() {
  const uint32_t w = words_[0];
  dwords_ = 2;
  const uint32_t w1 = word(1);
  inst_.vop3 = true;
  literal_allowed_ = gfx11_;
  if (!find(Format::kVop3p, bits(w, 16, 7))) return false;
  if (info_->name.starts_with("v_mfma") || info_->name.starts_with("v_smfmac")) return matrix(w, w1);
  if (info_->name.starts_with("v_wmma")) return wmma(w, w1);
  VopFields fields{bits(w, 0, 8), kImplicit, {bits(w1, 0, 9), bits(w1, 9, 9), bits(w1, 18, 9)}};
  const unsigned src0 = fields.sources[0];
  if (gfx11_ && (src0 == kCodeDpp16 || src0 == kCodeDpp8 || src0 == kCodeDpp8Fi) && !dpp(fields, dwords_++))
    return false;
  if (!vop_operands(fields)) return false;
  if (modifiers().packed != 0) packed_modifiers(w, w1);
  return true;
}

bool Decoding::vopd_half(size_t half, unsigned opcode, VopFields fields) {
  // The second half's opcodes that the first lacks start at 16.
  if (half == 0 && opcode >= 16) return false;
  const Op op = tables_.find(Format::kVopd, opcode);
  if (op == Op::kNone) return false;
  Inst saved = inst_;
  inst_.dst = {};
  inst_.src = {};
  info_ = &op_info(op);
  if (!vop_operands(fields)) return false;
  const Inst part = inst_;
  inst_ = saved;
  inst_.vgpr_end = part.vgpr_end;
  inst_.literal = part.literal;
  (half == 0 ? inst_.op_x : inst_.op_y) = op;
  inst_.dst[half] = part.dst[0];
  for (size_t n = 0; n < 3; ++n) inst_.src[half * 3 + n] = part.src[n];
  return true;
}

bool Decoding::vopd() {
  const uint32_t w = words_[0];
  dwords_ = 2;
  const uint32_t w1 = word(1);
  inst_.format = Format::kVopd;
  inst_.op = Op::v_dual;
  if (!wave32_) return false;
  const unsigned dst_x = bits(w1, 24, 8);
  // The two destinations are never both even or both odd, so the low bit of the second is not encoded.
  const unsigned dst_y = bits(w1, 17, 7) << 1 | (~dst_x & 1);
  return vopd_half(0, bits(w, 22, 4),
                   {.vdst = dst_x, .sources = {bits(w, 0, 9), bits(w, 9, 8) + kCodeVgpr0, kImplicit}}) &&
         vopd_half(1, bits(w, 17, 5),
                   {.vdst = dst_y, .sources = {bits(w1, 0, 9), bits(w1, 9, 8) + kCodeVgpr0, kImplicit}});
}

}  // namespace vgpu::isa
