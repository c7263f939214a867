// Packed operations: the two 16-bit halves of a register, or the two dwords of a register pair, at once; and the
// mixed precision fma, whose sources are float or either half of a register.
#include <algorithm>

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/float16.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/packed.h"

namespace vgpu::valu {
namespace {

constexpr u16 saturate_u16(i64 value) { return static_cast<u16>(std::clamp<i64>(value, 0, 0xffff)); }
constexpr i16 saturate_i16(i64 value) { return static_cast<i16>(std::clamp<i64>(value, -0x8000, 0x7fff)); }

Half clamped16(Half h, bool dx10) {
  if (is_nan(h)) return dx10 ? Half{0} : h;
  return sign_of(h) ? Half{0} : Half{std::min<u16>(h.bits, 0x3c00)};
}

template <auto F, class T, size_t... n>
T call(const std::array<PackedSource, sizeof...(n)>& s, unsigned lane, bool high, std::index_sequence<n...>) {
  return static_cast<T>(F(std::bit_cast<T>(high ? s[n].high(lane) : s[n].low(lane))...));
}

/// F on the low and on the high halves.
template <auto F>
void packed_body(Wave& w, const Inst& i) {
  using S = SignatureOf<F>;
  using T = typename S::template Arg<0>;
  constexpr auto kSources = std::make_index_sequence<S::kArgs>();
  std::array<PackedSource, S::kArgs> s;
  for (size_t n = 0; n < S::kArgs; ++n) s[n].load(w, i, n);
  const bool dx10 = w.mode & Mode::kDx10Clamp;
  Row out;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    T low = call<F, T>(s, l, false, kSources), high = call<F, T>(s, l, true, kSources);
    if constexpr (std::is_same_v<T, Half>) {
      if (i.clamp) {
        low = clamped16(low, dx10);
        high = clamped16(high, dx10);
      }
    }
    out.v[l] = std::bit_cast<u16>(low) | u32{std::bit_cast<u16>(high)} << 16;
  }
  write32(w, i, out, write_mask(w, i));
}

template <auto F>
constexpr ExecFn pair = &packed_body<F>;

/// F, or G with clamp.
template <auto F, auto G>
void packed_clamp(Wave& w, const Inst& i) {
  if (i.clamp)
    packed_body<G>(w, i);
  else
    packed_body<F>(w, i);
}
template <auto F, auto G>
constexpr ExecFn pair_clamp = &packed_clamp<F, G>;

template <auto F, auto G>
void packed_ieee(Wave& w, const Inst& i) {
  if (w.mode & Mode::kIeee)
    packed_body<F>(w, i);
  else
    packed_body<G>(w, i);
}
template <auto F, auto G>
constexpr ExecFn pair_ieee = &packed_ieee<F, G>;

/// v_pk_fmac_f16: both halves of the destination are summands.
void packed_fmac(Wave& w, const Inst& i) {
  Row a_buffer, b_buffer, out;
  const u32 *a = raw_row(w, i, 0, 0, a_buffer), *b = raw_row(w, i, 1, 0, b_buffer), *c = register_row(w, i.dst[0]);
  auto half = [](u32 v, unsigned shift) { return Half{static_cast<u16>(v >> shift)}; };
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const Half low = fma16(half(a[l], 0), half(b[l], 0), half(c[l], 0));
    const Half high = fma16(half(a[l], 16), half(b[l], 16), half(c[l], 16));
    out.v[l] = low.bits | u32{high.bits} << 16;
  }
  write32(w, i, out, write_mask(w, i));
}

/// Register pairs of floats: op_sel picks the dword for the low result, op_sel_hi for the high one.
template <auto F>
void packed_float(Wave& w, const Inst& i) {
  constexpr size_t kArgs = SignatureOf<F>::kArgs;
  Row buffers[3][2], out[2];
  const u32* rows[3][2] = {};
  for (size_t n = 0; n < kArgs; ++n)
    for (unsigned part = 0; part < 2; ++part) rows[n][part] = raw_row(w, i, n, part, buffers[n][part]);
  auto source = [&](size_t n, unsigned result, unsigned l) {
    const Operand& operand = i.src[n];
    const bool upper = result == 0 ? operand.hi : operand.hi_hi, negate = result == 0 ? operand.neg : operand.abs;
    return std::bit_cast<float>(rows[n][upper][l] ^ (negate ? 0x80000000u : 0u));
  };
  for (unsigned part = 0; part < 2; ++part) {
    for (unsigned l = 0; l < w.lanes(); ++l) {
      float v;
      if constexpr (kArgs == 3)
        v = F(source(0, part, l), source(1, part, l), source(2, part, l));
      else
        v = F(source(0, part, l), source(1, part, l));
      out[part].v[l] = std::bit_cast<u32>(v);
    }
    if (i.clamp) finish_f32(w, i, out[part]);
  }
  write64(w, i, out[0], out[1], w.exec());
}

template <auto F>
void packed_float_entry(Wave& w, const Inst& i) {
  if (!default_mode(w, FloatClass::kF32)) return run_in_mode(w, i, FloatClass::kF32, &packed_float<F>);
  packed_float<F>(w, i);
}

/// Low result from the first source, high result from the second; op_sel picks the dword of each.
void packed_move(Wave& w, const Inst& i) {
  Row buffers[2], out[2];
  for (unsigned part = 0; part < 2; ++part) {
    const u32* row = raw_row(w, i, part, i.src[part].hi, buffers[part]);
    std::copy_n(row, kLanes, out[part].v);
  }
  write64(w, i, out[0], out[1], w.exec());
}

