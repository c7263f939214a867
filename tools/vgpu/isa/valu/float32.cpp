// Arithmetic on 32-bit floating point.
#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/math.h"

namespace vgpu::valu {
namespace {

/// Products in which 0 times anything is 0.
inline float multiply_zero(float a, float b) { return a == 0.0f || b == 0.0f ? 0.0f : a * b; }
inline float fma_zero(float a, float b, float c) { return a == 0.0f || b == 0.0f ? 0.0f + c : std::fma(a, b, c); }

/// v_mad_f32 and v_mac_f32: two roundings, denormals always flushed.
inline float mad(float a, float b, float c) { return flushed(flushed(flushed(a) * flushed(b)) + flushed(c)); }
inline float mad_zero(float a, float b, float c) {
  return flushed(flushed(multiply_zero(flushed(a), flushed(b))) + flushed(c));
}

/// Cube map helpers: the axis of the largest coordinate decides.
inline bool z_major(float x, float y, float z) { return std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y); }
inline bool y_major(float x, float y, float z) { return !z_major(x, y, z) && std::fabs(y) >= std::fabs(x); }
inline float cube_id(float x, float y, float z) {
  if (z_major(x, y, z)) return z < 0 ? 5.0f : 4.0f;
  if (y_major(x, y, z)) return y < 0 ? 3.0f : 2.0f;
  return x < 0 ? 1.0f : 0.0f;
}
inline float cube_sc(float x, float y, float z) {
  if (z_major(x, y, z)) return z < 0 ? -x : x;
  if (y_major(x, y, z)) return x;
  return x < 0 ? z : -z;
}
inline float cube_tc(float x, float y, float z) {
  if (z_major(x, y, z)) return -y;
  if (y_major(x, y, z)) return y < 0 ? -z : z;
  return -y;
}
inline float cube_ma(float x, float y, float z) {
  if (z_major(x, y, z)) return 2.0f * z;
  return y_major(x, y, z) ? 2.0f * y : 2.0f * x;
}

inline float mullit(float a, float b, float c) {
  constexpr float kMax = std::numeric_limits<float>::max();
  if (b == -kMax || (std::isinf(b) && b < 0) || std::isnan(b) || c <= 0.0f || std::isnan(c)) return -kMax;
  return a * b;
}

template <bool kIeee>
constexpr auto kMin = [](float a, float b) { return min_number<float, kIeee>(a, b); };
template <bool kIeee>
constexpr auto kMax = [](float a, float b) { return max_number<float, kIeee>(a, b); };
template <bool kIeee>
constexpr auto kMin3 = [](float a, float b, float c) { return kMin<kIeee>(kMin<kIeee>(a, b), c); };
template <bool kIeee>
constexpr auto kMax3 = [](float a, float b, float c) { return kMax<kIeee>(kMax<kIeee>(a, b), c); };
template <bool kIeee>
constexpr auto kMedian = [](float a, float b, float c) { return median_number<float, kIeee>(a, b, c); };
template <bool kIeee>
constexpr auto kMaxMin = [](float a, float b, float c) { return kMin<kIeee>(kMax<kIeee>(a, b), c); };
template <bool kIeee>
constexpr auto kMinMax = [](float a, float b, float c) { return kMax<kIeee>(kMin<kIeee>(a, b), c); };

constexpr ExecEntry kEntries[] = {
    {"v_add_f32", map<[](float a, float b) { return a + b; }>},
    {"v_sub_f32", map<[](float a, float b) { return a - b; }>},
    {"v_subrev_f32", map<[](float a, float b) { return b - a; }>},
    {"v_mul_f32", map<[](float a, float b) { return a * b; }>},
    {"v_mul_dx9_zero_f32", map<[](float a, float b) { return multiply_zero(a, b); }>},
    {"v_mullit_f32", map<[](float a, float b, float c) { return mullit(a, b, c); }>},

    {"v_fma_f32", map<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_fmac_f32", map_acc<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_fmaak_f32", map<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_fmamk_f32", map<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"v_fma_dx9_zero_f32", map<[](float a, float b, float c) { return fma_zero(a, b, c); }>},
    {"v_fmac_dx9_zero_f32", map_acc<[](float a, float b, float c) { return fma_zero(a, b, c); }>},
    {"v_mad_f32", map<[](float a, float b, float c) { return mad(a, b, c); }>},
    {"v_mac_f32", map_acc<[](float a, float b, float c) { return mad(a, b, c); }>},
    {"v_madak_f32", map<[](float a, float b, float c) { return mad(a, b, c); }>},
    {"v_madmk_f32", map<[](float a, float b, float c) { return mad(a, b, c); }>},
    {"v_mad_legacy_f32", map<[](float a, float b, float c) { return mad_zero(a, b, c); }>},

    {"v_min_f32", map_ieee<kMin<true>, kMin<false>>},
    {"v_max_f32", map_ieee<kMax<true>, kMax<false>>},
    {"v_min3_f32", map_ieee<kMin3<true>, kMin3<false>>},
    {"v_max3_f32", map_ieee<kMax3<true>, kMax3<false>>},
    {"v_med3_f32", map_ieee<kMedian<true>, kMedian<false>>},
    {"v_maxmin_f32", map_ieee<kMaxMin<true>, kMaxMin<false>>},
    {"v_minmax_f32", map_ieee<kMinMax<true>, kMinMax<false>>},

    {"v_floor_f32", map<[](float a) { return std::floor(a); }>},
    {"v_ceil_f32", map<[](float a) { return std::ceil(a); }>},
    {"v_trunc_f32", map<[](float a) { return std::trunc(a); }>},
    {"v_rndne_f32", map<[](float a) { return __builtin_roundevenf(a); }>},
    {"v_fract_f32", map<[](float a) { return fraction(a); }>},
    {"v_ldexp_f32", map<[](float a, i32 b) { return std::ldexp(a, b); }>},
    {"v_frexp_exp_i32_f32", map<[](float a) { return i32{frexp_exponent(a)}; }>},
    {"v_frexp_mant_f32", map<[](float a) { return frexp_mantissa(a); }>},

    {"v_cubeid_f32", map<[](float x, float y, float z) { return cube_id(x, y, z); }>},
    {"v_cubesc_f32", map<[](float x, float y, float z) { return cube_sc(x, y, z); }>},
    {"v_cubetc_f32", map<[](float x, float y, float z) { return cube_tc(x, y, z); }>},
    {"v_cubema_f32", map<[](float x, float y, float z) { return cube_ma(x, y, z); }>},
};

}  // namespace

std::span<const ExecEntry> float32_entries() { return kEntries; }

}  // namespace vgpu::valu
