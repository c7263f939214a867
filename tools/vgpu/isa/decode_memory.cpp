// Vector memory formats: DS, FLAT (with GLOBAL and SCRATCH), MUBUF and MTBUF.
#include "tools/vgpu/isa/decoding.h"

namespace vgpu::isa {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Atomics return the old value only when asked (glc); everything else has its destination always.
bool returns(const OpInfo& info, bool glc) { return !has(info.name, "_atomic") || glc; }

}  // namespace

/// A data operand: AccVGPRs where the target has them in memory instructions and the acc bit is set.
bool Decoding::data(Operand& operand, unsigned reg, unsigned dwords, bool acc) {
  if (acc)
    agpr(operand, reg, dwords);
  else
    vgpr(operand, reg, dwords);
  operand.type = OperandType::kBits;
  return reg + dwords <= 256;
}

bool Decoding::ds() {
  const uint32_t w = words_[0];
  dwords_ = 2;
  const uint32_t w1 = word(1);
  if (!find(Format::kDs, gfx11_ ? bits(w, 18, 8) : bits(w, 17, 8))) return false;
  inst_.gds = bit(w, gfx11_ ? 17 : 16);
  const bool acc = unified_registers() && bit(w, 25);
  inst_.imm = static_cast<int32_t>(w & 0xffff);
  const unsigned dst = slot_dwords(*info_, 'd'), addr = slot_dwords(*info_, 'a');
  const unsigned x = slot_dwords(*info_, 'x'), y = slot_dwords(*info_, 'y');
  if (dst != 0 && !data(inst_.dst[0], bits(w1, 24, 8), dst, acc)) return false;
  if (addr != 0 && !data(inst_.src[0], bits(w1, 0, 8), addr, false)) return false;
  // GWS instructions carry their data in the address field on gfx11 as on gfx9's data0.
  const bool gws = has(info_->name, "_gws_");
  if (x != 0 && !data(inst_.src[1], bits(w1, gws ? 0 : 8, 8), x, acc)) return false;
  if (y != 0 && !data(inst_.src[2], bits(w1, 16, 8), y, acc)) return false;
  return true;
}

bool Decoding::flat() {
  const uint32_t w = words_[0];
  dwords_ = 2;
  const uint32_t w1 = word(1);
  static constexpr Format kSegments[] = {Format::kFlat, Format::kScratch, Format::kGlobal, Format::kNone};
  const Format format = kSegments[bits(w, gfx11_ ? 16 : 14, 2)];
  if (format == Format::kNone || !find(format, bits(w, 18, 7))) return false;
  if (gfx11_) {
    inst_.dlc = bit(w, 13);
    inst_.glc = bit(w, 14);
    inst_.slc = bit(w, 15);
  } else {
    // Loads may go to LDS: by a bit up to gfx90a, by instructions of their own on gfx942.
    inst_.lds = has(info_->name, "_lds_") || (target_ != IsaTarget::kGfx942 && bit(w, 13) &&
                                              slot_dwords(*info_, 'd') != 0 && !has(info_->name, "_atomic"));
    inst_.glc = bit(w, 16);
    inst_.slc = bit(w, 17);
    inst_.dlc = unified_registers() && bit(w, 25);
  }
  const bool acc = unified_registers() && bit(w1, 23);
  inst_.imm = sign_extend(bits(w, 0, 13), 13);
  if (format == Format::kFlat && !gfx11_) inst_.imm = static_cast<int32_t>(bits(w, 0, 12));
  if (format == Format::kFlat && gfx11_) inst_.imm = static_cast<int32_t>(bits(w, 0, 12));

  const unsigned saddr = bits(w1, 16, 7);
  // "No scalar address" is NULL on gfx11 and register 0x7f before; gfx11 takes 0x7f as well.
  const bool with_saddr = format != Format::kFlat && saddr != 0x7f && !(gfx11_ && saddr == kCodeM0OrNull);
  const bool addtid = has(info_->name, "addtid");
  bool with_vaddr = !addtid;
  unsigned vaddr_dwords = with_saddr ? 1 : 2;
  if (format == Format::kScratch) {
    vaddr_dwords = 1;
    inst_.sve = gfx11_ ? bit(w1, 23) : target_ == IsaTarget::kGfx942 ? bit(w, 13) : !with_saddr;
    with_vaddr = inst_.sve;
  }
  if (with_vaddr && !data(inst_.src[0], bits(w1, 0, 8), vaddr_dwords, false)) return false;
  if (with_saddr && !scalar_register(inst_.src[2], saddr, format == Format::kScratch ? 1 : 2, false)) return false;
  const unsigned dst = slot_dwords(*info_, 'd'), x = slot_dwords(*info_, 'x');
  if (dst != 0 && !inst_.lds && returns(*info_, inst_.glc) && !data(inst_.dst[0], bits(w1, 24, 8), dst, acc))
    return false;
  return x == 0 || data(inst_.src[1], bits(w1, 8, 8), x, acc);
}

bool Decoding::buffer() {
  const uint32_t w = words_[0];
  dwords_ = 2;
  const uint32_t w1 = word(1);
  const bool typed = w >> 26 == 0x3a;
  const unsigned opcode = typed ? bits(w, 15, 4) : gfx11_ ? bits(w, 18, 8) : bits(w, 18, 7);
  if (!find(typed ? Format::kMtbuf : Format::kMubuf, opcode)) return false;
  bool acc = false;
  inst_.glc = bit(w, 14);
  if (gfx11_) {
    inst_.slc = bit(w, 12);
    inst_.dlc = bit(w, 13);
    inst_.tfe = bit(w1, 21);
    inst_.offen = bit(w1, 22);
    inst_.idxen = bit(w1, 23);
  } else {
    inst_.slc = typed ? bit(w1, 22) : bit(w, 17);
    inst_.lds = !typed && bit(w, 16);
    inst_.offen = bit(w, 12);
    inst_.idxen = bit(w, 13);
    acc = unified_registers() && bit(w1, 23);
    inst_.tfe = !unified_registers() && bit(w1, 23);
    inst_.dlc = unified_registers() && (typed ? bit(w1, 21) : bit(w, 15));
  }
  if (typed) inst_.tbuffer_format = static_cast<uint8_t>(bits(w, 19, 7));
  const unsigned dst = slot_dwords(*info_, 'd'), x = slot_dwords(*info_, 'x');
  const bool to_lds = has(info_->name, "_lds_");
  if (dst == 0 && x == 0 && !to_lds) return true;  // cache maintenance
  inst_.lds = inst_.lds || to_lds;
  inst_.imm = static_cast<int32_t>(bits(w, 0, 12));
  const unsigned vdata = bits(w1, 8, 8), tfe = inst_.tfe ? 1 : 0;
  if (dst != 0 && !inst_.lds && returns(*info_, inst_.glc) && !data(inst_.dst[0], vdata, dst + tfe, acc)) return false;
  if (x != 0 && !data(inst_.src[1], vdata, x + tfe, acc)) return false;
  const unsigned vaddr_dwords = inst_.offen + inst_.idxen;
  if (vaddr_dwords != 0 && !data(inst_.src[0], bits(w1, 0, 8), vaddr_dwords, false)) return false;
  if (!scalar_register(inst_.src[2], bits(w1, 16, 5) * 4, 4, false)) return false;
  Slot soffset{'s', RegClass::sgpr, OperandType::kI32, 1, false};
  literal_allowed_ = false;
  return source(inst_.src[3], soffset, bits(w1, 24, 8));
}

}  // namespace vgpu::isa