/// A source of the mixed instructions.
class MixSource {
 public:
  MixSource(const Wave& w, const Inst& i, size_t n) : operand_(i.src[n]), row_(raw_row(w, i, n, 0, buffer_)) {}
  float operator[](unsigned lane) const {
    float v = operand_.hi_hi ? to_float(Half{static_cast<u16>(row_[lane] >> (operand_.hi ? 16 : 0))})
                             : std::bit_cast<float>(row_[lane]);
    if (operand_.abs) v = std::fabs(v);
    return operand_.neg ? -v : v;
  }

 private:
  const Operand& operand_;
  Row buffer_;
  const u32* row_;
};

enum class MixTo { kFloat, kLow, kHigh };

template <MixTo kTo, bool kFused>
void mix(Wave& w, const Inst& i) {
  const MixSource a(w, i, 0), b(w, i, 1), c(w, i, 2);
  const u32* old = register_row(w, i.dst[0]);
  Row out;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const float v =
        kFused ? std::fma(a[l], b[l], c[l]) : flushed(flushed(flushed(a[l]) * flushed(b[l])) + flushed(c[l]));
    out.v[l] = std::bit_cast<u32>(v);
  }
  if (i.clamp) finish_f32(w, i, out);
  if (kTo != MixTo::kFloat) {
    for (unsigned l = 0; l < w.lanes(); ++l) {
      const u32 h = to_half(std::bit_cast<float>(out.v[l])).bits;
      out.v[l] = kTo == MixTo::kLow ? (old[l] & 0xffff0000) | h : (old[l] & 0xffff) | h << 16;
    }
  }
  write32(w, i, out, write_mask(w, i));
}

template <bool kIeee>
constexpr auto kMin = [](Half a, Half b) { return min_number<Half, kIeee>(a, b); };
template <bool kIeee>
constexpr auto kMax = [](Half a, Half b) { return max_number<Half, kIeee>(a, b); };

constexpr ExecEntry kEntries[] = {
    {"v_pk_add_u16", pair_clamp<[](u16 a, u16 b) { return a + b; }, [](u16 a, u16 b) { return saturate_u16(a + b); }>},
    {"v_pk_sub_u16", pair_clamp<[](u16 a, u16 b) { return a - b; }, [](u16 a, u16 b) { return saturate_u16(a - b); }>},
    {"v_pk_add_i16", pair_clamp<[](i16 a, i16 b) { return a + b; }, [](i16 a, i16 b) { return saturate_i16(a + b); }>},
    {"v_pk_sub_i16", pair_clamp<[](i16 a, i16 b) { return a - b; }, [](i16 a, i16 b) { return saturate_i16(a - b); }>},
    {"v_pk_mul_lo_u16", pair<[](u16 a, u16 b) { return u32{a} * b; }>},
    {"v_pk_mad_u16", pair_clamp<[](u16 a, u16 b, u16 c) { return u32{a} * b + c; },
                                [](u16 a, u16 b, u16 c) { return saturate_u16(i64{a} * b + c); }>},
    {"v_pk_mad_i16", pair_clamp<[](i16 a, i16 b, i16 c) { return i32{a} * b + c; },
                                [](i16 a, i16 b, i16 c) { return saturate_i16(i64{a} * b + c); }>},
    {"v_pk_lshlrev_b16", pair<[](u16 a, u16 b) { return b << (a & 15); }>},
    {"v_pk_lshrrev_b16", pair<[](u16 a, u16 b) { return (b >> (a & 15)); }>},
    {"v_pk_ashrrev_i16", pair<[](i16 a, i16 b) { return (b >> (a & 15)); }>},
    {"v_pk_min_u16", pair<[](u16 a, u16 b) { return std::min(a, b); }>},
    {"v_pk_max_u16", pair<[](u16 a, u16 b) { return std::max(a, b); }>},
    {"v_pk_min_i16", pair<[](i16 a, i16 b) { return std::min(a, b); }>},
    {"v_pk_max_i16", pair<[](i16 a, i16 b) { return std::max(a, b); }>},
    {"v_pk_add_f16", pair<[](Half a, Half b) { return add16(a, b); }>},
    {"v_pk_mul_f16", pair<[](Half a, Half b) { return mul16(a, b); }>},
    {"v_pk_fma_f16", pair<[](Half a, Half b, Half c) { return fma16(a, b, c); }>},
    {"v_pk_min_f16", pair_ieee<kMin<true>, kMin<false>>},
    {"v_pk_max_f16", pair_ieee<kMax<true>, kMax<false>>},
    {"v_pk_fmac_f16", &packed_fmac},

    {"v_pk_add_f32", &packed_float_entry<[](float a, float b) { return a + b; }>},
    {"v_pk_mul_f32", &packed_float_entry<[](float a, float b) { return a * b; }>},
    {"v_pk_fma_f32", &packed_float_entry<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_pk_mov_b32", &packed_move},

    {"v_fma_mix_f32", &mix<MixTo::kFloat, true>},
    {"v_fma_mixlo_f16", &mix<MixTo::kLow, true>},
    {"v_fma_mixhi_f16", &mix<MixTo::kHigh, true>},
    {"v_mad_mix_f32", &mix<MixTo::kFloat, false>},
    {"v_mad_mixlo_f16", &mix<MixTo::kLow, false>},
    {"v_mad_mixhi_f16", &mix<MixTo::kHigh, false>},
};

}  // namespace

std::span<const ExecEntry> packed_entries() { return kEntries; }

}  // namespace vgpu::valu
