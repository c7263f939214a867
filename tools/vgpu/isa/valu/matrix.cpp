// Matrix instructions of gfx908, gfx90a and gfx942: v_mfma_* and v_smfmac_*. They work on the registers of the whole
// wave and do not look at EXEC.
//
// Where an element sits follows AMD's matrix instruction calculator; sums are made in the order of k, one fma each
// (hardware's order of summation is not published).
#include "tools/vgpu/isa/valu/matrix.h"

#include <cmath>

#include "tools/vgpu/isa/valu/math.h"
#include "tools/vgpu/isa/valu/matrix_element.h"

namespace vgpu::valu {
namespace {

/// Whether a value that came from a 16-bit float was denormal there.
template <Element kType>
bool is_half_denormal(float v) {
  return std::fabs(v) < (kType == Element::kF16 ? 0x1p-14f : 0x1p-126f);
}

// MFMA ------------------------------------------------------------------------------------------------------------

/// M x N results of K products each, in B blocks.
struct Shape {
  unsigned m, n, k, b;
};

struct Place {
  unsigned lane, item;
};

/// Where element (i, j) of a block's result is: `h` rows follow each other in a lane's registers.
Place result_place(const Shape& s, bool doubles, unsigned i, unsigned j, unsigned block) {
  if (doubles && s.m == 4) return {j + 4 * (block + 4 * i), 0};
  const unsigned h = doubles ? 1 : 4, per_item = 64 * h / (s.m * s.n) > 1 ? 64 * h / (s.m * s.n) : 1;
  const unsigned rows = 64 / (per_item * s.n), groups = s.m / (h * rows);
  return {j + s.n * ((i / h) % rows + rows * (block % per_item)),
          i % h + h * (i / (h * rows) + groups * (block / per_item))};
}

template <class T>
T multiply_add(T a, T b, T c) {
  if constexpr (std::is_same_v<T, i32>)
    return static_cast<i32>(static_cast<u32>(c) + static_cast<u32>(a * b));
  else
    return std::fma(a, b, c);
}

template <class T>
T read_sum(const Wave& w, const Operand& operand, unsigned item, unsigned lane) {
  if constexpr (std::is_same_v<T, double>) {
    if (operand.is_constant()) return std::bit_cast<double>(operand.value);
    return matrix_element<Element::kF64>(w, operand, item, lane);
  } else {
    return std::bit_cast<T>(matrix_dword(w, operand, item, lane));
  }
}

/// The results of an instruction, collected before any register is written.
struct Results {
  static constexpr unsigned kMost = 32;
  Row rows[kMost];

