// Arithmetic on Half with one rounding. Float holds every sum, product and quotient of two halves well enough that
// rounding twice changes nothing; the fused product needs double.
#pragma once

#include <cmath>

#include "tools/vgpu/isa/valu/half.h"
#include "tools/vgpu/isa/valu/math.h"

namespace vgpu::valu {

inline Half negated(Half a) { return Half{static_cast<uint16_t>(a.bits ^ 0x8000)}; }
inline Half add16(Half a, Half b) { return to_half(to_float(a) + to_float(b)); }
inline Half mul16(Half a, Half b) { return to_half(to_float(a) * to_float(b)); }

/// The product is exact in float; its sum with c may need more bits than double has, so the remainder that the
/// double sum loses pushes the last bit.
inline Half fma16(Half a, Half b, Half c) {
  const double product = to_float(a) * to_float(b), addend = to_float(c);
  double sum = product + addend;
  const double rest = (product - (sum - (sum - product))) + (addend - (sum - product));
  if (rest != 0 && rest == rest) {
    const uint64_t bits = std::bit_cast<uint64_t>(sum);
    if ((bits & 1) == 0) sum = std::bit_cast<double>((rest > 0) == (sum > 0) ? bits + 1 : bits - 1);
  }
  return to_half(sum);
}

}  // namespace vgpu::valu
