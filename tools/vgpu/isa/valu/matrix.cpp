// Matrix instructions: v_mfma_* (gfx908, gfx90a) and v_wmma_* (gfx11). They work on the registers of the whole wave and
// do not look at EXEC.
//
// Where an element sits follows AMD's matrix instruction calculator; sums are made in the order of k, one fma each
// (hardware's order of summation is not published).
#include "tools/vgpu/isa/valu/matrix.h"

#include <bit>
#include <cmath>

#include "tools/vgpu/isa/valu/float16.h"
#include "tools/vgpu/isa/valu/lanes.h"

namespace vgpu::valu {
namespace {

enum class Element : u8 { kF32, kF16, kBf16, kI8, kF64 };

constexpr float bf16(u16 bits) { return std::bit_cast<float>(u32{bits} << 16); }

u16 to_bf16(float v) {
  const u32 bits = std::bit_cast<u32>(v);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<u16>(bits >> 16 | 0x40);
  return static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Dword `part` of an operand in one lane: vector register of either file, or a constant.
u32 dword(const Wave& w, const Operand& operand, unsigned part, unsigned lane) {
  if (operand.is_vgpr() || operand.kind == Operand::Kind::kAgpr)
    return register_row(const_cast<Wave&>(w), operand, part)[lane];
  return static_cast<u32>(operand.value);
}

/// The n-th 8 or 16-bit item of an operand in one lane.
u16 item16(const Wave& w, const Operand& operand, unsigned n, unsigned lane) {
  return static_cast<u16>(dword(w, operand, n / 2, lane) >> (16 * (n & 1)));
}
i32 item8(const Wave& w, const Operand& operand, unsigned n, unsigned lane) {
  return static_cast<i8>(dword(w, operand, n / 4, lane) >> (8 * (n & 3)));
}

// MFMA ------------------------------------------------------------------------------------------------------------

/// One instruction: M x N results of K products each, in B blocks; every lane holds `items` consecutive k.
template <unsigned M, unsigned N, unsigned K, Element kType, unsigned kItems>
struct Mfma {
  static constexpr bool kDouble = kType == Element::kF64, kInteger = kType == Element::kI8;
  static constexpr unsigned B = 64 * kItems / (M * K);
  static constexpr unsigned H = kDouble ? 1 : 4, kWidth = kDouble ? 2 : 1;
  static constexpr unsigned BI = 64 * H / (M * N) > 1 ? 64 * H / (M * N) : 1;
  static constexpr unsigned MI = 64 / (BI * N), G = M / (H * MI);
  static constexpr unsigned kDwords = M * N * B / 64 * kWidth;

  struct Place {
    unsigned lane, item;
  };
  static Place result(unsigned i, unsigned j, unsigned block) {
    if (kDouble && M == 4) return {j + 4 * (block + 4 * i), 0};
    return {j + N * ((i / H) % MI + MI * (block % BI)), i % H + H * (i / (H * MI) + G * (block / BI))};
  }

  /// Lane of a B operand under the BLGP control, of the block of A under CBSZ and ABID.
  static unsigned b_lane(const Inst& inst, unsigned lane) {
    if (kDouble) return lane;
    switch (inst.blgp) {
      case 0: return lane;
      case 1: return lane % 32;
      case 2: return 32 + lane % 32;
      case 3: return (lane + 16) % 64;
      default: return lane % 16 + 16 * (inst.blgp - 4u);
    }
  }
  static unsigned a_block(const Inst& inst, unsigned block) {
    if (kDouble || inst.cbsz == 0) return block;
    return ((block & ~((1u << inst.cbsz) - 1)) + inst.abid) % B;
  }

  static void run(Wave& w, const Inst& inst) {
    Row out[kDwords];
    for (unsigned block = 0; block < B; ++block)
      for (unsigned i = 0; i < M; ++i)
        for (unsigned j = 0; j < N; ++j) one(w, inst, block, i, j, out);
    for (unsigned part = 0; part < kDwords; ++part)
      std::memcpy(register_row(w, inst.dst[0], part), out[part].v, sizeof out[part].v);
  }

  static void one(const Wave& w, const Inst& inst, unsigned block, unsigned i, unsigned j, Row* out) {
    const Place at = result(i, j, block);
    const Operand &a = inst.src[0], &b = inst.src[1], &c = inst.src[2];
    auto a_lane = [&](unsigned k) { return i + M * (a_block(inst, block) + B * (k / kItems)); };
    auto b_lane_of = [&](unsigned k) { return b_lane(inst, j + N * (block + B * (k / kItems))); };
    if constexpr (kDouble) {
      auto value = [&](const Operand& o, unsigned part, unsigned lane) {
        if (o.is_constant()) return std::bit_cast<double>(o.value);
        return std::bit_cast<double>(u64{dword(w, o, part, lane)} | u64{dword(w, o, part + 1, lane)} << 32);
      };
      double sum = value(c, 2 * at.item, at.lane);
      for (unsigned k = 0; k < K; ++k) sum = std::fma(value(a, 0, a_lane(k)), value(b, 0, b_lane_of(k)), sum);
      const u64 bits = std::bit_cast<u64>(sum);
      out[2 * at.item].v[at.lane] = static_cast<u32>(bits);
      out[2 * at.item + 1].v[at.lane] = static_cast<u32>(bits >> 32);
    } else if constexpr (kInteger) {
      u32 sum = dword(w, c, at.item, at.lane);
      for (unsigned k = 0; k < K; ++k)
        sum += static_cast<u32>(item8(w, a, k % kItems, a_lane(k)) * item8(w, b, k % kItems, b_lane_of(k)));
      out[at.item].v[at.lane] = sum;
    } else {
      auto value = [&](const Operand& o, unsigned k, unsigned lane) {
        if constexpr (kType == Element::kF32)
          return std::bit_cast<float>(dword(w, o, 0, lane));
        else if constexpr (kType == Element::kF16)
          return to_float(Half{item16(w, o, k % kItems, lane)});
        else
          return bf16(item16(w, o, k % kItems, lane));
      };
      float sum = std::bit_cast<float>(dword(w, c, at.item, at.lane));
      for (unsigned k = 0; k < K; ++k) sum = std::fma(value(a, k, a_lane(k)), value(b, k, b_lane_of(k)), sum);
      out[at.item].v[at.lane] = std::bit_cast<u32>(sum);
    }
  }
};

// WMMA ------------------------------------------------------------------------------------------------------------

enum class Result16 : u8 { kF32, kF16, kBf16 };

/// 16 x 16 x 16 of halves. A's row and B's column number is the lane's modulo 16; element k is half k.
template <Element kType, Result16 kResult>
void wmma_float(Wave& w, const Inst& inst) {
  const unsigned lanes = w.lanes(), parts = 256 / lanes;
  auto source = [&](size_t n, unsigned k, unsigned lane) {
    const Operand& o = inst.src[n];
    const u16 bits = item16(w, o, k, lane);
    const float v = kType == Element::kF16 ? to_float(Half{bits}) : bf16(bits);
    return (k & 1 ? o.abs : o.neg) ? -v : v;
  };
  const Operand& c = inst.src[2];
  const unsigned shift = kResult != Result16::kF32 && c.hi ? 16 : 0;
  Row out[8];
  for (unsigned part = 0; part < parts; ++part) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned row = lanes / 16 * part + lane / 16, column = lane % 16;
      const u32 old = dword(w, c, part, lane);
      float sum = std::bit_cast<float>(old);
      if (kResult == Result16::kF16) sum = to_float(Half{static_cast<u16>(old >> shift)});
      if (kResult == Result16::kBf16) sum = bf16(static_cast<u16>(old >> shift));
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
    const u32 v = dword(w, inst.src[n], k / kPerDword, lane) >> (kBits * (k % kPerDword)) & ((1u << kBits) - 1);
    const bool negative = inst.src[n].neg && (v >> (kBits - 1) & 1);
    return i64{v} - (negative ? i64{1} << kBits : 0);
  };
  Row out[8];
  for (unsigned part = 0; part < parts; ++part) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      i64 sum = static_cast<i32>(dword(w, inst.src[2], part, lane));
      for (unsigned k = 0; k < 16; ++k) sum += source(0, k, lanes / 16 * part + lane / 16) * source(1, k, lane % 16);
      if (inst.clamp) sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
      out[part].v[lane] = static_cast<u32>(sum);
    }
  }
  for (unsigned part = 0; part < parts; ++part)
    std::memcpy(register_row(w, inst.dst[0], part), out[part].v, lanes * sizeof(u32));
}

