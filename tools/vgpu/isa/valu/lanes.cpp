#include "tools/vgpu/isa/valu/lanes.h"

#include <immintrin.h>

#include "tools/vgpu/isa/valu/dpp.h"

namespace vgpu::valu {
namespace {

constexpr u32 kAllOfRow = 0xffff;

/// Bit l of `mask` as all ones or zero in lane l.
struct BitTable {
  u32 v[32];
};
constexpr BitTable kBits = [] {
  BitTable t{};
  for (u32 l = 0; l < 32; ++l) t.v[l] = 1u << l;
  return t;
}();

/// Lanes that find no source under this DPP16 control (or whose source is inactive, unless fetched all the same).
u64 lanes_with_source(const LaneMap& map, u64 exec, bool fetch_inactive, unsigned lanes) {
  u64 valid = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    const u8 source = map[l];
    if (source < lanes && (fetch_inactive || (exec >> source & 1))) valid |= u64{1} << l;
  }
  return valid;
}

const u32* permuted(const u32* row, const LaneMap& map, u64 valid, unsigned lanes, Row& buffer) {
  for (unsigned l = 0; l < lanes; ++l) buffer.v[l] = (valid >> l & 1) ? row[map[l] & 63] : 0;
  return buffer.v;
}

const u32* dpp_row(const Wave& w, const Inst& i, const u32* row, Row& buffer) {
  const u64 exec = w.exec();
  const unsigned lanes = w.lanes();
  if (i.lane_mode == LaneMode::kDpp8) {
    const LaneMap map = dpp8_map(i.dpp_ctrl);
    return permuted(row, map, lanes_with_source(map, exec, i.fi, lanes), lanes, buffer);
  }
  const LaneMap& map = dpp16_map(i.dpp_ctrl);
  return permuted(row, map, lanes_with_source(map, exec, i.fi, lanes), lanes, buffer);
}

void select_part(Row& buffer, const u32* row, const Operand& operand) {
  const unsigned width = operand.sel < 4 ? 8 : 16,
                 shift = operand.sel < 4 ? operand.sel * 8u : (operand.sel - 4u) * 16u;
  const unsigned up = 32 - width - shift;
  if (operand.sext)
    for (unsigned l = 0; l < kLanes; ++l)
      buffer.v[l] = static_cast<u32>(static_cast<i32>(row[l] << up) >> (32 - width));
  else
    for (unsigned l = 0; l < kLanes; ++l) buffer.v[l] = row[l] << up >> (32 - width);
}

void broadcast(Row& buffer, u32 value) {
  for (u32& v : buffer.v) v = value;
}

u32 scalar_dword(const Wave& w, const Operand& operand, unsigned part) {
  switch (operand.kind) {
    case Operand::Kind::kSgpr: return operand.index == kScc && part != 0 ? 0 : w.s[operand.index + part];
    case Operand::Kind::kVccz: return part == 0 && w.vcc() == 0;
    case Operand::Kind::kExecz: return part == 0 && w.exec() == 0;
    default: return static_cast<u32>(operand.value >> (32 * part));
  }
}

/// Sign modifiers mean something for floating point sources only.
bool has_sign_modifiers(const Operand& operand) {
  if (!operand.neg && !operand.abs) return false;
  switch (operand.type) {
    case OperandType::kF16:
    case OperandType::kF32:
    case OperandType::kF64: return true;
    default: return false;
  }
}

/// Clears the sign for abs, then flips it for neg.
const u32* signed_row(const Operand& operand, const u32* row, u32 sign, Row& buffer) {
  const u32 keep = operand.abs ? ~sign : ~0u, flip = operand.neg ? sign : 0;
  for (unsigned l = 0; l < kLanes; ++l) buffer.v[l] = (row[l] & keep) ^ flip;
  return buffer.v;
}

}  // namespace

u32* register_row(Wave& w, const Operand& operand, unsigned part) {
  return operand.kind == Operand::Kind::kAgpr ? w.agpr(operand.index + part) : w.vgpr(operand.index + part);
}

const u32* raw_row(const Wave& w, const Inst& i, size_t n, unsigned part, Row& buffer) {
  const Operand& operand = i.src[n];
  if (!operand.is_vgpr() && operand.kind != Operand::Kind::kAgpr) {
    broadcast(buffer, scalar_dword(w, operand, part));
    if (i.lane_mode == LaneMode::kSdwa && n < 2 && operand.sel != 6) select_part(buffer, buffer.v, operand);
    return buffer.v;
  }
  const u32* row = register_row(const_cast<Wave&>(w), operand, part);
  if (i.lane_mode == LaneMode::kPlain) return row;
  if (i.lane_mode == LaneMode::kSdwa) {
    if (n >= 2 || operand.sel == 6) return row;
    select_part(buffer, row, operand);
    return buffer.v;
  }
  return n == 0 ? dpp_row(w, i, row, buffer) : row;
}

