// 32-bit and 64-bit integer arithmetic, logic, shifts and bit fields.
#include <algorithm>
#include <limits>

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"

namespace vgpu::valu {
namespace {

constexpr u32 saturate_u32(i64 value) {
  return static_cast<u32>(std::clamp<i64>(value, 0, std::numeric_limits<u32>::max()));
}
constexpr i32 saturate_i32(i64 value) {
  return static_cast<i32>(std::clamp<i64>(value, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()));
}

constexpr i64 sext24(u32 value) { return static_cast<i32>(value << 8) >> 8; }
constexpr u64 zext24(u32 value) { return value & 0xffffff; }

constexpr u32 bit_field(u32 value, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  return value >> offset & ((1u << width) - 1);
}
constexpr u32 bit_field_signed(u32 value, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  if (width == 0) return 0;
  const u32 field = bit_field(value, offset, width);
  if (offset + width > 32) return static_cast<u32>(static_cast<i32>(value) >> offset);
  const u32 sign = 1u << (width - 1);
  return (field ^ sign) - sign;
}

constexpr u32 reverse_bits(u32 v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
  v = (v >> 8 & 0x00ff00ff) | (v & 0x00ff00ff) << 8;
  return v >> 16 | v << 16;
}

/// Position of the first bit that differs from the sign, counted from the top; -1 when there is none.
constexpr i32 count_sign_bits(i32 value) {
  const u32 magnitude = static_cast<u32>(value < 0 ? ~value : value);
  return magnitude == 0 ? -1 : std::countl_zero(magnitude);
}

/// One byte of v_perm_b32: 0..7 of the two sources, 8..11 sign bytes, 12 zero, above 0xff.
constexpr u32 permuted_byte(u64 bytes, u32 selector) {
  if (selector < 8) return static_cast<u32>(bytes >> (8 * selector)) & 0xff;
  if (selector < 12) return bytes >> (16 * (selector - 8) + 15) & 1 ? 0xff : 0;
  return selector == 12 ? 0 : 0xff;
}
constexpr u32 permute_bytes(u32 high, u32 low, u32 selectors) {
  const u64 bytes = u64{high} << 32 | low;
  u32 out = 0;
  for (unsigned n = 0; n < 4; ++n) out |= permuted_byte(bytes, selectors >> (8 * n) & 0xff) << (8 * n);
  return out;
}

template <class T>
constexpr T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

template <unsigned kBit>
constexpr u32 lerp_byte(u32 a, u32 b, u32 round) {
  return (((a >> kBit & 0xff) + (b >> kBit & 0xff) + (round >> kBit & 1)) >> 1) << kBit;
}

/// v_mad_u64_u32 and v_mad_i64_i32: the sum has 65 bits, the highest of which goes to the mask.
template <class T, class Wide>
void mad_64_32(Wave& w, const Inst& i) {
  const Source<T> a(w, i, 0), b(w, i, 1);
  const Source<Wide> c(w, i, 2);
  Result<Wide> out;
  u64 carry = 0;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const Wide product = Wide{a[l]} * Wide{b[l]};
    Wide sum;
    const bool overflow = __builtin_add_overflow(product, c[l], &sum);
    // Signed: the highest bit is the exact sum's sign.
    const bool high = std::is_signed_v<Wide> ? (sum < 0) != overflow : overflow;
    carry |= u64{high} << l;
    if (i.clamp && overflow)
      sum = std::is_signed_v<Wide> && product < 0 ? std::numeric_limits<Wide>::min() : std::numeric_limits<Wide>::max();
    out.set(l, sum);
  }
  out.write(w, i);
  write_mask_result(w, i.dst[1], carry);
}

/// Counts bits of the mask below this lane.
template <bool kHigh>
void mbcnt(Wave& w, const Inst& i) {
  const Source<u32> mask(w, i, 0), add(w, i, 1);
  Result<u32> out;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const unsigned below = kHigh ? (l < 32 ? 0 : l - 32) : std::min(l, 32u);
    const u32 lanes = below == 0 ? 0 : ~0u >> (32 - below);
    out.set(l, static_cast<u32>(std::popcount(mask[l] & lanes)) + add[l]);
  }
  out.write(w, i);
}

