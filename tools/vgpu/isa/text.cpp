// Assembler text: operands and the vector ALU formats.
#include "tools/vgpu/isa/text.h"

#include <array>
#include <cstdio>

#include "tools/vgpu/shader/wave.h"

namespace vgpu {

std::string Decoder::text(const Inst& inst) const {
  if (inst.op == Op::kNone) return "<illegal instruction>";
  return isa::TextWriter(inst, target_).run();
}

namespace isa {

std::string TextWriter::run() {
  if (inst_.format == Format::kVopd) {
    vopd();
    return out_;
  }
  out_ = mnemonic();
  switch (inst_.format) {
    case Format::kSop1:
    case Format::kSop2:
    case Format::kSopc:
    case Format::kSopk:
    case Format::kSopp: scalar(); break;
    case Format::kSmem: smem(); break;
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc:
    case Format::kVop3:
    case Format::kVop3p: vop(); break;
    case Format::kDs: ds(); break;
    case Format::kFlat:
    case Format::kGlobal:
    case Format::kScratch: flat(); break;
    case Format::kMubuf:
    case Format::kMtbuf: buffer(); break;
    default: break;  // graphics formats: the name is all that a report needs
  }
  return out_;
}

std::string TextWriter::mnemonic() {
  std::string name(gfx11_ ? info_.gfx11 : info_.gfx9);
  const Op op = inst_.op;
  const bool has_vop3 = has_format(op, Format::kVop3, target_);
  const bool has_e32 = has_format(op, Format::kVop1, target_) || has_format(op, Format::kVop2, target_) ||
                       has_format(op, Format::kVopc, target_);
  switch (inst_.format) {
    case Format::kVop1:
    case Format::kVop2:
    case Format::kVopc:
      if (inst_.lane_mode == LaneMode::kSdwa) return name + "_sdwa";
      if (inst_.lane_mode != LaneMode::kPlain) return inst_.format == Format::kVopc ? name : name + "_dpp";
      return (has_vop3 && info_.slot_count > 0) || (op == Op::v_pk_fmac_f16 && !gfx11_) ? name + "_e32" : name;
    case Format::kVop3:
      if (inst_.lane_mode != LaneMode::kPlain) return name + "_e64_dpp";
      return has_e32 && info_.slot_count > 0 ? name + "_e64" : name;
    case Format::kVop3p: return inst_.lane_mode != LaneMode::kPlain ? name + "_dpp" : name;
    default: return name;
  }
}

void TextWriter::next() {
  out_ += first_ ? " " : ", ";
  first_ = false;
}

void TextWriter::hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  out_ += text;
}

void TextWriter::registers(char prefix, unsigned first, unsigned dwords) {
  out_ += prefix;
  if (dwords <= 1) {
    out_ += std::to_string(first);
    return;
  }
  out_ += '[' + std::to_string(first) + ':' + std::to_string(first + dwords - 1) + ']';
}

void TextWriter::scalar_register(const Operand& operand) {
  const unsigned n = operand.index, dwords = operand.dwords;
  auto pair = [&](const char* whole, unsigned first) {
    out_ += whole;
    if (dwords == 1) out_ += n == first ? "_lo" : "_hi";
  };
  if (n < 102 || (gfx11_ && n < kVccLo)) return registers('s', n, dwords);
  if (n < kXnackMaskLo) return pair("flat_scratch", kFlatScratchLo);
  if (n < kVccLo) return pair("xnack_mask", kXnackMaskLo);
  if (n < kTtmp0) return pair("vcc", kVccLo);
  if (n < kM0) {
    out_ += "ttmp";
    if (dwords == 1)
      out_ += std::to_string(n - kTtmp0);
    else
      out_ += '[' + std::to_string(n - kTtmp0) + ':' + std::to_string(n - kTtmp0 + dwords - 1) + ']';
    return;
  }
  static constexpr const char* kApertures[] = {"src_shared_base", "src_shared_limit", "src_private_base",
                                               "src_private_limit"};
  if (n == kM0)
    add("m0");
  else if (n == kExecLo || n == kExecHi)
    pair("exec", kExecLo);
  else if (n >= kSharedBase && n < kZero)
    add(kApertures[(n - kSharedBase) / 2]);
  else if (n == kScc)
    add("src_scc");
  else
    add("null");
}

void TextWriter::operand(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kNone: add("off"); break;
    case Operand::Kind::kSgpr: scalar_register(operand); break;
    case Operand::Kind::kVgpr: registers('v', operand.index, operand.dwords); break;
    case Operand::Kind::kAgpr: registers('a', operand.index, operand.dwords); break;
    case Operand::Kind::kConstant: constant(operand); break;
    case Operand::Kind::kVccz: add("src_vccz"); break;
    case Operand::Kind::kExecz: add("src_execz"); break;
    case Operand::Kind::kLdsDirect: add("src_lds_direct"); break;
  }
  if (operand.is_vgpr() && inst_.true16 && operand.hi) add(".h");
}