const u32* row32(const Wave& w, const Inst& i, size_t n, Row& buffer) {
  const u32* row = raw_row(w, i, n, 0, buffer);
  const Operand& operand = i.src[n];
  return has_sign_modifiers(operand) ? signed_row(operand, row, 0x80000000, buffer) : row;
}

const u32* row16(const Wave& w, const Inst& i, size_t n, Row& buffer) {
  const u32* row = raw_row(w, i, n, 0, buffer);
  const Operand& operand = i.src[n];
  const unsigned shift = operand.hi ? 16 : 0;
  const bool sign = has_sign_modifiers(operand);
  const u32 keep = sign && operand.abs ? 0x7fff : 0xffff, flip = sign && operand.neg ? 0x8000 : 0;
  for (unsigned l = 0; l < kLanes; ++l) buffer.v[l] = (row[l] >> shift & keep) ^ flip;
  return buffer.v;
}

Pair row64(const Wave& w, const Inst& i, size_t n, Row& lo, Row& hi) {
  const Operand& operand = i.src[n];
  Pair pair{raw_row(w, i, n, 0, lo), raw_row(w, i, n, 1, hi)};
  if (has_sign_modifiers(operand)) pair.hi = signed_row(operand, pair.hi, 0x80000000, hi);
  return pair;
}

u64 mask_source(const Wave& w, const Operand& operand) {
  if (operand.is_sgpr()) return w.mask(operand.index);
  return operand.value & w.lane_mask;
}

u64 write_mask(const Wave& w, const Inst& i) {
  const u64 exec = w.exec();
  if (i.lane_mode != LaneMode::kDpp16) return exec;
  u64 mask = exec;
  if (i.row_mask != 0xf || i.bank_mask != 0xf) {
    u64 banks = 0;
    for (unsigned b = 0; b < 4; ++b)
      if (i.bank_mask >> b & 1) banks |= u64{0xf} << (4 * b);
    for (unsigned r = 0; r < 4; ++r)
      if (!(i.row_mask >> r & 1)) mask &= ~(u64{kAllOfRow} << (16 * r));
    mask &= banks | banks << 16 | banks << 32 | banks << 48;
  }
  if (!i.bound_ctrl) mask &= lanes_with_source(dpp16_map(i.dpp_ctrl), exec, i.fi, w.lanes());
  return mask;
}

void blend(u32* to, const u32* from, u64 mask) {
  for (unsigned half = 0; half < 2; ++half, to += 32, from += 32, mask >>= 32) {
    const u32 m = static_cast<u32>(mask);
    if (m == 0) continue;
    if (m == ~0u) {
      std::memcpy(to, from, 32 * sizeof(u32));
      continue;
    }
    for (unsigned l = 0; l < 32; ++l) to[l] = (m & kBits.v[l]) != 0 ? from[l] : to[l];
  }
}

namespace {

/// Puts the result's low bits at the selected part; what is left over follows dst_unused.
void sdwa_write(u32* dst, const Inst& i, const Row& value, u64 mask) {
  const unsigned sel = i.dst_sel, width = sel < 4 ? 8 : 16, shift = sel < 4 ? sel * 8u : (sel - 4u) * 16u;
  const u32 low = (1u << width) - 1, field = low << shift;
  Row merged;
  for (unsigned l = 0; l < kLanes; ++l) {
    const u32 part = (value.v[l] & low) << shift;
    switch (i.dst_unused) {
      case 0: merged.v[l] = part; break;
      case 1: {
        const bool negative = value.v[l] >> (width - 1) & 1;
        merged.v[l] = part | (negative ? ~(field | (field - 1)) & ~((1u << shift) - 1) : 0);
        break;
      }
      default: merged.v[l] = part | (dst[l] & ~field); break;
    }
  }
  blend(dst, merged.v, mask);
}

}  // namespace

void write32(Wave& w, const Inst& i, const Row& value, u64 mask) {
  u32* dst = register_row(w, i.dst[0]);
  if (i.lane_mode == LaneMode::kSdwa && i.dst_sel != 6) return sdwa_write(dst, i, value, mask);
  blend(dst, value.v, mask);
}

