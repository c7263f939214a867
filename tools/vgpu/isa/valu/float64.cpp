// Arithmetic on 64-bit floating point.
#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/math.h"

namespace vgpu::valu {
namespace {

template <bool kIeee>
constexpr auto kMin = [](double a, double b) { return min_number<double, kIeee>(a, b); };
template <bool kIeee>
constexpr auto kMax = [](double a, double b) { return max_number<double, kIeee>(a, b); };

/// The first 1216 bits of 2/pi, most significant first; the first bit weighs 1/2.
constexpr u64 kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                              0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                              0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                              0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                              0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/// 53 bits of 2/pi for argument reduction: `segment` counts in steps of 53, large arguments start further on.
double trig_preop(double x, u32 segment) {
  constexpr unsigned kBits = 1201, kWidth = 53;
  unsigned first = (segment & 31) * kWidth;
  const int exponent = exponent_of(x);
  if (exponent > 1077) first += static_cast<unsigned>(exponent - 1077);
  u64 bits = 0;
  for (unsigned n = first; n < first + kWidth; ++n) {
    const bool bit = n < kBits && (kTwoOverPi[n / 64] >> (63 - n % 64) & 1);
    bits = bits << 1 | u64{bit};
  }
  const int scale = -static_cast<int>(kWidth) - static_cast<int>(first) + (exponent >= 1968 ? 128 : 0);
  return std::ldexp(static_cast<double>(bits), scale);
}

constexpr ExecEntry kEntries[] = {
    {"v_add_f64", map<[](double a, double b) { return a + b; }>},
    {"v_mul_f64", map<[](double a, double b) { return a * b; }>},
    {"v_fma_f64", map<[](double a, double b, double c) { return std::fma(a, b, c); }>},
    {"v_fmac_f64", map_acc<[](double a, double b, double c) { return std::fma(a, b, c); }>},
    {"v_min_f64", map_ieee<kMin<true>, kMin<false>>},
    {"v_max_f64", map_ieee<kMax<true>, kMax<false>>},
    {"v_floor_f64", map<[](double a) { return std::floor(a); }>},
    {"v_ceil_f64", map<[](double a) { return std::ceil(a); }>},
    {"v_trunc_f64", map<[](double a) { return std::trunc(a); }>},
    {"v_rndne_f64", map<[](double a) { return __builtin_roundeven(a); }>},
    {"v_fract_f64", map<[](double a) { return fraction(a); }>},
    {"v_ldexp_f64", map<[](double a, i32 b) { return std::ldexp(a, b); }>},
    {"v_frexp_exp_i32_f64", map<[](double a) { return i32{frexp_exponent(a)}; }>},
    {"v_frexp_mant_f64", map<[](double a) { return frexp_mantissa(a); }>},
    {"v_trig_preop_f64", map<[](double a, u32 b) { return trig_preop(a, b); }>},
};

}  // namespace

std::span<const ExecEntry> float64_entries() { return kEntries; }

}  // namespace vgpu::valu
