// Dot products of small vectors packed in one register.
#include <algorithm>
#include <limits>

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/float16.h"
#include "tools/vgpu/isa/valu/math.h"
#include "tools/vgpu/isa/valu/matrix_element.h"
#include "tools/vgpu/isa/valu/packed.h"

namespace vgpu::valu {
namespace {

inline float f16(u16 bits) { return to_float(Half{bits}); }

/// Two products of halves, summed in float one after the other.
/// gfx90a sees denormal halves as zero in these, and makes no denormal result.
template <auto kToFloat>
void dot2_float(Wave& w, const Inst& i) {
  PackedSource a, b;
  a.load(w, i, 0);
  b.load(w, i, 1);
  const bool accumulate = !i.src[2];
  const bool has_packed_modifiers = i.format == Format::kVop3p, flush = flushes_half(w);
  Row c_buffer, out;
  const u32* c = accumulate ? register_row(w, i.dst[0]) : row32(w, i, 2, c_buffer);
  Row a_buffer, b_buffer;
  const u32 *a_raw = raw_row(w, i, 0, 0, a_buffer), *b_raw = raw_row(w, i, 1, 0, b_buffer);
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const u16 a_high = has_packed_modifiers ? a.high(l) : static_cast<u16>(a_raw[l] >> 16);
    const u16 b_high = has_packed_modifiers ? b.high(l) : static_cast<u16>(b_raw[l] >> 16);
    const auto input = [flush](u16 bits) {
      const bool denormal = (bits & (kToFloat(1) == 0x1p-24f ? 0x7c00 : 0x7f80)) == 0;
      return flush && denormal ? 0.0f : kToFloat(bits);
    };
    float sum = std::bit_cast<float>(c[l]);
    sum = std::fma(input(a.low(l)), input(b.low(l)), sum);
    sum = std::fma(input(a_high), input(b_high), sum);
    if (flush) sum = flushed(sum);
    out.v[l] = std::bit_cast<u32>(sum);
  }
  if (i.clamp) finish_f32(w, i, out);
  write32(w, i, out, write_mask(w, i));
}

/// Results of 16 bits (VOP3: no halves to choose in the packed sources).
void dot2_f16(Wave& w, const Inst& i) {
  Row a_buffer, b_buffer;
  const u32 *a = raw_row(w, i, 0, 0, a_buffer), *b = raw_row(w, i, 1, 0, b_buffer);
  const Source<Half> c(w, i, 2);
  Result<Half> out;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    float sum = to_float(c[l]);
    sum = std::fma(f16(static_cast<u16>(a[l])), f16(static_cast<u16>(b[l])), sum);
    sum = std::fma(f16(static_cast<u16>(a[l] >> 16)), f16(static_cast<u16>(b[l] >> 16)), sum);
    out.set(l, to_half(sum));
  }
  out.write(w, i);
}

void dot2_bf16(Wave& w, const Inst& i) {
  Row a_buffer, b_buffer;
  const u32 *a = raw_row(w, i, 0, 0, a_buffer), *b = raw_row(w, i, 1, 0, b_buffer);
  const Source<u16> c(w, i, 2);
  Result<u16> out;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    float sum = from_bf16(c[l]);
    sum = std::fma(from_bf16(static_cast<u16>(a[l])), from_bf16(static_cast<u16>(b[l])), sum);
    sum = std::fma(from_bf16(static_cast<u16>(a[l] >> 16)), from_bf16(static_cast<u16>(b[l] >> 16)), sum);
    out.set(l, to_bf16(sum));
  }
  out.write(w, i);
}

template <unsigned kBits, bool kSigned>
constexpr i64 element(u32 v, unsigned n) {
  const u32 part = v >> (n * kBits) & static_cast<u32>((u64{1} << kBits) - 1);
  return kSigned && (part >> (kBits - 1) & 1) ? i64{part} - (i64{1} << kBits) : i64{part};
}

template <unsigned kBits, bool kSignedA, bool kSignedB>
i64 dot(u32 a, u32 b) {
  i64 sum = 0;
  for (unsigned n = 0; n < 32 / kBits; ++n) sum += element<kBits, kSignedA>(a, n) * element<kBits, kSignedB>(b, n);
  return sum;
}

