// Sums of absolute differences.
#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"

namespace vgpu::valu {
namespace {

constexpr u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }
constexpr u32 byte(u64 v, unsigned n) { return static_cast<u32>(v >> (8 * n)) & 0xff; }

constexpr u32 sad_u8(u32 a, u32 b, u64 sum) {
  for (unsigned n = 0; n < 4; ++n) sum += distance(byte(a, n), byte(b, n));
  return static_cast<u32>(sum);
}
/// Masked: bytes of the reference (b) that are 0 do not count.
constexpr u32 msad_u8(u32 a, u32 b, u32 sum) {
  for (unsigned n = 0; n < 4; ++n) sum += byte(b, n) == 0 ? 0 : distance(byte(a, n), byte(b, n));
  return sum;
}
constexpr u32 sad_u16(u32 a, u32 b, u32 sum) {
  return sum + distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16);
}

/// Four windows of a, one byte apart, against b; sums of 16 bits.
template <bool kMasked>
constexpr u64 quad_sad(u64 a, u32 b, u64 sums) {
  u64 out = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const u32 window = static_cast<u32>(a >> (8 * n)), old = static_cast<u32>(sums >> (16 * n)) & 0xffff;
    out |= u64{(kMasked ? msad_u8(window, b, old) : sad_u8(window, b, old)) & 0xffff} << (16 * n);
  }
  return out;
}

/// v_mqsad_u32_u8: four sums of 32 bits in four registers.
void quad_sad_wide(Wave& w, const Inst& i) {
  const Source<u64> a(w, i, 0);
  const Source<u32> b(w, i, 1);
  Row out[4], buffer;
  for (unsigned n = 0; n < 4; ++n) {
    const u32* old = raw_row(w, i, 2, n, buffer);
    for (unsigned l = 0; l < w.lanes(); ++l) out[n].v[l] = msad_u8(static_cast<u32>(a[l] >> (8 * n)), b[l], old[l]);
  }
  for (unsigned n = 0; n < 4; ++n) blend(register_row(w, i.dst[0], n), out[n].v, w.exec());
}

constexpr ExecEntry kEntries[] = {
    {"v_sad_u8", map<[](u32 a, u32 b, u32 c) { return sad_u8(a, b, c); }>},
    {"v_sad_hi_u8", map<[](u32 a, u32 b, u32 c) { return (sad_u8(a, b, 0) << 16) + c; }>},
    {"v_sad_u16", map<[](u32 a, u32 b, u32 c) { return sad_u16(a, b, c); }>},
    {"v_sad_u32", map<[](u32 a, u32 b, u32 c) { return distance(a, b) + c; }>},
    {"v_msad_u8", map<[](u32 a, u32 b, u32 c) { return msad_u8(a, b, c); }>},
    {"v_qsad_pk_u16_u8", map<[](u64 a, u32 b, u64 c) { return quad_sad<false>(a, b, c); }>},
    {"v_mqsad_pk_u16_u8", map<[](u64 a, u32 b, u64 c) { return quad_sad<true>(a, b, c); }>},
    {"v_mqsad_u32_u8", &quad_sad_wide},
};

}  // namespace

std::span<const ExecEntry> sad_entries() { return kEntries; }

}  // namespace vgpu::valu
