// Scalar formats: SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.
#include "tools/vgpu/isa/decoding.h"

namespace vgpu::isa {

bool Decoding::scalar() {
  const uint32_t w = words_[0];
  const unsigned sdst = bits(w, 16, 7), src0 = bits(w, 0, 8), src1 = bits(w, 8, 8);
  unsigned sources[2] = {src0, src1};
  if (bits(w, 23, 9) == 0x17d) {
    if (!find(Format::kSop1, src1)) return false;
  } else if (bits(w, 23, 9) == 0x17e) {
    if (!find(Format::kSopc, sdst)) return false;
  } else if (bits(w, 23, 9) == 0x17f) {
    if (!find(Format::kSopp, sdst)) return false;
  } else if (w >> 28 == 0xb) {
    if (!find(Format::kSopk, bits(w, 23, 5))) return false;
  } else if (!find(Format::kSop2, bits(w, 23, 7))) {
    return false;
  }
  if (inst_.format == Format::kSopk || inst_.format == Format::kSopp) inst_.imm = static_cast<int16_t>(w);
  // The message is in the place of the source operand's code.
  if (inst_.op == Op::s_sendmsg_rtn_b32 || inst_.op == Op::s_sendmsg_rtn_b64) inst_.imm = static_cast<int32_t>(src0);
  size_t n = 0, field = 0;
  for (size_t i = 0; i < info_->slot_count; ++i) {
    const Slot& slot = info_->slots[i];
    const bool first_source = n == 0 && slot.role == 's';
    if (slot.role == '>') {
      if (!scalar_register(inst_.dst[0], sdst, slot.dwords, true)) return false;
      inst_.dst[0].type = slot.type;
    } else if (inst_.format == Format::kSopk && first_source) {
      // s_cmpk, s_setreg and s_waitcnt_*cnt read the register that the destination field names.
      if (!scalar_register(inst_.src[n++], sdst, slot.dwords, false)) return false;
    } else if (slot.role == 'k') {
      if (!take_literal()) return false;
      inst_.src[n].type = slot.type;
      inst_.src[n].dwords = 1;
      literal(inst_.src[n++], slot);
    } else if (slot.role == 's') {
      if (field >= 2) return false;
      Slot scalar_slot = slot;
      if (slot.type == OperandType::kBits) scalar_slot.cls = RegClass::sgpr;
      if (!source(inst_.src[n], scalar_slot, sources[field++])) return false;
      ++n;
    }
  }
  if (inst_.op == Op::s_set_gpr_idx_on) inst_.imm = static_cast<int32_t>(src1);
  if (inst_.op == Op::s_setreg_imm32_b32) return take_literal();
  return true;
}

bool Decoding::smem() {
  const uint32_t w = words_[0];
  dwords_ = 2;
  const uint32_t w1 = word(1);
  if (!find(Format::kSmem, bits(w, 18, 8))) return false;
  const unsigned soffset = bits(w1, 25, 7);
  const bool with_imm = gfx11_ || bit(w, 17);
  const bool with_soffset = gfx11_ ? soffset != kCodeM0OrNull : bit(w, 14);
  inst_.glc = bit(w, gfx11_ ? 14 : 16);
  inst_.dlc = gfx11_ && bit(w, 13);
  inst_.imm_offset = with_imm;

  const unsigned sdata = bits(w, 6, 7);
  const unsigned load = slot_dwords(*info_, 'd'), store = slot_dwords(*info_, 'x'), base = slot_dwords(*info_, 'b');
  if (load != 0 && !scalar_register(inst_.dst[0], sdata, load, true)) return false;
  if (store != 0 && !scalar_register(inst_.src[2], sdata, store, false)) return false;
  if (store != 0 && inst_.glc && info_->name.find("atomic") != std::string_view::npos) {
    const unsigned result = info_->name.find("cmpswap") != std::string_view::npos ? store / 2 : store;
    if (!scalar_register(inst_.dst[0], sdata, result, true)) return false;
  }
  if (base == 0) {
    inst_.glc = inst_.dlc = false;
    return true;
  }
  if (!scalar_register(inst_.src[0], bits(w, 0, 6) * 2, base, false)) return false;
  if (with_imm) inst_.imm = sign_extend(bits(w1, 0, 21), 21);
  if (with_soffset) return scalar_register(inst_.src[1], soffset, 1, false);
  // gfx9 without either bit: the low part of the offset field names the SGPR.
  if (!with_imm) return scalar_register(inst_.src[1], bits(w1, 0, 7), 1, false);
  return true;
}

}  // namespace vgpu::isa