constexpr Element kF32 = Element::kF32, kF16 = Element::kF16, kBf16 = Element::kBf16, kI8 = Element::kI8,
                  kF64 = Element::kF64;

constexpr ExecEntry kEntries[] = {
    {"v_mfma_f32_32x32x1f32", &Mfma<32, 32, 1, kF32, 1>::run},
    {"v_mfma_f32_16x16x1f32", &Mfma<16, 16, 1, kF32, 1>::run},
    {"v_mfma_f32_4x4x1f32", &Mfma<4, 4, 1, kF32, 1>::run},
    {"v_mfma_f32_32x32x2f32", &Mfma<32, 32, 2, kF32, 1>::run},
    {"v_mfma_f32_16x16x4f32", &Mfma<16, 16, 4, kF32, 1>::run},
    {"v_mfma_f32_32x32x4f16", &Mfma<32, 32, 4, kF16, 4>::run},
    {"v_mfma_f32_16x16x4f16", &Mfma<16, 16, 4, kF16, 4>::run},
    {"v_mfma_f32_4x4x4f16", &Mfma<4, 4, 4, kF16, 4>::run},
    {"v_mfma_f32_32x32x8f16", &Mfma<32, 32, 8, kF16, 4>::run},
    {"v_mfma_f32_16x16x16f16", &Mfma<16, 16, 16, kF16, 4>::run},
    {"v_mfma_f32_32x32x2bf16", &Mfma<32, 32, 2, kBf16, 2>::run},
    {"v_mfma_f32_16x16x2bf16", &Mfma<16, 16, 2, kBf16, 2>::run},
    {"v_mfma_f32_4x4x2bf16", &Mfma<4, 4, 2, kBf16, 2>::run},
    {"v_mfma_f32_32x32x4bf16", &Mfma<32, 32, 4, kBf16, 2>::run},
    {"v_mfma_f32_16x16x8bf16", &Mfma<16, 16, 8, kBf16, 2>::run},
    {"v_mfma_f32_32x32x4bf16_1k", &Mfma<32, 32, 4, kBf16, 4>::run},
    {"v_mfma_f32_16x16x4bf16_1k", &Mfma<16, 16, 4, kBf16, 4>::run},
    {"v_mfma_f32_4x4x4bf16_1k", &Mfma<4, 4, 4, kBf16, 4>::run},
    {"v_mfma_f32_32x32x8bf16_1k", &Mfma<32, 32, 8, kBf16, 4>::run},
    {"v_mfma_f32_16x16x16bf16_1k", &Mfma<16, 16, 16, kBf16, 4>::run},
    {"v_mfma_i32_32x32x4i8", &Mfma<32, 32, 4, kI8, 4>::run},
    {"v_mfma_i32_16x16x4i8", &Mfma<16, 16, 4, kI8, 4>::run},
    {"v_mfma_i32_4x4x4i8", &Mfma<4, 4, 4, kI8, 4>::run},
    {"v_mfma_i32_32x32x8i8", &Mfma<32, 32, 8, kI8, 4>::run},
    {"v_mfma_i32_16x16x16i8", &Mfma<16, 16, 16, kI8, 4>::run},
    {"v_mfma_f64_16x16x4f64", &Mfma<16, 16, 4, kF64, 1>::run},
    {"v_mfma_f64_4x4x4f64", &Mfma<4, 4, 4, kF64, 1>::run},

    {"v_wmma_f32_16x16x16_f16", &wmma_float<kF16, Result16::kF32>},
    {"v_wmma_f32_16x16x16_bf16", &wmma_float<kBf16, Result16::kF32>},
    {"v_wmma_f16_16x16x16_f16", &wmma_float<kF16, Result16::kF16>},
    {"v_wmma_bf16_16x16x16_bf16", &wmma_float<kBf16, Result16::kBf16>},
    {"v_wmma_i32_16x16x16_iu8", &wmma_integer<8>},
    {"v_wmma_i32_16x16x16_iu4", &wmma_integer<4>},
};

}  // namespace

std::span<const ExecEntry> matrix_entries() { return kEntries; }

}  // namespace vgpu::valu
