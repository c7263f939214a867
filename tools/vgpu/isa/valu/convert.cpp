// Conversions between number formats.
#include <algorithm>

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/math.h"

namespace vgpu::valu {
namespace {

/// Truncates to an integer of type To; what does not fit saturates, NaN is 0.
template <class To, class From>
inline To to_integer(From value) {
  constexpr double kMin = std::numeric_limits<To>::min(), kMax = std::numeric_limits<To>::max();
  const double v = value;
  if (v != v) return 0;
  if (v <= kMin) return std::numeric_limits<To>::min();
  if (v >= kMax) return std::numeric_limits<To>::max();
  return static_cast<To>(v);
}

template <class To>
inline To to_integer(Half value) {
  return to_integer<To>(to_float(value));
}

inline u32 pack(u16 low, u16 high) { return low | u32{high} << 16; }

/// [-1, 1] or [0, 1] to the integer's whole range, rounded to nearest even.
inline i16 snorm(float v) {
  return to_integer<i16>(__builtin_roundeven(std::clamp(v != v ? 0.0 : double{v}, -1.0, 1.0) * 32767.0));
}
inline u16 unorm(float v) {
  return to_integer<u16>(__builtin_roundeven(std::clamp(v != v ? 0.0 : double{v}, 0.0, 1.0) * 65535.0));
}

/// Four-bit signed number in sixteenths.
inline float off_i4(u32 a) { return static_cast<float>(static_cast<i32>(a << 28) >> 28) * 0.0625f; }

inline u32 packed_u8(float value, u32 index, u32 old) {
  const unsigned shift = 8 * (index & 3);
  return (old & ~(0xffu << shift)) | u32{to_integer<u8>(value)} << shift;
}

template <unsigned kShift>
constexpr auto kByte = [](u32 a) { return static_cast<float>(a >> kShift & 0xff); };

/// v_cvt_pkaccum_u8_f32 keeps the other bytes of its destination.
void pack_u8_into(Wave& w, const Inst& i) {
  const Source<float> value(w, i, 0);
  const Source<u32> index(w, i, 1);
  const Accumulator<u32> old(w, i);
  Result<u32> out;
  for (unsigned l = 0; l < w.lanes(); ++l) out.set(l, packed_u8(value[l], index[l], old[l]));
  out.write(w, i);
}

constexpr ExecEntry kEntries[] = {
    {"v_cvt_f32_i32", map<[](i32 a) { return static_cast<float>(a); }>},
    {"v_cvt_f32_u32", map<[](u32 a) { return static_cast<float>(a); }>},
    {"v_cvt_f32_f16", map<[](Half a) { return to_float(a); }>},
    {"v_cvt_f32_f64", map<[](double a) { return static_cast<float>(a); }>},
    {"v_cvt_f32_ubyte0", map<kByte<0>>},
    {"v_cvt_f32_ubyte1", map<kByte<8>>},
    {"v_cvt_f32_ubyte2", map<kByte<16>>},
    {"v_cvt_f32_ubyte3", map<kByte<24>>},
    {"v_cvt_off_f32_i4", map<[](u32 a) { return off_i4(a); }>},
    {"v_cvt_f64_i32", map<[](i32 a) { return static_cast<double>(a); }>},
    {"v_cvt_f64_u32", map<[](u32 a) { return static_cast<double>(a); }>},
    {"v_cvt_f64_f32", map<[](float a) { return double{a}; }>},
    {"v_cvt_f16_f32", map<[](float a) { return to_half(a); }>},
    {"v_cvt_f16_i16", map<[](i16 a) { return to_half(static_cast<float>(a)); }>},
    {"v_cvt_f16_u16", map<[](u16 a) { return to_half(static_cast<float>(a)); }>},

    {"v_cvt_i32_f32", map<[](float a) { return to_integer<i32>(a); }>},
    {"v_cvt_u32_f32", map<[](float a) { return to_integer<u32>(a); }>},
    {"v_cvt_i32_f64", map<[](double a) { return to_integer<i32>(a); }>},
    {"v_cvt_u32_f64", map<[](double a) { return to_integer<u32>(a); }>},
    {"v_cvt_i16_f16", map<[](Half a) { return to_integer<i16>(a); }>},
    {"v_cvt_u16_f16", map<[](Half a) { return to_integer<u16>(a); }>},
    {"v_cvt_nearest_i32_f32", map<[](float a) { return to_integer<i32>(std::floor(double{a} + 0.5)); }>},
    {"v_cvt_floor_i32_f32", map<[](float a) { return to_integer<i32>(std::floor(a)); }>},

    {"v_cvt_pk_rtz_f16_f32",
     map<[](float a, float b) { return pack(to_half_toward_zero(a).bits, to_half_toward_zero(b).bits); }>},
    {"v_cvt_pk_norm_i16_f32",
     map<[](float a, float b) { return pack(static_cast<u16>(snorm(a)), static_cast<u16>(snorm(b))); }>},
    {"v_cvt_pk_norm_u16_f32", map<[](float a, float b) { return pack(unorm(a), unorm(b)); }>},
    {"v_cvt_pk_norm_i16_f16", map<[](Half a, Half b) {
       return pack(static_cast<u16>(snorm(to_float(a))), static_cast<u16>(snorm(to_float(b))));
     }>},
    {"v_cvt_pk_norm_u16_f16", map<[](Half a, Half b) { return pack(unorm(to_float(a)), unorm(to_float(b))); }>},
    {"v_cvt_norm_i16_f16", map<[](Half a) { return snorm(to_float(a)); }>},
    {"v_cvt_norm_u16_f16", map<[](Half a) { return unorm(to_float(a)); }>},
    {"v_cvt_pk_i16_f32", map<[](float a, float b) {
       return pack(static_cast<u16>(to_integer<i16>(a)), static_cast<u16>(to_integer<i16>(b)));
     }>},
    {"v_cvt_pk_u16_f32", map<[](float a, float b) { return pack(to_integer<u16>(a), to_integer<u16>(b)); }>},
    {"v_cvt_pkaccum_u8_f32", &pack_u8_into},
    {"v_cvt_pk_u8_f32", map<[](float a, u32 b, u32 c) { return packed_u8(a, b, c); }>},
};

}  // namespace

std::span<const ExecEntry> convert_entries() { return kEntries; }

}  // namespace vgpu::valu