constexpr ExecEntry kEntries[] = {
    // Sums. With clamp they saturate.
    {"v_add_nc_u32",
     map_clamp<[](u32 a, u32 b) { return a + b; }, [](u32 a, u32 b) { return saturate_u32(i64{a} + b); }>},
    {"v_sub_nc_u32",
     map_clamp<[](u32 a, u32 b) { return a - b; }, [](u32 a, u32 b) { return saturate_u32(i64{a} - b); }>},
    {"v_subrev_nc_u32",
     map_clamp<[](u32 a, u32 b) { return b - a; }, [](u32 a, u32 b) { return saturate_u32(i64{b} - a); }>},
    {"v_add_nc_i32",
     map_clamp<[](u32 a, u32 b) { return a + b; }, [](i32 a, i32 b) { return saturate_i32(i64{a} + b); }>},
    {"v_sub_nc_i32",
     map_clamp<[](u32 a, u32 b) { return a - b; }, [](i32 a, i32 b) { return saturate_i32(i64{a} - b); }>},
    {"v_add3_u32", map<[](u32 a, u32 b, u32 c) { return a + b + c; }>},
    {"v_add_lshl_u32", map<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>},
    {"v_lshl_add_u32", map<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>},
    {"v_lshl_add_u64", map<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }>},
    {"v_xad_u32", map<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>},

    // Products.
    {"v_mul_lo_u32", map<[](u32 a, u32 b) { return a * b; }>},
    {"v_mul_hi_u32", map<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>},
    {"v_mul_hi_i32", map<[](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }>},
    {"v_mul_u32_u24", map_clamp<[](u32 a, u32 b) { return static_cast<u32>(zext24(a) * zext24(b)); },
                                [](u32 a, u32 b) { return saturate_u32(static_cast<i64>(zext24(a) * zext24(b))); }>},
    {"v_mul_i32_i24", map_clamp<[](u32 a, u32 b) { return static_cast<u32>(sext24(a) * sext24(b)); },
                                [](u32 a, u32 b) { return saturate_i32(sext24(a) * sext24(b)); }>},
    {"v_mul_hi_u32_u24", map<[](u32 a, u32 b) { return static_cast<u32>(zext24(a) * zext24(b) >> 32); }>},
    {"v_mul_hi_i32_i24", map<[](u32 a, u32 b) { return static_cast<u32>(sext24(a) * sext24(b) >> 32); }>},
    {"v_mad_u32_u24",
     map_clamp<[](u32 a, u32 b, u32 c) { return static_cast<u32>(zext24(a) * zext24(b)) + c; },
               [](u32 a, u32 b, u32 c) { return saturate_u32(static_cast<i64>(zext24(a) * zext24(b) + c)); }>},
    {"v_mad_i32_i24", map_clamp<[](u32 a, u32 b, u32 c) { return static_cast<u32>(sext24(a) * sext24(b)) + c; },
                                [](u32 a, u32 b, i32 c) { return saturate_i32(sext24(a) * sext24(b) + c); }>},
    {"v_mad_u64_u32", &mad_64_32<u32, u64>},
    {"v_mad_i64_i32", &mad_64_32<i32, i64>},

    // Logic.
    {"v_and_b32", map<[](u32 a, u32 b) { return a & b; }>},
    {"v_or_b32", map<[](u32 a, u32 b) { return a | b; }>},
    {"v_xor_b32", map<[](u32 a, u32 b) { return a ^ b; }>},
    {"v_xnor_b32", map<[](u32 a, u32 b) { return ~(a ^ b); }>},
    {"v_not_b32", map<[](u32 a) { return ~a; }>},
    {"v_or3_b32", map<[](u32 a, u32 b, u32 c) { return a | b | c; }>},
    {"v_xor3_b32", map<[](u32 a, u32 b, u32 c) { return a ^ b ^ c; }>},
    {"v_and_or_b32", map<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>},
    {"v_lshl_or_b32", map<[](u32 a, u32 b, u32 c) { return a << (b & 31) | c; }>},
    {"v_bfi_b32", map<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>},

    // Shifts: the amount comes first.
    {"v_lshlrev_b32", map<[](u32 a, u32 b) { return b << (a & 31); }>},
    {"v_lshrrev_b32", map<[](u32 a, u32 b) { return (b >> (a & 31)); }>},
    {"v_ashrrev_i32", map<[](u32 a, i32 b) { return (b >> (a & 31)); }>},
    {"v_lshlrev_b64", map<[](u32 a, u64 b) { return b << (a & 63); }>},
    {"v_lshrrev_b64", map<[](u32 a, u64 b) { return (b >> (a & 63)); }>},
    {"v_ashrrev_i64", map<[](u32 a, i64 b) { return (b >> (a & 63)); }>},
    {"v_alignbit_b32", map<[](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> (c & 31)); }>},
    {"v_alignbyte_b32", map<[](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> (8 * (c & 3))); }>},

    // Bits and bytes.
    {"v_bfe_u32", map<[](u32 a, u32 b, u32 c) { return bit_field(a, b, c); }>},
    {"v_bfe_i32", map<[](u32 a, u32 b, u32 c) { return bit_field_signed(a, b, c); }>},
    {"v_bfm_b32", map<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>},
    {"v_bfrev_b32", map<[](u32 a) { return reverse_bits(a); }>},
    {"v_bcnt_u32_b32", map<[](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }>},
    {"v_clz_i32_u32", map<[](u32 a) { return a == 0 ? -1 : std::countl_zero(a); }>},
    {"v_ctz_i32_b32", map<[](u32 a) { return a == 0 ? -1 : std::countr_zero(a); }>},
    {"v_cls_i32", map<[](i32 a) { return count_sign_bits(a); }>},
    {"v_perm_b32", map<[](u32 a, u32 b, u32 c) { return permute_bytes(a, b, c); }>},
    {"v_lerp_u8", map<[](u32 a, u32 b, u32 c) {
       return lerp_byte<0>(a, b, c) | lerp_byte<8>(a, b, c) | lerp_byte<16>(a, b, c) | lerp_byte<24>(a, b, c);
     }>},
    {"v_mbcnt_lo_u32_b32", &mbcnt<false>},
    {"v_mbcnt_hi_u32_b32", &mbcnt<true>},

    // Minimum, maximum, median.
    {"v_min_u32", map<[](u32 a, u32 b) { return std::min(a, b); }>},
    {"v_max_u32", map<[](u32 a, u32 b) { return std::max(a, b); }>},
    {"v_min_i32", map<[](i32 a, i32 b) { return std::min(a, b); }>},
    {"v_max_i32", map<[](i32 a, i32 b) { return std::max(a, b); }>},
    {"v_min3_u32", map<[](u32 a, u32 b, u32 c) { return std::min({a, b, c}); }>},
    {"v_max3_u32", map<[](u32 a, u32 b, u32 c) { return std::max({a, b, c}); }>},
    {"v_med3_u32", map<[](u32 a, u32 b, u32 c) { return median(a, b, c); }>},
    {"v_min3_i32", map<[](i32 a, i32 b, i32 c) { return std::min({a, b, c}); }>},
    {"v_max3_i32", map<[](i32 a, i32 b, i32 c) { return std::max({a, b, c}); }>},
    {"v_med3_i32", map<[](i32 a, i32 b, i32 c) { return median(a, b, c); }>},
    {"v_maxmin_u32", map<[](u32 a, u32 b, u32 c) { return std::min(std::max(a, b), c); }>},
    {"v_minmax_u32", map<[](u32 a, u32 b, u32 c) { return std::max(std::min(a, b), c); }>},
    {"v_maxmin_i32", map<[](i32 a, i32 b, i32 c) { return std::min(std::max(a, b), c); }>},
    {"v_minmax_i32", map<[](i32 a, i32 b, i32 c) { return std::max(std::min(a, b), c); }>},
};

}  // namespace

std::span<const ExecEntry> integer_entries() { return kEntries; }

}  // namespace vgpu::valu
