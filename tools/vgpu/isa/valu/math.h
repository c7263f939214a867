// Floating point functions of one lane that several operations share, for float, double and (through float) Half.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tools/vgpu/isa/valu/half.h"

namespace vgpu::valu {

template <class T>
struct FloatBits;
template <>
struct FloatBits<float> {
  using Bits = uint32_t;
  static constexpr unsigned kMantissa = 23;
  static constexpr int kBias = 127;
};
template <>
struct FloatBits<double> {
  using Bits = uint64_t;
  static constexpr unsigned kMantissa = 52;
  static constexpr int kBias = 1023;
};
template <>
struct FloatBits<Half> {
  using Bits = uint16_t;
  static constexpr unsigned kMantissa = 10;
  static constexpr int kBias = 15;
};

template <class T>
constexpr auto bits_of(T value) {
  return std::bit_cast<typename FloatBits<T>::Bits>(value);
}
template <class T>
constexpr bool sign_of(T value) {
  return bits_of(value) >> (sizeof(T) * 8 - 1);
}
/// All bits but the sign.
template <class T>
constexpr auto magnitude_of(T value) {
  using B = typename FloatBits<T>::Bits;
  return static_cast<B>(bits_of(value) & static_cast<B>(~(B{1} << (sizeof(T) * 8 - 1))));
}
template <class T>
constexpr auto infinity_bits() {
  using B = typename FloatBits<T>::Bits;
  return static_cast<B>(((B{1} << (sizeof(T) * 8 - 1 - FloatBits<T>::kMantissa)) - 1) << FloatBits<T>::kMantissa);
}
template <class T>
constexpr bool is_nan(T value) {
  return magnitude_of(value) > infinity_bits<T>();
}
template <class T>
constexpr bool is_inf(T value) {
  return magnitude_of(value) == infinity_bits<T>();
}
template <class T>
constexpr bool is_zero(T value) {
  return magnitude_of(value) == 0;
}
template <class T>
constexpr bool is_denormal(T value) {
  using B = typename FloatBits<T>::Bits;
  return magnitude_of(value) != 0 && magnitude_of(value) < (B{1} << FloatBits<T>::kMantissa);
}
template <class T>
constexpr bool is_signaling(T value) {
  using B = typename FloatBits<T>::Bits;
  return is_nan(value) && !(bits_of(value) >> (FloatBits<T>::kMantissa - 1) & B{1});
}
template <class T>
constexpr T quieted(T value) {
  using B = typename FloatBits<T>::Bits;
  return std::bit_cast<T>(static_cast<B>(bits_of(value) | B{1} << (FloatBits<T>::kMantissa - 1)));
}
/// Biased exponent field.
template <class T>
constexpr int exponent_of(T value) {
  return static_cast<int>(magnitude_of(value) >> FloatBits<T>::kMantissa);
}

inline float wide(float v) { return v; }
inline double wide(double v) { return v; }
inline float wide(Half v) { return to_float(v); }

template <class T>
constexpr T with_sign(T value, bool sign) {
  using B = typename FloatBits<T>::Bits;
  return std::bit_cast<T>(static_cast<B>(magnitude_of(value) | B{sign} << (sizeof(T) * 8 - 1)));
}

/// Denormals become zero of the same sign.
template <class T>
constexpr T flushed(T value) {
  return is_denormal(value) ? with_sign(std::bit_cast<T>(typename FloatBits<T>::Bits{0}), sign_of(value)) : value;
}

/// The other operand of a NaN; -0 is less than +0. A signaling NaN comes out quiet in IEEE mode.
template <class T, bool kIeee>
inline T min_number(T a, T b) {
  if (kIeee && is_signaling(a)) return quieted(a);
  if (kIeee && is_signaling(b)) return quieted(b);
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  if (is_zero(a) && is_zero(b)) return sign_of(a) ? a : b;
  return wide(a) < wide(b) ? a : b;
}
template <class T, bool kIeee>
inline T max_number(T a, T b) {
  if (kIeee && is_signaling(a)) return quieted(a);
  if (kIeee && is_signaling(b)) return quieted(b);
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  if (is_zero(a) && is_zero(b)) return sign_of(a) ? b : a;
  return wide(a) > wide(b) ? a : b;
}
/// The middle one; with a NaN among them, the least number.
template <class T, bool kIeee>
inline T median_number(T a, T b, T c) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return min_number<T, kIeee>(min_number<T, kIeee>(a, b), c);
  return max_number<T, kIeee>(min_number<T, kIeee>(a, b), min_number<T, kIeee>(max_number<T, kIeee>(a, b), c));
}

/// x - floor(x), never 1.
template <class T>
inline T fraction(T x) {
  const T below_one = std::bit_cast<T>(bits_of(T{1}) - 1);
  const T f = x - std::floor(x);
  return f >= T{1} ? below_one : f;
}

/// Exponent for a mantissa in [0.5, 1); 0 for zero, infinity and NaN.
template <class T>
inline int frexp_exponent(T x) {
  if (is_nan(x) || is_inf(x)) return 0;
  int exponent = 0;
  std::frexp(x, &exponent);
  return exponent;
}
template <class T>
inline T frexp_mantissa(T x) {
  if (is_nan(x)) return quieted(x);
  if (is_inf(x)) return x;
  int exponent = 0;
  return std::frexp(x, &exponent);
}

}  // namespace vgpu::valu