void write16(Wave& w, const Inst& i, const Row& value, u64 mask) {
  u32* dst = register_row(w, i.dst[0]);
  if (i.lane_mode == LaneMode::kSdwa && i.dst_sel != 6) return sdwa_write(dst, i, value, mask);
  Row merged;
  if (i.dst_hi)
    for (unsigned l = 0; l < kLanes; ++l) merged.v[l] = (dst[l] & 0xffff) | value.v[l] << 16;
  else if (i.keep_half)
    for (unsigned l = 0; l < kLanes; ++l) merged.v[l] = (dst[l] & 0xffff0000) | value.v[l];
  else
    merged = value;
  blend(dst, merged.v, mask);
}

void write64(Wave& w, const Inst& i, const Row& lo, const Row& hi, u64 mask) {
  blend(register_row(w, i.dst[0]), lo.v, mask);
  blend(register_row(w, i.dst[0], 1), hi.v, mask);
}

void write_mask_result(Wave& w, const Operand& dst, u64 value) {
  if (dst.is_sgpr()) w.set_mask(dst.index, value & w.exec());
}

namespace {

constexpr float kOmodFactors[] = {1.0f, 2.0f, 4.0f, 0.5f};

/// Output modifiers work only where the result's denormals are flushed and IEEE mode is off.
bool omod_works(const Wave& w, unsigned denorm_shift) {
  return (w.mode >> denorm_shift & 2) == 0 && (w.mode & Mode::kIeee) == 0;
}

/// NaN becomes 0 with DX10_CLAMP and stays NaN without. Negative zero is not below zero and stays.
template <class T>
T clamped(T value, bool dx10) {
  if (value != value) return dx10 ? T{0} : value;
  return value < T{0} ? T{0} : value > T{1} ? T{1} : value;
}

}  // namespace

void finish_f32(const Wave& w, const Inst& i, Row& value) {
  const bool dx10 = w.mode & Mode::kDx10Clamp;
  const float factor = omod_works(w, Mode::kDenorm32Shift) ? kOmodFactors[i.omod] : 1.0f;
  for (u32& v : value.v) {
    float f = std::bit_cast<float>(v);
    if (factor != 1.0f) f *= factor;
    v = std::bit_cast<u32>(i.clamp ? clamped(f, dx10) : f);
  }
}

void finish_f16(const Wave& w, const Inst& i, Row& value) {
  const bool dx10 = w.mode & Mode::kDx10Clamp;
  const float factor = omod_works(w, Mode::kDenorm64Shift) ? kOmodFactors[i.omod] : 1.0f;
  for (u32& v : value.v) {
    float f = to_float(Half{static_cast<u16>(v)});
    if (factor != 1.0f) f *= factor;
    v = to_half(i.clamp ? clamped(f, dx10) : f).bits;
  }
}

void finish_f64(const Wave& w, const Inst& i, Row& lo, Row& hi) {
  const bool dx10 = w.mode & Mode::kDx10Clamp;
  const double factor = omod_works(w, Mode::kDenorm64Shift) ? double{kOmodFactors[i.omod]} : 1.0;
  for (unsigned l = 0; l < kLanes; ++l) {
    double d = std::bit_cast<double>(u64{lo.v[l]} | u64{hi.v[l]} << 32);
    if (factor != 1.0) d *= factor;
    const u64 bits = std::bit_cast<u64>(i.clamp ? clamped(d, dx10) : d);
    lo.v[l] = static_cast<u32>(bits);
    hi.v[l] = static_cast<u32>(bits >> 32);
  }
}

void run_in_mode(Wave& w, const Inst& i, FloatClass c, ExecFn body) {
  const bool f32 = c == FloatClass::kF32;
  const u32 round = w.mode >> (f32 ? Mode::kRound32Shift : Mode::kRound64Shift) & 3;
  const u32 denorm = w.mode >> (f32 ? Mode::kDenorm32Shift : Mode::kDenorm64Shift) & 3;
  // MXCSR: rounding even, down, up, zero in bits 14:13; bit 15 flushes results, bit 6 sources.
  static constexpr u32 kRounding[] = {0, 2, 1, 3};
  const unsigned saved = _mm_getcsr();
  unsigned csr = (saved & ~0xe040u) | kRounding[round] << 13;
  if ((denorm & 2) == 0) csr |= 0x8000;
  if ((denorm & 1) == 0) csr |= 0x40;
  _mm_setcsr(csr);
  body(w, i);
  _mm_setcsr(saved);
}

}  // namespace vgpu::valu