template <bool kSigned>
u32 finished(i64 sum, bool clamp) {
  if (!clamp) return static_cast<u32>(sum);
  return kSigned ? static_cast<u32>(std::clamp<i64>(sum, INT32_MIN, INT32_MAX))
                 : static_cast<u32>(std::clamp<i64>(sum, 0, UINT32_MAX));
}

using Dot = i64 (*)(u32, u32);

template <bool kSigned>
void dot_body(Wave& w, const Inst& i, Dot function) {
  Row a_buffer, b_buffer, c_buffer, out;
  const u32 *a = raw_row(w, i, 0, 0, a_buffer), *b = raw_row(w, i, 1, 0, b_buffer);
  const u32* c = i.src[2] ? raw_row(w, i, 2, 0, c_buffer) : register_row(w, i.dst[0]);
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const i64 addend = kSigned ? i64{static_cast<i32>(c[l])} : i64{c[l]};
    out.v[l] = finished<kSigned>(function(a[l], b[l]) + addend, i.clamp);
  }
  write32(w, i, out, write_mask(w, i));
}

template <unsigned kBits, bool kSigned>
void dot_integer(Wave& w, const Inst& i) {
  dot_body<kSigned>(w, i, &dot<kBits, kSigned, kSigned>);
}

/// Signedness of each source chosen by its neg bit.
template <unsigned kBits>
void dot_either(Wave& w, const Inst& i) {
  static constexpr Dot kFunctions[2][2] = {{&dot<kBits, false, false>, &dot<kBits, false, true>},
                                           {&dot<kBits, true, false>, &dot<kBits, true, true>}};
  dot_body<true>(w, i, kFunctions[i.src[0].neg][i.src[1].neg]);
}

/// 16-bit elements: op_sel may exchange the halves.
template <class T>
void dot2_integer(Wave& w, const Inst& i) {
  PackedSource a, b;
  a.load(w, i, 0);
  b.load(w, i, 1);
  const bool packed = i.format == Format::kVop3p;
  Row a_buffer, b_buffer, c_buffer, out;
  const u32 *a_raw = raw_row(w, i, 0, 0, a_buffer), *b_raw = raw_row(w, i, 1, 0, b_buffer);
  const u32* c = i.src[2] ? raw_row(w, i, 2, 0, c_buffer) : register_row(w, i.dst[0]);
  constexpr bool kSigned = std::is_signed_v<T>;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const i64 a_high = static_cast<T>(packed ? a.high(l) : a_raw[l] >> 16);
    const i64 b_high = static_cast<T>(packed ? b.high(l) : b_raw[l] >> 16);
    const i64 addend = kSigned ? i64{static_cast<i32>(c[l])} : i64{c[l]};
    const i64 low = i64{static_cast<T>(a.low(l))} * static_cast<T>(b.low(l));
    out.v[l] = finished<kSigned>(low + a_high * b_high + addend, i.clamp);
  }
  write32(w, i, out, write_mask(w, i));
}

constexpr ExecEntry kEntries[] = {
    {"v_dot2_f32_f16", &dot2_float<&f16>},
    {"v_dot2acc_f32_f16", &dot2_float<&f16>},
    {"v_dot2_f32_bf16", &dot2_float<&from_bf16>},
    {"v_dot2_f16_f16", &dot2_f16},
    {"v_dot2_bf16_bf16", &dot2_bf16},
    {"v_dot2_i32_i16", &dot2_integer<i16>},
    {"v_dot2_u32_u16", &dot2_integer<u16>},
    {"v_dot2c_i32_i16", &dot2_integer<i16>},
    {"v_dot4_i32_i8", &dot_integer<8, true>},
    {"v_dot4_u32_u8", &dot_integer<8, false>},
    {"v_dot4c_i32_i8", &dot_integer<8, true>},
    {"v_dot4_i32_iu8", &dot_either<8>},
    {"v_dot8_i32_i4", &dot_integer<4, true>},
    {"v_dot8_u32_u4", &dot_integer<4, false>},
    {"v_dot8c_i32_i4", &dot_integer<4, true>},
    {"v_dot8_i32_iu4", &dot_either<4>},
};

}  // namespace

std::span<const ExecEntry> dot_entries() { return kEntries; }

}  // namespace vgpu::valu