namespace {

struct FloatText {
  uint64_t value;
  const char* text;
};
constexpr FloatText kF16Texts[] = {{0x3c00, "1.0"},  {0xbc00, "-1.0"}, {0x3800, "0.5"},
                                   {0xb800, "-0.5"}, {0x4000, "2.0"},  {0xc000, "-2.0"},
                                   {0x4400, "4.0"},  {0xc400, "-4.0"}, {0x3118, "0.15915494"}};
constexpr FloatText kF32Texts[] = {{0x3f800000, "1.0"},  {0xbf800000, "-1.0"}, {0x3f000000, "0.5"},
                                   {0xbf000000, "-0.5"}, {0x40000000, "2.0"},  {0xc0000000, "-2.0"},
                                   {0x40800000, "4.0"},  {0xc0800000, "-4.0"}, {0x3e22f983, "0.15915494"}};
constexpr FloatText kF64Texts[] = {
    {0x3ff0000000000000, "1.0"},  {0xbff0000000000000, "-1.0"}, {0x3fe0000000000000, "0.5"},
    {0xbfe0000000000000, "-0.5"}, {0x4000000000000000, "2.0"},  {0xc000000000000000, "-2.0"},
    {0x4010000000000000, "4.0"},  {0xc010000000000000, "-4.0"}, {0x3fc45f306dc9c882, "0.15915494309189532"}};

const char* float_text(std::span<const FloatText> texts, uint64_t value) {
  for (const FloatText& t : texts)
    if (t.value == value) return t.text;
  return nullptr;
}

}  // namespace

void TextWriter::constant(const Operand& operand) {
  int64_t as_int = static_cast<int32_t>(operand.value);
  const char* text = nullptr;
  switch (operand.type) {
    case OperandType::kI16: as_int = static_cast<int16_t>(operand.value); break;
    case OperandType::kF16:
      as_int = static_cast<int16_t>(operand.value);
      text = float_text(kF16Texts, operand.value & 0xffff);
      break;
    case OperandType::kV2F16: text = float_text(kF16Texts, operand.value); break;
    case OperandType::kF64:
    case OperandType::kI64:
      as_int = static_cast<int64_t>(operand.value);
      text = float_text(kF64Texts, operand.value);
      break;
    default: text = float_text(kF32Texts, operand.value); break;
  }
  if (operand.type == OperandType::kBits) return hex(inst_.literal);
  const bool half = operand.type == OperandType::kI16 || operand.type == OperandType::kF16;
  if (operand.literal && operand.type == OperandType::kI16) {
    as_int = static_cast<int32_t>(inst_.literal);
    text = float_text(kF32Texts, inst_.literal);
  }
  if (as_int >= -16 && as_int <= 64 && !(operand.literal && operand.type == OperandType::kI64 && as_int < 0))
    return decimal(as_int);
  if (text != nullptr) return add(text);
  if (operand.literal) return hex(half ? inst_.literal & 0xffff : inst_.literal);
  hex(operand.value);
}

