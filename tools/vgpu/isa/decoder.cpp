// Which format a word belongs to, and the operand rules that all formats share.
#include "tools/vgpu/isa/decoder.h"

#include <algorithm>
#include <bit>

#include "tools/vgpu/isa/decoding.h"
#include "tools/vgpu/shader/wave.h"

namespace vgpu {

Decoder::Decoder(IsaTarget target) : target_(target), tables_(std::make_unique<Tables>(target)) {}
Decoder::~Decoder() = default;

bool Decoder::decode(std::span<const uint32_t> words, bool wave32, Inst& inst) const {
  inst = Inst{};
  if (words.empty()) return false;
  inst.gfx11 = is_gfx11(target_);
  inst.raw = words[0] | (words.size() > 1 ? uint64_t{words[1]} << 32 : 0);
  isa::Decoding decoding(*tables_, target_, words, wave32, inst);
  if (decoding.run()) return true;
  inst.op = Op::kNone;
  if (inst.size == 0) inst.size = 4;
  return false;
}

namespace isa {

bool Decoding::run() {
  const uint32_t w = words_[0];
  bool ok = false;
  if (!bit(w, 31)) {
    const unsigned top = w >> 25;
    ok = top == 0x3f ? vop1() : top == 0x3e ? vopc() : vop2();
  } else if (w >> 30 == 2) {
    ok = scalar();
  } else {
    switch (w >> 26) {
      case 0x30: ok = !gfx11_ && smem(); break;
      case 0x31: ok = !gfx11_ && refused(Format::kExp, 0, 8); break;
      case 0x32: ok = gfx11_ && vopd(); break;
      case 0x33:
        ok = gfx11_ && (bits(w, 24, 2) == 0   ? (bit(w, 23) ? false : vop3p())
                        : bits(w, 24, 2) == 1 ? refused(Format::kVinterp, bits(w, 16, 7), 8)
                        : bits(w, 24, 2) == 2 ? refused(Format::kLdsdir, bits(w, 20, 2), 4)
                                              : false);
        break;
      case 0x34: ok = !gfx11_ && (bits(w, 23, 3) == 7 ? vop3p() : vop3()); break;
      case 0x35: ok = gfx11_ ? vop3() : refused(Format::kVintrp, bits(w, 16, 2), 4); break;
      case 0x36: ok = ds(); break;
      case 0x37: ok = flat(); break;
      case 0x38:
      case 0x3a: ok = buffer(); break;
      case 0x3c: ok = refused(Format::kMimg, gfx11_ ? bits(w, 18, 8) : bits(w, 18, 7), 8); break;
      case 0x3d: ok = gfx11_ && smem(); break;
      case 0x3e: ok = gfx11_ && refused(Format::kExp, 0, 8); break;
      default: break;
    }
  }
  inst_.size = static_cast<uint8_t>(dwords_ * 4);
  return ok && !short_;
}

bool Decoding::find(Format format, unsigned opcode) {
  inst_.format = format;
  inst_.op = tables_.find(format, opcode);
  info_ = &op_info(inst_.op);
  return inst_.op != Op::kNone;
}

/// Formats that no executor runs (graphics): named in reports, operands left empty.
bool Decoding::refused(Format format, unsigned opcode, uint8_t size) {
  dwords_ = size / 4;
  if (dwords_ == 2) word(1);
  return find(format, opcode);
}

uint32_t Decoding::word(size_t n) {
  if (n >= words_.size()) {
    short_ = true;
    return 0;
  }
  return words_[n];
}

/// The literal dword behind the instruction; an instruction has at most one, which several operands may name.
bool Decoding::take_literal() {
  if (literal_taken_) return true;
  if (!literal_allowed_) return false;
  literal_taken_ = true;
  inst_.literal = word(dwords_++);
  return true;
}

bool Decoding::scalar_register(Operand& operand, unsigned code, unsigned dwords, bool destination) {
  operand.kind = Operand::Kind::kSgpr;
  operand.code = static_cast<uint8_t>(code);
  operand.dwords = static_cast<uint8_t>(dwords);
  const unsigned sgprs = gfx11_ ? 106 : 102;
  if (code < 106) {
    // Tuples start at even numbers, wide ones at multiples of four; the low bits of the field are not looked at.
    if (dwords > 1 && code < sgprs) code &= dwords == 2 ? ~1u : ~3u;
    operand.index = static_cast<uint16_t>(code);
    const unsigned limit = code < sgprs ? sgprs : 106;
    return code + dwords <= limit;
  }
  if (code < 108) {
    operand.index = static_cast<uint16_t>(dwords == 2 ? 106 : code);
    return dwords <= 2;
  }
  if (code < 124) {
    if (dwords > 1) code = 108 + ((code - 108) & (dwords == 2 ? ~1u : ~3u));
    operand.index = static_cast<uint16_t>(code);
    return code + dwords <= 124;
  }
  if (code == kCodeM0OrNull || code == kCodeNullOrM0) {
    if (!gfx11_ && code == kCodeNullOrM0) return false;
    const bool null = gfx11_ && code == kCodeM0OrNull;
    operand.index = null ? (destination ? kSink : kZero) : kM0;
    return null || dwords == 1;
  }
  if (code == 126 || code == 127) {
    operand.index = static_cast<uint16_t>(dwords == 2 ? 126 : code);
    return dwords <= 2;
  }
  if (destination) return false;
  if (code >= kCodeSharedBase && code <= kCodePrivateLimit) {
    operand.index = static_cast<uint16_t>(kSharedBase + 2 * (code - kCodeSharedBase));
    return true;
  }
  if (code == kCodeScc) {
    operand.index = kScc;
    return true;
  }
  return false;
}

void Decoding::vgpr(Operand& operand, unsigned reg, unsigned dwords) {
  operand.kind = Operand::Kind::kVgpr;
  operand.code = static_cast<uint8_t>(reg);
  operand.index = static_cast<uint16_t>(reg);
  operand.dwords = static_cast<uint8_t>(dwords);
  inst_.vgpr_end = std::max<uint16_t>(inst_.vgpr_end, static_cast<uint16_t>(reg + dwords));
}

void Decoding::agpr(Operand& operand, unsigned reg, unsigned dwords) {
  operand.kind = Operand::Kind::kAgpr;
  operand.code = static_cast<uint8_t>(reg);
  operand.index = static_cast<uint16_t>(reg);
  operand.dwords = static_cast<uint8_t>(dwords);
  inst_.agpr_end = std::max<uint16_t>(inst_.agpr_end, static_cast<uint16_t>(reg + dwords));
}

void Decoding::mask(Operand& operand, unsigned code, bool destination) {
  if (!scalar_register(operand, code, wave32_ ? 1 : 2, destination)) operand.kind = Operand::Kind::kNone;
  operand.type = OperandType::kMask;
}

/// What inline float constant n (0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi)) is in a type.
uint64_t Decoding::float_constant(unsigned n, OperandType type) {
  static constexpr uint32_t kF32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
  static constexpr uint16_t kF16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
  static constexpr uint64_t kF64Inv2Pi = 0x3fc45f306dc9c882;
  switch (type) {
    case OperandType::kF64:
    case OperandType::kI64: return n == 8 ? kF64Inv2Pi : std::bit_cast<uint64_t>(double{std::bit_cast<float>(kF32[n])});
    case OperandType::kF16:
    case OperandType::kI16:
    case OperandType::kV2F16: return kF16[n];
    case OperandType::kBf16:
    case OperandType::kV2Bf16: return n == 8 ? 0x3e22 : kF32[n] >> 16;
    default: return kF32[n];
  }
}

void Decoding::constant(Operand& operand, unsigned code) {
  operand.kind = Operand::Kind::kConstant;
  operand.code = static_cast<uint8_t>(code);
  if (code >= kCodeFloatFirst) {
    operand.value = float_constant(code - kCodeFloatFirst, operand.type);
    return;
  }
  const int64_t value = code <= 192 ? int64_t{code} - 128 : 192 - int64_t{code};
  operand.value = static_cast<uint64_t>(value);
  if (operand.dwords < 2) operand.value &= 0xffffffff;
  if (operand.type == OperandType::kF16 || operand.type == OperandType::kI16) operand.value &= 0xffff;
}

void Decoding::literal(Operand& operand, const Slot& slot) {
  operand.kind = Operand::Kind::kConstant;
  operand.literal = true;
  operand.code = kCodeLiteral;
  operand.value = inst_.literal;
  if (slot.type == OperandType::kF64) operand.value = uint64_t{inst_.literal} << 32;
  if (slot.type == OperandType::kI64 && info_->name.ends_with("_i64"))
    operand.value = static_cast<uint64_t>(int64_t{static_cast<int32_t>(inst_.literal)});
}

/// A source by its 9-bit code (8-bit scalar fields use the same numbers below 256).
bool Decoding::source(Operand& operand, const Slot& slot, unsigned code) {
  operand.type = slot.type;
  operand.dwords = slot.dwords;
  if (code >= kCodeVgpr0) {
    if (slot.cls == RegClass::sgpr) return false;
    if (slot.cls == RegClass::agpr)
      agpr(operand, code - kCodeVgpr0, slot.dwords);
    else
      vgpr(operand, code - kCodeVgpr0, slot.dwords);
    return operand.index + slot.dwords <= 256;
  }
  if (slot.cls == RegClass::vgpr || slot.cls == RegClass::agpr) {
    if (code == kCodeLdsDirect && !gfx11_) {
      operand.kind = Operand::Kind::kLdsDirect;
      return slot.type == OperandType::kBits && slot.dwords == 1;
    }
    if (slot.type == OperandType::kBits) return false;
  }
  if (slot.type == OperandType::kMask) {
    mask(operand, code, false);
    return bool(operand);
  }
  if ((code >= kCodeInt0 && code <= kCodeIntMinus16) || (code >= kCodeFloatFirst && code <= kCodeFloatLast)) {
    if (slot.type == OperandType::kBits) return false;
    constant(operand, code);
    return true;
  }
  switch (code) {
    case kCodeLiteral:
      if (slot.type == OperandType::kBits || !take_literal()) return false;
      literal(operand, slot);
      return true;
    case kCodeVccz: operand.kind = Operand::Kind::kVccz; break;
    case kCodeExecz: operand.kind = Operand::Kind::kExecz; break;
    case kCodeLdsDirect:
      operand.kind = Operand::Kind::kLdsDirect;
      if (gfx11_) return false;
      break;
    default: return scalar_register(operand, code, slot.dwords, false);
  }
  operand.code = static_cast<uint8_t>(code);
  return true;
}

}  // namespace isa
}  // namespace vgpu