  template <class T>
  void set(Place at, T value) {
    u32 words[sizeof(T) / 4];
    std::memcpy(words, &value, sizeof value);
    for (unsigned n = 0; n < std::size(words); ++n) rows[at.item * std::size(words) + n].v[at.lane] = words[n];
  }
  void write(Wave& w, const Operand& dst) const {
    for (unsigned n = 0; n < dst.dwords; ++n) std::memcpy(register_row(w, dst, n), rows[n].v, sizeof rows[n].v);
  }
};

/// Lane of a B operand under the BLGP control, block of A under CBSZ and ABID.
unsigned b_lane(const Inst& inst, unsigned lane) {
  switch (inst.blgp) {
    case 0: return lane;
    case 1: return lane % 32;
    case 2: return 32 + lane % 32;
    case 3: return (lane + 16) % 64;
    default: return lane % 16 + 16 * (inst.blgp - 4u);
  }
}
unsigned a_block(const Inst& inst, unsigned block, unsigned blocks) {
  return inst.cbsz == 0 ? block : ((block & ~((1u << inst.cbsz) - 1)) + inst.abid) % blocks;
}

/// One result. Every lane holds consecutive k of A and B.
template <Element kA, Element kB>
SumOf<kA> one_result(const Wave& w, const Inst& inst, const Shape& s, bool flush, unsigned block, unsigned i,
                     unsigned j, SumOf<kA> sum) {
  using Sum = SumOf<kA>;
  constexpr bool kDouble = kA == Element::kF64;
  const unsigned items = s.k * s.m * s.b / 64;
  const unsigned from_block = kDouble ? block : a_block(inst, block, s.b);
  for (unsigned k = 0; k < s.k; ++k) {
    const unsigned a_lane = i + s.m * (from_block + s.b * (k / items)), lane = j + s.n * (block + s.b * (k / items));
    Sum a = matrix_element<kA>(w, inst.src[0], k % items, a_lane);
    Sum b = matrix_element<kB>(w, inst.src[1], k % items, kDouble ? lane : b_lane(inst, lane));
    if constexpr (std::is_same_v<Sum, float>) {
      if (flush && is_half_denormal<kA>(a)) a = 0;
      if (flush && is_half_denormal<kB>(b)) b = 0;
    }
    sum = multiply_add(a, b, sum);
  }
  return sum;
}

template <Element kA, Element kB>
[[gnu::noinline]] void mfma(Wave& w, const Inst& inst, const Shape& s) {
  using Sum = SumOf<kA>;
  const bool flush = (kA == Element::kF16 || kA == Element::kBf16) && flushes_half(w);
  Results out;
  for (unsigned block = 0; block < s.b; ++block)
    for (unsigned i = 0; i < s.m; ++i)
      for (unsigned j = 0; j < s.n; ++j) {
        const Place at = result_place(s, kA == Element::kF64, i, j, block);
        Sum sum = read_sum<Sum>(w, inst.src[2], at.item, at.lane);
        if constexpr (kA == Element::kF64) {
          // gfx942 negates A, B and C by the bits that choose lanes elsewhere. Negating A or B negates the products.
          const unsigned negated = w.group->dispatch->target->gfx == "gfx942" ? inst.blgp : 0;
          const bool products = (negated & 1) != (negated >> 1 & 1);
          if ((negated & 4) != 0) sum = -sum;
          sum = products ? -one_result<kA, kB>(w, inst, s, flush, block, i, j, -sum)
                         : one_result<kA, kB>(w, inst, s, flush, block, i, j, sum);
        } else {
          sum = one_result<kA, kB>(w, inst, s, flush, block, i, j, sum);
        }
        if constexpr (std::is_same_v<Sum, float>)
          if (flush) sum = flushed(sum);
        out.set(at, sum);
      }
  out.write(w, inst.dst[0]);
}

template <unsigned M, unsigned N, unsigned K, unsigned B, Element kA, Element kB = kA>
struct Mfma {
  static void run(Wave& w, const Inst& inst) { mfma<kA, kB>(w, inst, Shape{M, N, K, B}); }
};

// SMFMAC ----------------------------------------------------------------------------------------------------------

/// A is sparse: of every four k only two are kept, and two bits of the index register say for each which. The sum is
/// the destination's old content.
template <Element kA, Element kB>
[[gnu::noinline]] void smfmac(Wave& w, const Inst& inst, unsigned m, unsigned k_count) {
  using Sum = SumOf<kA>;
  const unsigned kept = k_count * m / 128;  // elements of A in a lane
  // With CBSZ 0, ABID chooses among the sets of indices that fit into the register.
  const unsigned first_index = inst.cbsz == 0 ? inst.abid % (16 / kept) * 2 * kept : 0;
  Results out;
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < m; ++j) {
      const Place at = result_place(Shape{m, m, k_count, 1}, false, i, j, 0);
      Sum sum = read_sum<Sum>(w, inst.dst[0], at.item, at.lane);
      for (unsigned part = 0; part < 64 / m; ++part) {
        const u32 indices = matrix_dword(w, inst.src[2], 0, i + m * part) >> first_index;
        for (unsigned n = 0; n < kept; ++n) {
          const unsigned k = 4 * (n / 2) + (indices >> (2 * n) & 3);
          sum = multiply_add(matrix_element<kA>(w, inst.src[0], n, i + m * part),
                             matrix_element<kB>(w, inst.src[1], k, j + m * part), sum);
        }
      }
      out.set(at, sum);
    }
  out.write(w, inst.dst[0]);
}

template <unsigned M, unsigned K, Element kA, Element kB = kA>
struct Smfmac {
  static void run(Wave& w, const Inst& inst) { smfmac<kA, kB>(w, inst, M, K); }
};

constexpr Element kF32 = Element::kF32, kF16 = Element::kF16, kBf16 = Element::kBf16, kI8 = Element::kI8,
                  kF64 = Element::kF64, kXf32 = Element::kXf32, kFp8 = Element::kFp8, kBf8 = Element::kBf8;

constexpr ExecEntry kEntries[] = {
    {"v_mfma_f32_32x32x1f32", &Mfma<32, 32, 1, 2, kF32>::run},
    {"v_mfma_f32_32x32x1_2b_f32", &Mfma<32, 32, 1, 2, kF32>::run},
    {"v_mfma_f32_16x16x1f32", &Mfma<16, 16, 1, 4, kF32>::run},
    {"v_mfma_f32_16x16x1_4b_f32", &Mfma<16, 16, 1, 4, kF32>::run},
    {"v_mfma_f32_4x4x1f32", &Mfma<4, 4, 1, 16, kF32>::run},
    {"v_mfma_f32_4x4x1_16b_f32", &Mfma<4, 4, 1, 16, kF32>::run},
    {"v_mfma_f32_32x32x2f32", &Mfma<32, 32, 2, 1, kF32>::run},
    {"v_mfma_f32_32x32x2_f32", &Mfma<32, 32, 2, 1, kF32>::run},
    {"v_mfma_f32_16x16x4f32", &Mfma<16, 16, 4, 1, kF32>::run},
    {"v_mfma_f32_16x16x4_f32", &Mfma<16, 16, 4, 1, kF32>::run},
    {"v_mfma_f32_32x32x4f16", &Mfma<32, 32, 4, 2, kF16>::run},
    {"v_mfma_f32_32x32x4_2b_f16", &Mfma<32, 32, 4, 2, kF16>::run},
    {"v_mfma_f32_16x16x4f16", &Mfma<16, 16, 4, 4, kF16>::run},
    {"v_mfma_f32_16x16x4_4b_f16", &Mfma<16, 16, 4, 4, kF16>::run},
    {"v_mfma_f32_4x4x4f16", &Mfma<4, 4, 4, 16, kF16>::run},
    {"v_mfma_f32_4x4x4_16b_f16", &Mfma<4, 4, 4, 16, kF16>::run},
    {"v_mfma_f32_32x32x8f16", &Mfma<32, 32, 8, 1, kF16>::run},
    {"v_mfma_f32_32x32x8_f16", &Mfma<32, 32, 8, 1, kF16>::run},
    {"v_mfma_f32_16x16x16f16", &Mfma<16, 16, 16, 1, kF16>::run},
    {"v_mfma_f32_16x16x16_f16", &Mfma<16, 16, 16, 1, kF16>::run},
    {"v_mfma_f32_32x32x2bf16", &Mfma<32, 32, 2, 2, kBf16>::run},
    {"v_mfma_f32_16x16x2bf16", &Mfma<16, 16, 2, 4, kBf16>::run},
    {"v_mfma_f32_4x4x2bf16", &Mfma<4, 4, 2, 16, kBf16>::run},
    {"v_mfma_f32_32x32x4bf16", &Mfma<32, 32, 4, 1, kBf16>::run},
    {"v_mfma_f32_16x16x8bf16", &Mfma<16, 16, 8, 1, kBf16>::run},
    {"v_mfma_f32_32x32x4bf16_1k", &Mfma<32, 32, 4, 2, kBf16>::run},
    {"v_mfma_f32_32x32x4_2b_bf16", &Mfma<32, 32, 4, 2, kBf16>::run},
    {"v_mfma_f32_16x16x4bf16_1k", &Mfma<16, 16, 4, 4, kBf16>::run},
    {"v_mfma_f32_16x16x4_4b_bf16", &Mfma<16, 16, 4, 4, kBf16>::run},
    {"v_mfma_f32_4x4x4bf16_1k", &Mfma<4, 4, 4, 16, kBf16>::run},
    {"v_mfma_f32_4x4x4_16b_bf16", &Mfma<4, 4, 4, 16, kBf16>::run},
    {"v_mfma_f32_32x32x8bf16_1k", &Mfma<32, 32, 8, 1, kBf16>::run},
    {"v_mfma_f32_32x32x8_bf16", &Mfma<32, 32, 8, 1, kBf16>::run},
    {"v_mfma_f32_16x16x16bf16_1k", &Mfma<16, 16, 16, 1, kBf16>::run},
    {"v_mfma_f32_16x16x16_bf16", &Mfma<16, 16, 16, 1, kBf16>::run},
    {"v_mfma_i32_32x32x4i8", &Mfma<32, 32, 4, 2, kI8>::run},
    {"v_mfma_i32_32x32x4_2b_i8", &Mfma<32, 32, 4, 2, kI8>::run},
    {"v_mfma_i32_16x16x4i8", &Mfma<16, 16, 4, 4, kI8>::run},
    {"v_mfma_i32_16x16x4_4b_i8", &Mfma<16, 16, 4, 4, kI8>::run},
    {"v_mfma_i32_4x4x4i8", &Mfma<4, 4, 4, 16, kI8>::run},
    {"v_mfma_i32_4x4x4_16b_i8", &Mfma<4, 4, 4, 16, kI8>::run},
    {"v_mfma_i32_32x32x8i8", &Mfma<32, 32, 8, 1, kI8>::run},
    {"v_mfma_i32_16x16x16i8", &Mfma<16, 16, 16, 1, kI8>::run},
    {"v_mfma_i32_32x32x16_i8", &Mfma<32, 32, 16, 1, kI8>::run},
    {"v_mfma_i32_16x16x32_i8", &Mfma<16, 16, 32, 1, kI8>::run},
    {"v_mfma_f64_16x16x4f64", &Mfma<16, 16, 4, 1, kF64>::run},
    {"v_mfma_f64_16x16x4_f64", &Mfma<16, 16, 4, 1, kF64>::run},
    {"v_mfma_f64_4x4x4f64", &Mfma<4, 4, 4, 4, kF64>::run},
    {"v_mfma_f64_4x4x4_4b_f64", &Mfma<4, 4, 4, 4, kF64>::run},
    {"v_mfma_f32_16x16x8_xf32", &Mfma<16, 16, 8, 1, kXf32>::run},
    {"v_mfma_f32_32x32x4_xf32", &Mfma<32, 32, 4, 1, kXf32>::run},
    {"v_mfma_f32_16x16x32_fp8_fp8", &Mfma<16, 16, 32, 1, kFp8, kFp8>::run},
    {"v_mfma_f32_32x32x16_fp8_fp8", &Mfma<32, 32, 16, 1, kFp8, kFp8>::run},
    {"v_mfma_f32_16x16x32_fp8_bf8", &Mfma<16, 16, 32, 1, kFp8, kBf8>::run},
    {"v_mfma_f32_32x32x16_fp8_bf8", &Mfma<32, 32, 16, 1, kFp8, kBf8>::run},
    {"v_mfma_f32_16x16x32_bf8_fp8", &Mfma<16, 16, 32, 1, kBf8, kFp8>::run},
    {"v_mfma_f32_32x32x16_bf8_fp8", &Mfma<32, 32, 16, 1, kBf8, kFp8>::run},
    {"v_mfma_f32_16x16x32_bf8_bf8", &Mfma<16, 16, 32, 1, kBf8, kBf8>::run},
    {"v_mfma_f32_32x32x16_bf8_bf8", &Mfma<32, 32, 16, 1, kBf8, kBf8>::run},

    {"v_smfmac_f32_16x16x32_f16", &Smfmac<16, 32, kF16>::run},
    {"v_smfmac_f32_32x32x16_f16", &Smfmac<32, 16, kF16>::run},
    {"v_smfmac_f32_16x16x32_bf16", &Smfmac<16, 32, kBf16>::run},
    {"v_smfmac_f32_32x32x16_bf16", &Smfmac<32, 16, kBf16>::run},
    {"v_smfmac_i32_16x16x64_i8", &Smfmac<16, 64, kI8>::run},
    {"v_smfmac_i32_32x32x32_i8", &Smfmac<32, 32, kI8>::run},
    {"v_smfmac_f32_16x16x64_fp8_fp8", &Smfmac<16, 64, kFp8, kFp8>::run},
    {"v_smfmac_f32_32x32x32_fp8_fp8", &Smfmac<32, 32, kFp8, kFp8>::run},
    {"v_smfmac_f32_16x16x64_fp8_bf8", &Smfmac<16, 64, kFp8, kBf8>::run},
    {"v_smfmac_f32_32x32x32_fp8_bf8", &Smfmac<32, 32, kFp8, kBf8>::run},
    {"v_smfmac_f32_16x16x64_bf8_fp8", &Smfmac<16, 64, kBf8, kFp8>::run},
    {"v_smfmac_f32_32x32x32_bf8_fp8", &Smfmac<32, 32, kBf8, kFp8>::run},
    {"v_smfmac_f32_16x16x64_bf8_bf8", &Smfmac<16, 64, kBf8, kBf8>::run},
    {"v_smfmac_f32_32x32x32_bf8_bf8", &Smfmac<32, 32, kBf8, kBf8>::run},
};

}  // namespace

std::span<const ExecEntry> matrix_entries() { return kEntries; }

}  // namespace vgpu::valu
