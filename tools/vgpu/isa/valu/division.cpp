// The three instructions that make a division exact: scale, fused multiply-add with scaling, fix up.
//
// The compiler's sequence is: scale numerator and denominator so that nothing over- or underflows, refine an
// approximate quotient with fma, then v_div_fmas undoes the scaling and v_div_fixup handles the special cases.
#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/float16.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/math.h"

namespace vgpu::valu {
namespace {

/// Exponents at which v_div_scale acts, and by how much it scales.
template <class T>
struct Scale;
template <>
struct Scale<float> {
  static constexpr int kBy = 64, kFar = 96, kTiny = 23;
};
template <>
struct Scale<double> {
  static constexpr int kBy = 128, kFar = 768, kTiny = 53;
};

template <class T>
struct Scaled {
  T value;
  bool flag;  ///< v_div_fmas has to scale back
};

/// Exponent of the leading bit, of denormals too, with the format's bias.
template <class T>
int true_exponent(T v) {
  return is_denormal(v) ? std::ilogb(v) + FloatBits<T>::kBias : exponent_of(v);
}

/// s0 is the operand to scale, which is also s1 (denominator) or s2 (numerator). Whether a quotient is denormal is
/// judged by the exponents alone.
template <class T>
Scaled<T> div_scale(T s0, T s1, T s2) {
  using S = Scale<T>;
  if (is_zero(s1) || is_zero(s2)) return {std::numeric_limits<T>::quiet_NaN(), true};
  const bool is_denominator = bits_of(s0) == bits_of(s1), is_numerator = bits_of(s0) == bits_of(s2);
  const int distance = true_exponent(s2) - true_exponent(s1);
  // Near overflow: only the denominator is scaled up.
  if (distance >= S::kFar) return {is_denominator ? std::ldexp(s0, S::kBy) : s0, true};
  if (is_denormal(s1)) return {std::ldexp(s0, S::kBy), false};
  const bool reciprocal_denormal = is_denormal(T{1} / s1), quotient_denormal = distance <= 1 - FloatBits<T>::kBias;
  // Both: the manuals say to scale the denominator up, which would overflow; down is what makes the quotient right.
  if (reciprocal_denormal && quotient_denormal) return {is_denominator ? std::ldexp(s0, -S::kBy) : s0, true};
  if (reciprocal_denormal) return {std::ldexp(s0, -S::kBy), false};
  if (quotient_denormal) return {is_numerator ? std::ldexp(s0, S::kBy) : s0, true};
  if (exponent_of(s2) <= S::kTiny) return {std::ldexp(s0, S::kBy), false};
  return {s0, false};
}

template <class T>
void div_scale_entry(Wave& w, const Inst& i) {
  const Source<T> a(w, i, 0), b(w, i, 1), c(w, i, 2);
  Result<T> out;
  u64 flags = 0;
  const bool flush = !(w.mode >> (sizeof(T) == 4 ? Mode::kDenorm32Shift : Mode::kDenorm64Shift) & 1);
  auto source = [flush](T v) { return flush ? flushed(v) : v; };
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const Scaled<T> scaled = div_scale<T>(source(a[l]), source(b[l]), source(c[l]));
    out.set(l, scaled.value);
    flags |= u64{scaled.flag} << l;
  }
  out.write(w, i);
  write_mask_result(w, i.dst[1], flags);
}

/// Wide enough for a product and a sum whose rounding cannot disturb the final one.
template <class T>
struct Wider;
template <>
struct Wider<float> {
  using Type = double;
};
template <>
struct Wider<double> {
  __extension__ using Type = __float128;
};

/// 2^n for exponents that T does not have.
template <class W>
W power_of_two(int n) {
  return n < 0 ? W{1} / power_of_two<W>(-n) : n > 60 ? W(u64{1} << 60) * power_of_two<W>(n - 60) : W(u64{1} << n);
}

/// a + b, made odd when it is not exact: rounding it again to fewer bits is then like rounding once.
template <class W>
W sum_to_odd(W a, W b) {
  const W sum = a + b, part = sum - a;
  const W rest = (a - (sum - part)) + (b - part);
  if (rest == 0 || sum == 0) return sum;
  __extension__ using Wide = unsigned __int128;
  using Bits = std::conditional_t<sizeof(W) == 8, u64, Wide>;
  Bits bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if ((bits & 1) == 0) bits = (rest > 0) == (sum > 0) ? bits + 1 : bits - 1;
  W odd;
  std::memcpy(&odd, &bits, sizeof odd);
  return odd;
}

/// fma, times 2^(+-S) where VCC says that v_div_scale scaled, rounded once. The direction is that of the summand's
/// distance from one: what was scaled up to avoid underflow comes out small.
template <class T>
T div_fmas(T a, T b, T c, bool scale) {
  const T result = std::fma(a, b, c);
  if (!scale || is_nan(result) || is_inf(result)) return result;
  using W = typename Wider<T>::Type;
  const int by = exponent_of(c) > FloatBits<T>::kBias ? Scale<T>::kBy : -Scale<T>::kBy;
  return static_cast<T>(sum_to_odd<W>(W{a} * W{b}, W{c}) * power_of_two<W>(by));
}

template <class T>
void div_fmas_entry(Wave& w, const Inst& i) {
  const Source<T> a(w, i, 0), b(w, i, 1), c(w, i, 2);
  const u64 vcc = w.vcc();
  Result<T> out;
  for (unsigned l = 0; l < w.lanes(); ++l) out.set(l, div_fmas<T>(a[l], b[l], c[l], vcc >> l & 1));
  out.write(w, i);
}

/// Special cases of quotient = numerator / denominator; `quotient` is what the refinement gave.
template <class T>
T div_fixup(T quotient, T denominator, T numerator) {
  const bool sign = sign_of(denominator) != sign_of(numerator);
  const T zero = std::bit_cast<T>(typename FloatBits<T>::Bits{0}), inf = std::bit_cast<T>(infinity_bits<T>());
  if (is_nan(numerator)) return quieted(numerator);
  if (is_nan(denominator)) return quieted(denominator);
  const auto nan = quieted(inf);
  if (is_zero(denominator) && is_zero(numerator)) return nan;
  if (is_inf(denominator) && is_inf(numerator)) return nan;
  if (is_zero(denominator) || is_inf(numerator)) return with_sign(inf, sign);
  if (is_inf(denominator) || is_zero(numerator)) return with_sign(zero, sign);
  // A quotient far out of range: the refinement saw infinities or zeros and its result is no number.
  constexpr int kUnderflow = sizeof(T) == 8 ? -1075 : sizeof(T) == 4 ? -150 : -1000;
  if (exponent_of(numerator) - exponent_of(denominator) < kUnderflow) return with_sign(zero, sign);
  if (is_nan(quotient)) return with_sign(inf, sign);
  return with_sign(quotient, sign);
}

constexpr ExecEntry kEntries[] = {
    {"v_div_scale_f32", &div_scale_entry<float>},
    {"v_div_scale_f64", &div_scale_entry<double>},
    {"v_div_fmas_f32", &div_fmas_entry<float>},
    {"v_div_fmas_f64", &div_fmas_entry<double>},
    {"v_div_fixup_f32", map<[](float a, float b, float c) { return div_fixup(a, b, c); }>},
    {"v_div_fixup_f64", map<[](double a, double b, double c) { return div_fixup(a, b, c); }>},
    {"v_div_fixup_f16", map<[](Half a, Half b, Half c) { return div_fixup(a, b, c); }>},
    {"v_div_fixup_legacy_f16", map<[](Half a, Half b, Half c) { return div_fixup(a, b, c); }>},
};

}  // namespace

std::span<const ExecEntry> division_entries() { return kEntries; }

}  // namespace vgpu::valu
