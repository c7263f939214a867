// 8-bit and 19-bit floating point of gfx942's matrix units.
//
// The 8-bit formats are the "FNUZ" ones of the MI300 instruction set manual: no infinities, no negative zero, the only
// NaN is 0x80. FP8 has 4 exponent bits with bias 8, BF8 has 5 with bias 16.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace vgpu::valu {

template <unsigned kExponent>
struct Float8 {
  static constexpr unsigned kMantissa = 7 - kExponent;
  static constexpr int kBias = 1 << (kExponent - 1);
  static constexpr uint8_t kNan = 0x80, kLargest = 0x7f;

  static float to_float(uint8_t bits) {
    if (bits == kNan) return std::bit_cast<float>(0x7fc00000u);
    const int exponent = bits >> kMantissa & ((1 << kExponent) - 1), mantissa = bits & ((1 << kMantissa) - 1);
    const float value =
        exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - kBias - int{kMantissa})
                      : std::ldexp(static_cast<float>(mantissa | 1 << kMantissa), exponent - kBias - int{kMantissa});
    return bits & 0x80 ? -value : value;
  }

  /// Rounds to nearest even, or, with `noise`, adds so much below the last kept bit and cuts off. What is too large
  /// becomes NaN, or the largest number when `saturate` is set.
  static uint8_t from_float(float value, bool saturate, const uint32_t* noise = nullptr) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint8_t sign = bits >> 24 & 0x80;
    if ((bits & 0x7fffffff) >= 0x7f800000) return kNan;
    int exponent = static_cast<int>(bits >> 23 & 0xff) - 127;
    uint64_t mantissa = bits & 0x7fffff;
    if (exponent == -127) {
      ++exponent;
    } else {
      mantissa |= 0x800000;
    }
    // Bits to drop: those that the format lacks, and more for its subnormals.
    int drop = 23 - int{kMantissa};
    if (exponent < 1 - kBias) drop += 1 - kBias - exponent;
    uint64_t kept = 0;
    if (drop < 40) {
      const uint64_t unit = uint64_t{1} << drop;
      kept = noise != nullptr ? (mantissa + (*noise & (unit - 1))) >> drop
                              : (mantissa + unit / 2 - 1 + (mantissa >> drop & 1)) >> drop;
    }
    if (kept == 0) return 0;
    // A carry out of the mantissa counts up the exponent field by itself.
    const int field = exponent < 1 - kBias ? 0 : exponent + kBias - 1;
    const uint64_t magnitude = kept + (static_cast<uint64_t>(field) << kMantissa);
    if (magnitude > kLargest) return saturate ? sign | kLargest : kNan;
    return static_cast<uint8_t>(sign | magnitude);
  }
};

using Fp8 = Float8<4>;
using Bf8 = Float8<5>;

/// XF32: a float whose mantissa has 10 bits; rounds to nearest even.
inline float to_xf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) >= 0x7f800000) return value;
  return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

}  // namespace vgpu::valu
