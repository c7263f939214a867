// IEEE half precision on the host, for compilers without _Float16 in C++ (g++ 12).
#pragma once

#include <bit>
#include <cstdint>

namespace barehip::runtime {

/// Rounds to nearest even; overflow becomes infinity, a NaN stays one.
constexpr uint16_t half_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);
  uint32_t half, rest, halfway;
  if (magnitude < 0x38800000) {  // below 2^-14: a half subnormal, or zero
    const int shift = 126 - static_cast<int>(magnitude >> 23);
    if (shift > 24 || magnitude == 0) return static_cast<uint16_t>(sign);
    const uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    half = shift >= 24 ? 0 : mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1);
    halfway = 1u << (shift - 1);
  } else {
    half = (magnitude - 0x38000000) >> 13;
    rest = magnitude & 0x1fff;
    halfway = 0x1000;
  }
  if (rest > halfway || (rest == halfway && (half & 1))) ++half;  // a carry into the exponent is the right value
  return static_cast<uint16_t>(sign | half);
}

constexpr float float_from_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  if (exponent) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float tiny = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -tiny : tiny;
}

}  // namespace barehip::runtime
