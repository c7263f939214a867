// What atomic instructions do to the old value. Each is a struct with `using T` and `T operator()(T old, const T*
// data)`, where data[0] is the operand and data[1] the second one (compare value, or mask's partner).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "tools/vgpu/isa/valu/math.h"
#include "tools/vgpu/shader/small_float.h"

namespace vgpu::atomics {

template <class V> struct Add {
  using T = V;
  T operator()(T old, const T* d) const { return old + d[0]; }
};
template <class V> struct Sub {
  using T = V;
  T operator()(T old, const T* d) const { return old - d[0]; }
};
template <class V> struct ReverseSub {
  using T = V;
  T operator()(T old, const T* d) const { return d[0] - old; }
};
template <class V> struct And {
  using T = V;
  T operator()(T old, const T* d) const { return old & d[0]; }
};
template <class V> struct Or {
  using T = V;
  T operator()(T old, const T* d) const { return old | d[0]; }
};
template <class V> struct Xor {
  using T = V;
  T operator()(T old, const T* d) const { return old ^ d[0]; }
};
template <class V> struct Swap {
  using T = V;
  T operator()(T, const T* d) const { return d[0]; }
};
template <class V> struct Min {
  using T = V;
  T operator()(T old, const T* d) const { return old < d[0] ? old : d[0]; }
};
template <class V> struct Max {
  using T = V;
  T operator()(T old, const T* d) const { return old > d[0] ? old : d[0]; }
};
template <class V> struct Increment {
  using T = V;
  T operator()(T old, const T* d) const { return old >= d[0] ? 0 : old + 1; }
};
template <class V> struct Decrement {
  using T = V;
  T operator()(T old, const T* d) const { return old == 0 || old > d[0] ? d[0] : old - 1; }
};
/// data = { new value, compare value }
template <class V> struct CompareSwap {
  using T = V;
  T operator()(T old, const T* d) const { return old == d[1] ? d[0] : old; }
};
/// data = { compare value, new value }: the order of gfx9's ds_cmpst
template <class V> struct CompareSwapReversed {
  using T = V;
  T operator()(T old, const T* d) const { return old == d[0] ? d[1] : old; }
};
template <class V> struct MaskOr {
  using T = V;
  T operator()(T old, const T* d) const { return (old & ~d[0]) | d[1]; }
};
template <class V> struct Wrap {
  using T = V;
  T operator()(T old, const T* d) const { return old >= d[0] ? old - d[0] : old + d[1]; }
};
/// Subtracts, but not below zero.
template <class V> struct ClampedSub {
  using T = V;
  T operator()(T old, const T* d) const { return old > d[0] ? old - d[0] : 0; }
};

// Floating point works on the bits, so that every atomic is a compare-and-swap of an integer.
template <class Bits> struct FloatOf;
template <> struct FloatOf<uint32_t> {
  using F = float;
};
template <> struct FloatOf<uint64_t> {
  using F = double;
};
template <class Bits> auto as_float(Bits b) { return std::bit_cast<typename FloatOf<Bits>::F>(b); }

template <class V> struct FloatAdd {
  using T = V;
  T operator()(T old, const T* d) const { return std::bit_cast<T>(as_float(old) + as_float(d[0])); }
};
// The number of a number and a NaN, signaling or not; -0 is less than +0.
template <class V> struct FloatMin {
  using T = V;
  T operator()(T old, const T* d) const {
    return std::bit_cast<T>(valu::min_number<typename FloatOf<T>::F, false>(as_float(old), as_float(d[0])));
  }
};
template <class V> struct FloatMax {
  using T = V;
  T operator()(T old, const T* d) const {
    return std::bit_cast<T>(valu::max_number<typename FloatOf<T>::F, false>(as_float(old), as_float(d[0])));
  }
};
template <class V> struct FloatCompareSwap {
  using T = V;
  T operator()(T old, const T* d) const { return as_float(old) == as_float(d[1]) ? d[0] : old; }
};
template <class V> struct FloatCompareSwapReversed {
  using T = V;
  T operator()(T old, const T* d) const { return as_float(old) == as_float(d[0]) ? d[1] : old; }
};
struct PackedAddF16 {
  using T = uint32_t;
  T operator()(T old, const T* d) const {
    const uint32_t low =
        half_from_float(float_from_half(static_cast<uint16_t>(old)) + float_from_half(static_cast<uint16_t>(d[0])));
    const uint32_t high = half_from_float(float_from_half(static_cast<uint16_t>(old >> 16)) +
                                          float_from_half(static_cast<uint16_t>(d[0] >> 16)));
    return low | high << 16;
  }
};
struct PackedAddBf16 {
  using T = uint32_t;
  T operator()(T old, const T* d) const {
    const uint32_t low = bfloat_from_float(std::bit_cast<float>(old << 16) + std::bit_cast<float>(d[0] << 16));
    const uint32_t high =
        bfloat_from_float(std::bit_cast<float>(old & 0xffff0000u) + std::bit_cast<float>(d[0] & 0xffff0000u));
    return low | high << 16;
  }
};

}  // namespace vgpu::atomics
