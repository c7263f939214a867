// Elements of matrices in registers: what kinds there are, and reading one from a lane. Internal to the matrix files.
#pragma once

#include <bit>
#include <type_traits>

#include "tools/vgpu/isa/valu/float16.h"
#include "tools/vgpu/isa/valu/float8.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu::valu {

enum class Element : u8 { kF32, kF16, kBf16, kI8, kF64, kFp8, kBf8, kXf32 };

constexpr unsigned element_bits(Element e) {
  switch (e) {
    case Element::kF64: return 64;
    case Element::kF32:
    case Element::kXf32: return 32;
    case Element::kF16:
    case Element::kBf16: return 16;
    default: return 8;
  }
}

inline float from_bf16(u16 bits) { return std::bit_cast<float>(u32{bits} << 16); }

inline u16 to_bf16(float v) {
  const u32 bits = std::bit_cast<u32>(v);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<u16>(bits >> 16 | 0x40);
  return static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Dword `part` of an operand in one lane: vector register of either file, or a constant.
inline u32 matrix_dword(const Wave& w, const Operand& operand, unsigned part, unsigned lane) {
  if (operand.is_vgpr() || operand.kind == Operand::Kind::kAgpr)
    return register_row(const_cast<Wave&>(w), operand, part)[lane];
  return static_cast<u32>(operand.value >> (operand.type == OperandType::kF64 ? 32 * (part & 1) : 0));
}

/// What sums are kept in.
template <Element kType>
using SumOf = std::conditional_t<kType == Element::kF64, double, std::conditional_t<kType == Element::kI8, i32, float>>;

/// The n-th element of an operand in one lane.
template <Element kType>
SumOf<kType> matrix_element(const Wave& w, const Operand& operand, unsigned n, unsigned lane) {
  constexpr unsigned kBits = element_bits(kType);
  if constexpr (kType == Element::kF64) {
    return std::bit_cast<double>(u64{matrix_dword(w, operand, 2 * n, lane)} |
                                 u64{matrix_dword(w, operand, 2 * n + 1, lane)} << 32);
  } else {
    const u32 bits = matrix_dword(w, operand, n * kBits / 32, lane) >> (n * kBits % 32);
    switch (kType) {
      case Element::kF32: return SumOf<kType>(std::bit_cast<float>(bits));
      case Element::kXf32: return SumOf<kType>(to_xf32(std::bit_cast<float>(bits)));
      case Element::kF16: return SumOf<kType>(to_float(Half{static_cast<u16>(bits)}));
      case Element::kBf16: return SumOf<kType>(from_bf16(static_cast<u16>(bits)));
      case Element::kFp8: return SumOf<kType>(Fp8::to_float(static_cast<u8>(bits)));
      case Element::kBf8: return SumOf<kType>(Bf8::to_float(static_cast<u8>(bits)));
      default: return SumOf<kType>(static_cast<i8>(bits));
    }
  }
}

/// gfx90a treats denormal inputs and results of its 16-bit matrix and dot instructions as zero.
inline bool flushes_half(const Wave& w) { return w.group->dispatch->target->gfx == "gfx90a"; }

}  // namespace vgpu::valu
