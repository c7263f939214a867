// 16-bit integer arithmetic (one value per register or register half; the packed forms are in packed.cpp).
#include <algorithm>

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"

namespace vgpu::valu {
namespace {

constexpr u16 saturate_u16(i64 value) { return static_cast<u16>(std::clamp<i64>(value, 0, 0xffff)); }
constexpr i16 saturate_i16(i64 value) { return static_cast<i16>(std::clamp<i64>(value, -0x8000, 0x7fff)); }
constexpr i32 saturate_i32(i64 value) { return static_cast<i32>(std::clamp<i64>(value, INT32_MIN, INT32_MAX)); }
constexpr u32 saturate_u32(i64 value) { return static_cast<u32>(std::clamp<i64>(value, 0, UINT32_MAX)); }

template <class T>
constexpr T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

constexpr u16 low(i64 value) { return static_cast<u16>(value); }

constexpr ExecEntry kEntries[] = {
    {"v_add_nc_u16",
     map_clamp<[](u16 a, u16 b) { return low(a + b); }, [](u16 a, u16 b) { return saturate_u16(a + b); }>},
    {"v_sub_nc_u16",
     map_clamp<[](u16 a, u16 b) { return low(a - b); }, [](u16 a, u16 b) { return saturate_u16(a - b); }>},
    {"v_subrev_u16",
     map_clamp<[](u16 a, u16 b) { return low(b - a); }, [](u16 a, u16 b) { return saturate_u16(b - a); }>},
    {"v_add_nc_i16",
     map_clamp<[](i16 a, i16 b) { return low(a + b); }, [](i16 a, i16 b) { return saturate_i16(a + b); }>},
    {"v_sub_nc_i16",
     map_clamp<[](i16 a, i16 b) { return low(a - b); }, [](i16 a, i16 b) { return saturate_i16(a - b); }>},
    {"v_mul_lo_u16", map<[](u16 a, u16 b) { return low(i64{a} * b); }>},
    {"v_mad_u16", map_clamp<[](u16 a, u16 b, u16 c) { return low(i64{a} * b + c); },
                            [](u16 a, u16 b, u16 c) { return saturate_u16(i64{a} * b + c); }>},
    {"v_mad_i16", map_clamp<[](i16 a, i16 b, i16 c) { return low(i64{a} * b + c); },
                            [](i16 a, i16 b, i16 c) { return saturate_i16(i64{a} * b + c); }>},
    {"v_mad_legacy_u16", map_clamp<[](u16 a, u16 b, u16 c) { return low(i64{a} * b + c); },
                                   [](u16 a, u16 b, u16 c) { return saturate_u16(i64{a} * b + c); }>},
    {"v_mad_legacy_i16", map_clamp<[](i16 a, i16 b, i16 c) { return low(i64{a} * b + c); },
                                   [](i16 a, i16 b, i16 c) { return saturate_i16(i64{a} * b + c); }>},
    {"v_mad_u32_u16", map_clamp<[](u16 a, u16 b, u32 c) { return u32{a} * b + c; },
                                [](u16 a, u16 b, u32 c) { return saturate_u32(i64{a} * b + c); }>},
    {"v_mad_i32_i16", map_clamp<[](i16 a, i16 b, u32 c) { return static_cast<u32>(i32{a} * b) + c; },
                                [](i16 a, i16 b, i32 c) { return saturate_i32(i64{a} * b + c); }>},

    {"v_and_b16", map<[](u16 a, u16 b) { return low(a & b); }>},
    {"v_or_b16", map<[](u16 a, u16 b) { return low(a | b); }>},
    {"v_xor_b16", map<[](u16 a, u16 b) { return low(a ^ b); }>},
    {"v_not_b16", map<[](u16 a) { return low(~a); }>},
    {"v_lshlrev_b16", map<[](u16 a, u16 b) { return low(b << (a & 15)); }>},
    {"v_lshrrev_b16", map<[](u16 a, u16 b) { return low(b >> (a & 15)); }>},
    {"v_ashrrev_i16", map<[](u16 a, i16 b) { return low(b >> (a & 15)); }>},

    {"v_min_u16", map<[](u16 a, u16 b) { return std::min(a, b); }>},
    {"v_max_u16", map<[](u16 a, u16 b) { return std::max(a, b); }>},
    {"v_min_i16", map<[](i16 a, i16 b) { return std::min(a, b); }>},
    {"v_max_i16", map<[](i16 a, i16 b) { return std::max(a, b); }>},
    {"v_min3_u16", map<[](u16 a, u16 b, u16 c) { return std::min({a, b, c}); }>},
    {"v_max3_u16", map<[](u16 a, u16 b, u16 c) { return std::max({a, b, c}); }>},
    {"v_med3_u16", map<[](u16 a, u16 b, u16 c) { return median(a, b, c); }>},
    {"v_min3_i16", map<[](i16 a, i16 b, i16 c) { return std::min({a, b, c}); }>},
    {"v_max3_i16", map<[](i16 a, i16 b, i16 c) { return std::max({a, b, c}); }>},
    {"v_med3_i16", map<[](i16 a, i16 b, i16 c) { return median(a, b, c); }>},

    {"v_cvt_i32_i16", map<[](i16 a) { return i32{a}; }>},
    {"v_cvt_u32_u16", map<[](u16 a) { return u32{a}; }>},
    {"v_sat_pk_u8_i16", map<[](u32 a) {
       const i64 lo = static_cast<i16>(a), hi = static_cast<i16>(a >> 16);
       return low(std::clamp<i64>(lo, 0, 255) | std::clamp<i64>(hi, 0, 255) << 8);
     }>},
    {"v_cvt_pk_u16_u32", map<[](u32 a, u32 b) { return saturate_u16(a) | u32{saturate_u16(b)} << 16; }>},
    {"v_cvt_pk_i16_i32", map<[](i32 a, i32 b) {
       return static_cast<u16>(saturate_i16(a)) | static_cast<u32>(static_cast<u16>(saturate_i16(b))) << 16;
     }>},
};

}  // namespace

std::span<const ExecEntry> integer16_entries() { return kEntries; }

}  // namespace vgpu::valu
