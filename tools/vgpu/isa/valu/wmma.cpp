// Matrix instructions of gfx11: v_wmma_*. They do not look at EXEC.
#include <cmath>

#include "tools/vgpu/isa/valu/matrix.h"
#include "tools/vgpu/isa/valu/matrix_element.h"

namespace vgpu::valu {
namespace {

enum class Result16 : u8 { kF32, kF16, kBf16 };

/// 16 x 16 x 16 of halves. A's row and B's column number is the lane's modulo 16; element k is half k.
template <Element kType, Result16 kResult>
void wmma_float(Wave& w, const Inst& inst) {
  const unsigned lanes = w.lanes(), parts = 256 / lanes;
  auto source = [&](size_t n, unsigned k, unsigned lane) {
    const Operand& o = inst.src[n];
    const float v = matrix_element<kType>(w, o, k, lane);
    return (k & 1 ? o.abs : o.neg) ? -v : v;
  };
  const Operand& c = inst.src[2];
  const unsigned shift = kResult != Result16::kF32 && c.hi ? 16 : 0;
  Row out[8];
  for (unsigned part = 0; part < parts; ++part) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned row = lanes / 16 * part + lane / 16, column = lane % 16;
      const u32 old = matrix_dword(w, c, part, lane);
      float sum = std::bit_cast<float>(old);
      if (kResult == Result16::kF16) sum = to_float(Half{static_cast<u16>(old >> shift)});
      if (kResult == Result16::kBf16) sum = from_bf16(static_cast<u16>(old >> shift));
      if (c.abs) sum = std::fabs(sum);
      if (c.neg) sum = -sum;
      for (unsigned k = 0; k < 16; ++k) sum = std::fma(source(0, k, row), source(1, k, column), sum);
      if (kResult == Result16::kF32) {
        out[part].v[lane] = std::bit_cast<u32>(sum);
        continue;
      }
      const u32 h = kResult == Result16::kF16 ? to_half(sum).bits : to_bf16(sum);
      const u32 kept = register_row(w, inst.dst[0], part)[lane];
      out[part].v[lane] = shift != 0 ? (kept & 0xffff) | h << 16 : (kept & 0xffff0000) | h;
    }
  }
  for (unsigned part = 0; part < parts; ++part)
    std::memcpy(register_row(w, inst.dst[0], part), out[part].v, lanes * sizeof(u32));
}

/// Elements of 8 or 4 bits; the neg bits of the sources say which are signed.
template <unsigned kBits>
void wmma_integer(Wave& w, const Inst& inst) {
  const unsigned lanes = w.lanes(), parts = 256 / lanes;
  auto source = [&](size_t n, unsigned k, unsigned lane) {
    constexpr unsigned kPerDword = 32 / kBits;
    const u32 v = matrix_dword(w, inst.src[n], k / kPerDword, lane) >> (kBits * (k % kPerDword)) & ((1u << kBits) - 1);
    const bool negative = inst.src[n].neg && (v >> (kBits - 1) & 1);
    return i64{v} - (negative ? i64{1} << kBits : 0);
  };
  Row out[8];
  for (unsigned part = 0; part < parts; ++part) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      i64 sum = static_cast<i32>(matrix_dword(w, inst.src[2], part, lane));
      for (unsigned k = 0; k < 16; ++k) sum += source(0, k, lanes / 16 * part + lane / 16) * source(1, k, lane % 16);
      if (inst.clamp) sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
      out[part].v[lane] = static_cast<u32>(sum);
    }
  }
  for (unsigned part = 0; part < parts; ++part)
    std::memcpy(register_row(w, inst.dst[0], part), out[part].v, lanes * sizeof(u32));
}

constexpr ExecEntry kEntries[] = {
    {"v_wmma_f32_16x16x16_f16", &wmma_float<Element::kF16, Result16::kF32>},
    {"v_wmma_f32_16x16x16_bf16", &wmma_float<Element::kBf16, Result16::kF32>},
    {"v_wmma_f16_16x16x16_f16", &wmma_float<Element::kF16, Result16::kF16>},
    {"v_wmma_bf16_16x16x16_bf16", &wmma_float<Element::kBf16, Result16::kBf16>},
    {"v_wmma_i32_16x16x16_iu8", &wmma_integer<8>},
    {"v_wmma_i32_16x16x16_iu4", &wmma_integer<4>},
};

}  // namespace

std::span<const ExecEntry> wmma_entries() { return kEntries; }

}  // namespace vgpu::valu
