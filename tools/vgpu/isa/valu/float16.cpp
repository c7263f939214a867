// Arithmetic on 16-bit floating point (one value per register or register half; packed forms are in packed.cpp).
#include "tools/vgpu/isa/valu/float16.h"

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"

namespace vgpu::valu {
namespace {

template <bool kIeee>
constexpr auto kMin = [](Half a, Half b) { return min_number<Half, kIeee>(a, b); };
template <bool kIeee>
constexpr auto kMax = [](Half a, Half b) { return max_number<Half, kIeee>(a, b); };
template <bool kIeee>
constexpr auto kMin3 = [](Half a, Half b, Half c) { return kMin<kIeee>(kMin<kIeee>(a, b), c); };
template <bool kIeee>
constexpr auto kMax3 = [](Half a, Half b, Half c) { return kMax<kIeee>(kMax<kIeee>(a, b), c); };
template <bool kIeee>
constexpr auto kMedian = [](Half a, Half b, Half c) { return median_number<Half, kIeee>(a, b, c); };
template <bool kIeee>
constexpr auto kMaxMin = [](Half a, Half b, Half c) { return kMin<kIeee>(kMax<kIeee>(a, b), c); };
template <bool kIeee>
constexpr auto kMinMax = [](Half a, Half b, Half c) { return kMax<kIeee>(kMin<kIeee>(a, b), c); };

/// v_mad_f16 and v_mac_f16: two roundings.
inline Half mad16(Half a, Half b, Half c) { return add16(mul16(a, b), c); }

inline Half fraction16(Half x) {
  const float f = to_float(x) - std::floor(to_float(x));
  const Half h = to_half(f);
  return h.bits == 0x3c00 ? Half{0x3bff} : h;
}

inline Half frexp_mantissa16(Half x) {
  if (is_nan(x)) return quieted(x);
  return is_inf(x) ? x : to_half(frexp_mantissa(to_float(x)));
}

inline Half ldexp16(Half x, i16 exponent) { return to_half(std::ldexp(double{to_float(x)}, exponent)); }

constexpr ExecEntry kEntries[] = {
    {"v_add_f16", map<[](Half a, Half b) { return add16(a, b); }>},
    {"v_sub_f16", map<[](Half a, Half b) { return add16(a, negated(b)); }>},
    {"v_subrev_f16", map<[](Half a, Half b) { return add16(b, negated(a)); }>},
    {"v_mul_f16", map<[](Half a, Half b) { return mul16(a, b); }>},
    {"v_fma_f16", map<[](Half a, Half b, Half c) { return fma16(a, b, c); }>},
    {"v_fma_legacy_f16", map<[](Half a, Half b, Half c) { return fma16(a, b, c); }>},
    {"v_fmac_f16", map_acc<[](Half a, Half b, Half c) { return fma16(a, b, c); }>},
    {"v_fmaak_f16", map<[](Half a, Half b, Half c) { return fma16(a, b, c); }>},
    {"v_fmamk_f16", map<[](Half a, Half b, Half c) { return fma16(a, b, c); }>},
    {"v_mad_f16", map<[](Half a, Half b, Half c) { return mad16(a, b, c); }>},
    {"v_mad_legacy_f16", map<[](Half a, Half b, Half c) { return mad16(a, b, c); }>},
    {"v_mac_f16", map_acc<[](Half a, Half b, Half c) { return mad16(a, b, c); }>},
    {"v_madak_f16", map<[](Half a, Half b, Half c) { return mad16(a, b, c); }>},
    {"v_madmk_f16", map<[](Half a, Half b, Half c) { return mad16(a, b, c); }>},

    {"v_min_f16", map_ieee<kMin<true>, kMin<false>>},
    {"v_max_f16", map_ieee<kMax<true>, kMax<false>>},
    {"v_min3_f16", map_ieee<kMin3<true>, kMin3<false>>},
    {"v_max3_f16", map_ieee<kMax3<true>, kMax3<false>>},
    {"v_med3_f16", map_ieee<kMedian<true>, kMedian<false>>},
    {"v_maxmin_f16", map_ieee<kMaxMin<true>, kMaxMin<false>>},
    {"v_minmax_f16", map_ieee<kMinMax<true>, kMinMax<false>>},

    {"v_floor_f16", map<[](Half a) { return to_half(std::floor(to_float(a))); }>},
    {"v_ceil_f16", map<[](Half a) { return to_half(std::ceil(to_float(a))); }>},
    {"v_trunc_f16", map<[](Half a) { return to_half(std::trunc(to_float(a))); }>},
    {"v_rndne_f16", map<[](Half a) { return to_half(__builtin_roundevenf(to_float(a))); }>},
    {"v_fract_f16", map<[](Half a) { return fraction16(a); }>},
    {"v_ldexp_f16", map<[](Half a, i16 b) { return ldexp16(a, b); }>},
    {"v_frexp_exp_i16_f16", map<[](Half a) { return static_cast<i16>(frexp_exponent(to_float(a))); }>},
    {"v_frexp_mant_f16", map<[](Half a) { return frexp_mantissa16(a); }>},
    {"v_pack_b32_f16", map<[](Half a, Half b) { return a.bits | u32{b.bits} << 16; }>},
};

}  // namespace

std::span<const ExecEntry> float16_entries() { return kEntries; }

}  // namespace vgpu::valu