void TextWriter::vop_source(size_t n) {
  const Operand& source = inst_.src[n];
  const bool packed = inst_.format == Format::kVop3p && modifiers().packed != 2 && modifiers().packed != 3;
  next();
  if (packed) return operand(source);
  if (source.sext) {
    add("sext(");
    operand(source);
    return add(")");
  }
  if (source.type == OperandType::kI16 || source.type == OperandType::kI32 || source.type == OperandType::kI64)
    return operand(source);  // no sign modifiers
  // "-1" would read as the integer, so a negated constant is spelled out.
  const bool spelled = source.neg && !source.abs && source.is_constant();
  if (source.neg) add(spelled ? "neg(" : "-");
  if (source.abs) add("|");
  operand(source);
  if (source.abs) add("|");
  if (spelled) add(")");
}

void TextWriter::bit_list(std::string_view name, std::initializer_list<bool> values, bool unless) {
  bool plain = true;
  for (bool value : values) plain = plain && value == unless;
  if (plain) return;
  add(" ");
  add(name);
  add(":[");
  bool comma = false;
  for (bool value : values) {
    if (comma) add(",");
    add(value ? "1" : "0");
    comma = true;
  }
  add("]");
}

void TextWriter::op_sel_suffix() {
  const auto& s = inst_.src;
  const bool dst = inst_.raw >> 14 & 1;  // for results of 32 bits it means nothing
  if (info_.name.starts_with("v_permlane")) return bit_list("op_sel", {inst_.fi, inst_.bound_ctrl}, false);
  if (!modifiers().op_sel) return;
  if (s[2] || info_.name.starts_with("v_cvt_sr"))
    bit_list("op_sel", {s[0].hi, s[1].hi, s[2].hi, dst}, false);
  else if (s[1])
    bit_list("op_sel", {s[0].hi, s[1].hi, dst}, false);
  else
    bit_list("op_sel", {s[0].hi, dst}, false);
}

void TextWriter::packed_suffix() {
  const auto& s = inst_.src;
  const bool mix = modifiers().packed == 2 || modifiers().packed == 3;
  const bool three = bool(s[2]);
  auto list = [&](const char* name, bool (*get)(const Operand&), bool unless) {
    if (three)
      bit_list(name, {get(s[0]), get(s[1]), get(s[2])}, unless);
    else
      bit_list(name, {get(s[0]), get(s[1])}, unless);
  };
  list("op_sel", [](const Operand& o) -> bool { return o.hi; }, false);
  if (modifiers().packed != 6) list("op_sel_hi", [](const Operand& o) -> bool { return o.hi_hi; }, !mix);
  if (mix) return;
  list("neg_lo", [](const Operand& o) -> bool { return o.neg; }, false);
  list("neg_hi", [](const Operand& o) -> bool { return o.abs; }, false);
}

void TextWriter::dpp_suffix() {
  if (inst_.lane_mode == LaneMode::kDpp8) {
    add(" dpp8:[");
    for (unsigned i = 0; i < 8; ++i) {
      if (i > 0) add(",");
      decimal(inst_.dpp_ctrl >> (3 * i) & 7);
    }
    add("]");
    if (inst_.fi) add(" fi:1");
    return;
  }
  const uint32_t c = inst_.dpp_ctrl;
  auto numbered = [&](const char* name) {
    add(name);
    decimal(c & 15);
  };
  add(" ");
  if (c < 0x100) {
    add("quad_perm:[");
    for (unsigned i = 0; i < 4; ++i) {
      if (i > 0) add(",");
      decimal(c >> (2 * i) & 3);
    }
    add("]");
  } else if (c > 0x100 && c < 0x110)
    numbered("row_shl:");
  else if (c > 0x110 && c < 0x120)
    numbered("row_shr:");
  else if (c > 0x120 && c < 0x130)
    numbered("row_ror:");
  else if (c == 0x130)
    add("wave_shl:1");
  else if (c == 0x134)
    add("wave_rol:1");
  else if (c == 0x138)
    add("wave_shr:1");
  else if (c == 0x13c)
    add("wave_ror:1");
  else if (c == 0x140)
    add("row_mirror");
  else if (c == 0x141)
    add("row_half_mirror");
  else if (c == 0x142)
    add("row_bcast:15");
  else if (c == 0x143)
    add("row_bcast:31");
  else if (c >= 0x150 && c < 0x160)
    numbered(gfx11_ ? "row_share:" : "row_newbcast:");
  else if (c >= 0x160 && c < 0x170)
    numbered("row_xmask:");
  else
    hex(c);
  add(" row_mask:");
  hex(inst_.row_mask);
  add(" bank_mask:");
  hex(inst_.bank_mask);
  if (inst_.bound_ctrl) add(" bound_ctrl:1");
  if (inst_.fi) add(" fi:1");
}

