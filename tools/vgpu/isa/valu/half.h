// 16-bit floating point of the shader cores, kept as bits; arithmetic goes through float (or double where float is
// not wide enough for a single rounding).
#pragma once

#include <bit>
#include <cstdint>

namespace vgpu::valu {

struct Half {
  uint16_t bits;
};

inline float to_float(Half h) {
  // Exponent and mantissa moved to their places in a float are off by 2^112: one multiplication scales normals and
  // subnormals alike. Infinity and NaN need the top exponent.
  const uint32_t magnitude = (h.bits & 0x7fffu) << 13, sign = (h.bits & 0x8000u) << 16;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t finite = std::bit_cast<uint32_t>(scaled);
  const uint32_t special = magnitude | 0x7f800000;
  return std::bit_cast<float>((magnitude >= 0x0f800000 ? special : finite) | sign);
}

/// Rounds to nearest even. NaN stays NaN (quiet).
inline Half to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  const uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  // Below the smallest normal: adding 0.5 leaves as many mantissa bits as the subnormal has.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  uint32_t result = magnitude < 0x38800000 ? subnormal : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;
  result = magnitude > 0x7f800000 ? nan : result;
  return Half{static_cast<uint16_t>(result | sign)};
}

/// Rounds toward zero; what is too large becomes the largest finite number.
inline Half to_half_toward_zero(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  uint32_t result;
  if (magnitude > 0x7f800000)
    result = 0x7e00 | (magnitude >> 13 & 0x3ff);
  else if (magnitude == 0x7f800000)
    result = 0x7c00;
  else if (magnitude >= 0x47800000)
    result = 0x7bff;
  else if (magnitude >= 0x38800000)
    result = (magnitude - (112u << 23)) >> 13;
  else if (magnitude < 0x33800000)
    result = 0;
  else
    result = ((magnitude & 0x7fffff) | 0x800000) >> (126 - (magnitude >> 23));
  return Half{static_cast<uint16_t>(result | sign)};
}

/// From double with a single rounding: what float cannot hold is made odd, so that the second rounding is right.
inline Half to_half(double value) {
  float narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) != value && value == value) {
    uint32_t bits = std::bit_cast<uint32_t>(narrow);
    const double back = narrow;
    if ((bits & 1) == 0 && (bits & 0x7fffffff) != 0x7f800000) {
      const bool away = (back > value) == (value > 0);
      narrow = std::bit_cast<float>(away ? bits - 1 : bits + 1);
    }
  }
  return to_half(narrow);
}

}  // namespace vgpu::valu
