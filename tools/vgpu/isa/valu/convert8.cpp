// Conversions between float and the 8-bit floats of gfx942. A source byte or word is chosen by SDWA, a result's by
// op_sel; the rest of the destination register is kept.
#include "tools/vgpu/isa/valu/float8.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/matrix.h"

namespace vgpu::valu {
namespace {

/// The two bytes of the low word, as a pair of floats.
template <class Format>
void unpack(Wave& w, const Inst& i) {
  const Source<u32> a(w, i, 0);
  Row lo, hi;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    lo.v[l] = std::bit_cast<u32>(Format::to_float(static_cast<u8>(a[l])));
    hi.v[l] = std::bit_cast<u32>(Format::to_float(static_cast<u8>(a[l] >> 8)));
  }
  if (i.clamp || i.omod) {
    finish_f32(w, i, lo);
    finish_f32(w, i, hi);
  }
  write64(w, i, lo, hi, write_mask(w, i));
}

/// MODE.FP16_OVFL: what is too large becomes the largest number instead of NaN.
bool saturates(const Wave& w) { return w.mode >> 23 & 1; }

template <class Format>
void pack(Wave& w, const Inst& i) {
  const Source<float> a(w, i, 0), b(w, i, 1);
  const Accumulator<u32> old(w, i);
  const unsigned shift = i.dst_hi ? 16 : 0;
  Result<u32> out;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const u32 word = Format::from_float(a[l], saturates(w)) | u32{Format::from_float(b[l], saturates(w))} << 8;
    out.set(l, (old[l] & ~(0xffffu << shift)) | word << shift);
  }
  out.write(w, i);
}

/// Stochastic rounding: the upper bits of source 1 are added below the last bit that is kept.
template <class Format>
void pack_with_noise(Wave& w, const Inst& i) {
  const Source<float> a(w, i, 0);
  const Source<u32> noise(w, i, 1);
  const Accumulator<u32> old(w, i);
  const unsigned shift = (i.dst_hi ? 16 : 0) + (i.src[2].hi ? 8 : 0);
  Result<u32> out;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const u32 added = noise[l] >> (9 + Format::kMantissa);
    out.set(l, (old[l] & ~(0xffu << shift)) | u32{Format::from_float(a[l], saturates(w), &added)} << shift);
  }
  out.write(w, i);
}

constexpr ExecEntry kEntries[] = {
    {"v_cvt_f32_fp8", map<[](u32 a) { return Fp8::to_float(static_cast<u8>(a)); }>},
    {"v_cvt_f32_bf8", map<[](u32 a) { return Bf8::to_float(static_cast<u8>(a)); }>},
    {"v_cvt_pk_f32_fp8", &unpack<Fp8>},
    {"v_cvt_pk_f32_bf8", &unpack<Bf8>},
    {"v_cvt_pk_fp8_f32", &pack<Fp8>},
    {"v_cvt_pk_bf8_f32", &pack<Bf8>},
    {"v_cvt_sr_fp8_f32", &pack_with_noise<Fp8>},
    {"v_cvt_sr_bf8_f32", &pack_with_noise<Bf8>},
};

}  // namespace

std::span<const ExecEntry> convert8_entries() { return kEntries; }

}  // namespace vgpu::valu