void TextWriter::sdwa_suffix() {
  static constexpr const char* kSelects[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "?"};
  static constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"};
  if (inst_.format != Format::kVopc) {
    add(" dst_sel:");
    add(kSelects[inst_.dst_sel]);
    add(" dst_unused:");
    add(kUnused[inst_.dst_unused]);
  }
  add(" src0_sel:");
  add(kSelects[inst_.src[0].sel]);
  if (!inst_.src[1] || inst_.src[1].type == OperandType::kMask) return;
  add(" src1_sel:");
  add(kSelects[inst_.src[1].sel]);
}

void TextWriter::vop_suffixes() {
  if (inst_.format == Format::kVop3) op_sel_suffix();
  if (modifiers().packed != 0) packed_suffix();
  if (inst_.clamp) add(" clamp");
  static constexpr const char* kOmods[] = {"", " mul:2", " mul:4", " div:2"};
  add(kOmods[inst_.omod]);
  if (inst_.lane_mode == LaneMode::kSdwa)
    sdwa_suffix();
  else if (inst_.lane_mode != LaneMode::kPlain)
    dpp_suffix();
}

void TextWriter::vop() {
  if (info_.name.starts_with("v_mfma") || info_.name.starts_with("v_smfmac")) return matrix();
  for (const Operand& dst : inst_.dst) {
    if (!dst) continue;
    next();
    operand(dst);
  }
  for (size_t n = 0; n < inst_.src.size(); ++n)
    if (inst_.src[n]) vop_source(n);
  vop_suffixes();
}

void TextWriter::matrix() {
  next();
  operand(inst_.dst[0]);
  for (size_t n = 0; n < 3; ++n) {
    next();
    operand(inst_.src[n]);
  }
  const bool f64 = info_.name.find("_f64") != std::string_view::npos;
  auto control = [&](const char* name, unsigned value) {
    if (value == 0) return;
    add(name);
    decimal(value);
  };
  control(" cbsz:", inst_.cbsz);
  control(" abid:", inst_.abid);
  if (f64 && target_ == IsaTarget::kGfx942)
    bit_list("neg", {bool(inst_.blgp & 1), bool(inst_.blgp & 2), bool(inst_.blgp & 4)}, false);
  else
    control(" blgp:", inst_.blgp);
}

void TextWriter::vopd() {
  for (size_t half = 0; half < 2; ++half) {
    const OpInfo& info = op_info(half == 0 ? inst_.op_x : inst_.op_y);
    add(half == 0 ? "v_dual_" : " :: v_dual_");
    add(info.gfx11.substr(2));
    first_ = true;
    next();
    operand(inst_.dst[half]);
    for (size_t n = half * 3; n < half * 3 + 3; ++n) {
      if (!inst_.src[n] || inst_.src[n].type == OperandType::kMask) continue;
      next();
      operand(inst_.src[n]);
    }
  }
}

}  // namespace isa
}  // namespace vgpu
