// DS: LDS loads, stores, atomics, and the data exchanges between lanes that use the LDS hardware.
#include <array>
#include <bit>

#include "tools/vgpu/shader/atomic_ops.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/lane_memory.h"
#include "tools/vgpu/shader/narrow.h"

namespace vgpu {
namespace {

uint32_t offset16(const Inst& i) { return static_cast<uint32_t>(i.imm) & 0xffff; }

template <uint32_t kDwords>
void load(Wave& w, const Inst& i) {
  const uint32_t* address = operand_row(w, i.src[0]);
  const uint32_t offset = offset16(i);
  std::array<uint32_t*, kDwords> rows;
  for (uint32_t k = 0; k < kDwords; ++k) rows[k] = operand_row(w, i.dst[0], k);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t value[kDwords];
    load_lds<kDwords * 4>(w, address[lane] + offset, value);
    for (uint32_t k = 0; k < kDwords; ++k) rows[k][lane] = value[k];
  });
}

template <uint32_t kDwords>
void store(Wave& w, const Inst& i) {
  const uint32_t* address = operand_row(w, i.src[0]);
  const uint32_t offset = offset16(i);
  std::array<const uint32_t*, kDwords> rows;
  for (uint32_t k = 0; k < kDwords; ++k) rows[k] = operand_row(w, i.src[1], k);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t value[kDwords];
    for (uint32_t k = 0; k < kDwords; ++k) value[k] = rows[k][lane];
    store_lds<kDwords * 4>(w, address[lane] + offset, value);
  });
}

// Two elements at offset0 and offset1, both in units of an element (or of 64 elements).
template <uint32_t kDwords, uint32_t kStride>
void load2(Wave& w, const Inst& i) {
  const uint32_t* address = operand_row(w, i.src[0]);
  constexpr uint32_t kUnit = kDwords * 4 * kStride;
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t value[2 * kDwords];
    load_lds<kDwords * 4>(w, address[lane] + i.offset0() * kUnit, value);
    load_lds<kDwords * 4>(w, address[lane] + i.offset1() * kUnit, value + kDwords);
    for (uint32_t k = 0; k < 2 * kDwords; ++k) operand_row(w, i.dst[0], k)[lane] = value[k];
  });
}

template <uint32_t kDwords, uint32_t kStride>
void store2(Wave& w, const Inst& i) {
  const uint32_t* address = operand_row(w, i.src[0]);
  constexpr uint32_t kUnit = kDwords * 4 * kStride;
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    for (uint32_t part = 0; part < 2; ++part) {
      uint32_t value[kDwords];
      for (uint32_t k = 0; k < kDwords; ++k) value[k] = operand_row(w, i.src[1 + part], k)[lane];
      store_lds<kDwords * 4>(w, address[lane] + (part ? i.offset1() : i.offset0()) * kUnit, value);
    }
  });
}

template <uint32_t kDwords, uint32_t kStride>
void exchange2(Wave& w, const Inst& i) {
  const uint32_t* address = operand_row(w, i.src[0]);
  constexpr uint32_t kUnit = kDwords * 4 * kStride;
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t old[2 * kDwords];
    const uint32_t base = address[lane];
    for (uint32_t part = 0; part < 2; ++part) {
      const uint32_t at = base + (part ? i.offset1() : i.offset0()) * kUnit;
      uint32_t value[kDwords];
      for (uint32_t k = 0; k < kDwords; ++k) value[k] = operand_row(w, i.src[1 + part], k)[lane];
      load_lds<kDwords * 4>(w, at, old + part * kDwords);
      store_lds<kDwords * 4>(w, at, value);
    }
    for (uint32_t k = 0; k < 2 * kDwords; ++k) operand_row(w, i.dst[0], k)[lane] = old[k];
  });
}

template <Narrow kKind>
void load_narrow(Wave& w, const Inst& i) {
  const uint32_t* address = operand_row(w, i.src[0]);
  uint32_t* row = operand_row(w, i.dst[0]);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t raw = 0;
    load_lds<narrow_bytes(kKind)>(w, address[lane] + offset16(i), &raw);
    row[lane] = widen<kKind>(raw, row[lane]);
  });
}

template <uint32_t kBytes, bool kHigh>
void store_narrow(Wave& w, const Inst& i) {
  const uint32_t* address = operand_row(w, i.src[0]);
  const uint32_t* row = operand_row(w, i.src[1]);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    const uint32_t value = row[lane] >> (kHigh ? 16 : 0);
    store_lds<kBytes>(w, address[lane] + offset16(i), &value);
  });
}

template <class Operation>
void atomic(Wave& w, const Inst& i) {
  using T = typename Operation::T;
  constexpr uint32_t kDwords = sizeof(T) / 4;
  const uint32_t* address = operand_row(w, i.src[0]);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t words[4] = {};
    for (uint32_t k = 0; k < kDwords; ++k) words[k] = operand_row(w, i.src[1], k)[lane];
    if (i.src[2]) {
      for (uint32_t k = 0; k < kDwords; ++k) words[kDwords + k] = operand_row(w, i.src[2], k)[lane];
    }
    T data[2], old{};
    std::memcpy(data, words, sizeof data);
    atomic_lds<Operation>(w, address[lane] + offset16(i), data, old);
    if (!i.dst[0]) return;
    std::memcpy(words, &old, sizeof old);
    for (uint32_t k = 0; k < kDwords; ++k) operand_row(w, i.dst[0], k)[lane] = words[k];
  });
}

// Memory to memory: the second place is found from the first one's address and the offset.
uint32_t second_place(uint32_t address, const Inst& i) {
  const uint32_t offset = offset16(i);
  const int32_t dwords =
      offset & 0x8000 ? static_cast<int32_t>(address) >> 17 : static_cast<int32_t>(offset << 17) >> 17;
  return address + static_cast<uint32_t>(dwords) * 4;
}

template <class Operation>
void atomic_from_lds(Wave& w, const Inst& i) {
  using T = typename Operation::T;
  const uint32_t* address = operand_row(w, i.src[0]);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    T data{}, old{};
    load_lds<sizeof(T)>(w, second_place(address[lane], i), &data);
    atomic_lds<Operation>(w, address[lane], &data, old);
  });
}

// Each dword whose new value has bit 31 set is replaced, without that bit.
void conditional_exchange(Wave& w, const Inst& i) {
  const uint32_t* address = operand_row(w, i.src[0]);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    const uint32_t first = (address[lane] + offset16(i)) & 0xfff8;
    uint32_t old[2];
    for (uint32_t k = 0; k < 2; ++k) {
      const uint32_t value = operand_row(w, i.src[1], k)[lane], kept = value & 0x7fffffff;
      load_lds<4>(w, first + 4 * k, &old[k]);
      if (value != kept) store_lds<4>(w, first + 4 * k, &kept);
    }
    for (uint32_t k = 0; k < 2; ++k) operand_row(w, i.dst[0], k)[lane] = old[k];
  });
}

// One counter for the whole wave: every active lane gets the old value.
template <bool kAppend>
void count(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  if (exec == 0) return;
  const uint32_t lanes = static_cast<uint32_t>(std::popcount(exec));
  const uint32_t at = (w.s[kM0] & 0xffff) + offset16(i);
  uint32_t old;
  load_lds<4>(w, at, &old);
  const uint32_t next = kAppend ? old + lanes : old - lanes;
  store_lds<4>(w, at, &next);
  uint32_t* row = operand_row(w, i.dst[0]);
  for_lanes(w, exec, [&](uint32_t lane) { row[lane] = old; });
}

template <bool kLoad>
void addtid(Wave& w, const Inst& i) {
  const uint32_t base = (w.s[kM0] & 0xffff) + offset16(i);
  uint32_t* row = operand_row(w, kLoad ? i.dst[0] : i.src[1]);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    if (kLoad)
      load_lds<4>(w, base + lane * 4, row + lane);
    else
      store_lds<4>(w, base + lane * 4, row + lane);
  });
}

/// gfx9 exchanges over the whole wave, gfx11 within 32 lanes.
uint32_t exchange_lane(const Wave& w, uint32_t address, uint32_t lane) {
  return w.group->dispatch->target->gfx11 ? (address / 4 & 31) | (lane & 32) : address / 4 & 63;
}

void bpermute(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  const uint32_t* address = operand_row(w, i.src[0]);
  const uint32_t* data = operand_row(w, i.src[1]);
  std::array<uint32_t, 64> result{};
  for_lanes(w, exec, [&](uint32_t lane) {
    const uint32_t from = exchange_lane(w, address[lane] + offset16(i), lane);
    result[lane] = exec >> from & 1 ? data[from] : 0;
  });
  uint32_t* row = operand_row(w, i.dst[0]);
  for_lanes(w, exec, [&](uint32_t lane) { row[lane] = result[lane]; });
}

void permute(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  const uint32_t* address = operand_row(w, i.src[0]);
  const uint32_t* data = operand_row(w, i.src[1]);
  std::array<uint32_t, 64> result{};
  for_lanes(w, exec, [&](uint32_t lane) { result[exchange_lane(w, address[lane] + offset16(i), lane)] = data[lane]; });
  uint32_t* row = operand_row(w, i.dst[0]);
  for_lanes(w, exec, [&](uint32_t lane) { row[lane] = result[lane]; });
}

uint32_t swizzle_source(uint32_t lane, uint32_t control) {
  const uint32_t in_half = lane & 31, half = lane & 32;
  if (control >= 0xe000) {  // FFT order
    const uint32_t mask = control & 31;
    uint32_t reversed = 0;
    for (int bit = 0; bit < 5; ++bit) reversed |= (in_half >> bit & 1) << (4 - bit);
    return (reversed >> std::popcount(mask)) | (in_half & mask) | half;
  }
  if (control >= 0xc000) {  // rotate
    const uint32_t mask = control & 31, by = control >> 5 & 31;
    const uint32_t moved = control & 0x400 ? in_half - by : in_half + by;
    return (in_half & mask) | (moved & ~mask & 31) | half;
  }
  if (control >= 0x8000) return (lane & ~3u) | (control >> (2 * (lane & 3)) & 3);
  return (((in_half & control & 31) | (control >> 5 & 31)) ^ (control >> 10 & 31)) | half;
}

void swizzle(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  const uint32_t* data = operand_row(w, i.src[0] ? i.src[0] : i.src[1]);
  std::array<uint32_t, 64> result{};
  for_lanes(w, exec, [&](uint32_t lane) {
    const uint32_t from = swizzle_source(lane, offset16(i));
    result[lane] = exec >> from & 1 ? data[from] : 0;
  });
  uint32_t* row = operand_row(w, i.dst[0]);
  for_lanes(w, exec, [&](uint32_t lane) { row[lane] = result[lane]; });
}

void nothing(Wave&, const Inst&) {}

namespace at = atomics;
using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

#define WITH_RETURN(name, width, fn) \
  {"ds_" name "_" width, atomic<fn>}, { "ds_" name "_rtn_" width, atomic<fn> }

#define FROM_LDS(name, kind, fn) \
  {"ds_" name "_src2_" kind "32", atomic_from_lds<fn<u32>>}, { "ds_" name "_src2_" kind "64", atomic_from_lds<fn<u64>> }

constexpr ExecEntry kEntries[] = {
    {"ds_load_b32", load<1>},
    {"ds_load_b64", load<2>},
    {"ds_load_b96", load<3>},
    {"ds_load_b128", load<4>},
    {"ds_store_b32", store<1>},
    {"ds_store_b64", store<2>},
    {"ds_store_b96", store<3>},
    {"ds_store_b128", store<4>},
    {"ds_load_2addr_b32", load2<1, 1>},
    {"ds_load_2addr_b64", load2<2, 1>},
    {"ds_load_2addr_stride64_b32", load2<1, 64>},
    {"ds_load_2addr_stride64_b64", load2<2, 64>},
    {"ds_store_2addr_b32", store2<1, 1>},
    {"ds_store_2addr_b64", store2<2, 1>},
    {"ds_store_2addr_stride64_b32", store2<1, 64>},
    {"ds_store_2addr_stride64_b64", store2<2, 64>},
    {"ds_storexchg_2addr_rtn_b32", exchange2<1, 1>},
    {"ds_storexchg_2addr_rtn_b64", exchange2<2, 1>},
    {"ds_storexchg_2addr_stride64_rtn_b32", exchange2<1, 64>},
    {"ds_storexchg_2addr_stride64_rtn_b64", exchange2<2, 64>},
    {"ds_load_u8", load_narrow<Narrow::kU8>},
    {"ds_load_i8", load_narrow<Narrow::kI8>},
    {"ds_load_u16", load_narrow<Narrow::kU16>},
    {"ds_load_i16", load_narrow<Narrow::kI16>},
    {"ds_load_u8_d16", load_narrow<Narrow::kD16U8>},
    {"ds_load_u8_d16_hi", load_narrow<Narrow::kD16HiU8>},
    {"ds_load_i8_d16", load_narrow<Narrow::kD16I8>},
    {"ds_load_i8_d16_hi", load_narrow<Narrow::kD16HiI8>},
    {"ds_load_u16_d16", load_narrow<Narrow::kD16B16>},
    {"ds_load_u16_d16_hi", load_narrow<Narrow::kD16HiB16>},
    {"ds_store_b8", store_narrow<1, false>},
    {"ds_store_b16", store_narrow<2, false>},
    {"ds_store_b8_d16_hi", store_narrow<1, true>},
    {"ds_store_b16_d16_hi", store_narrow<2, true>},
    WITH_RETURN("add", "u32", at::Add<u32>),
    WITH_RETURN("add", "u64", at::Add<u64>),
    WITH_RETURN("sub", "u32", at::Sub<u32>),
    WITH_RETURN("sub", "u64", at::Sub<u64>),
    WITH_RETURN("rsub", "u32", at::ReverseSub<u32>),
    WITH_RETURN("rsub", "u64", at::ReverseSub<u64>),
    WITH_RETURN("inc", "u32", at::Increment<u32>),
    WITH_RETURN("inc", "u64", at::Increment<u64>),
    WITH_RETURN("dec", "u32", at::Decrement<u32>),
    WITH_RETURN("dec", "u64", at::Decrement<u64>),
    WITH_RETURN("min", "i32", at::Min<i32>),
    WITH_RETURN("min", "i64", at::Min<i64>),
    WITH_RETURN("min", "u32", at::Min<u32>),
    WITH_RETURN("min", "u64", at::Min<u64>),
    WITH_RETURN("max", "i32", at::Max<i32>),
    WITH_RETURN("max", "i64", at::Max<i64>),
    WITH_RETURN("max", "u32", at::Max<u32>),
    WITH_RETURN("max", "u64", at::Max<u64>),
    WITH_RETURN("and", "b32", at::And<u32>),
    WITH_RETURN("and", "b64", at::And<u64>),
    WITH_RETURN("or", "b32", at::Or<u32>),
    WITH_RETURN("or", "b64", at::Or<u64>),
    WITH_RETURN("xor", "b32", at::Xor<u32>),
    WITH_RETURN("xor", "b64", at::Xor<u64>),
    WITH_RETURN("mskor", "b32", at::MaskOr<u32>),
    WITH_RETURN("mskor", "b64", at::MaskOr<u64>),
    WITH_RETURN("add", "f32", at::FloatAdd<u32>),
    WITH_RETURN("add", "f64", at::FloatAdd<u64>),
    WITH_RETURN("min", "f32", at::FloatMin<u32>),
    WITH_RETURN("min", "f64", at::FloatMin<u64>),
    WITH_RETURN("max", "f32", at::FloatMax<u32>),
    WITH_RETURN("max", "f64", at::FloatMax<u64>),
    WITH_RETURN("cmpst", "b32", at::CompareSwapReversed<u32>),
    WITH_RETURN("cmpst", "b64", at::CompareSwapReversed<u64>),
    WITH_RETURN("cmpst", "f32", at::FloatCompareSwapReversed<u32>),
    WITH_RETURN("cmpst", "f64", at::FloatCompareSwapReversed<u64>),
    WITH_RETURN("cmpstore", "b32", at::CompareSwap<u32>),
    WITH_RETURN("cmpstore", "b64", at::CompareSwap<u64>),
    WITH_RETURN("cmpstore", "f32", at::FloatCompareSwap<u32>),
    WITH_RETURN("cmpstore", "f64", at::FloatCompareSwap<u64>),
    {"ds_pk_add_f16", atomic<at::PackedAddF16>},
    {"ds_pk_add_rtn_f16", atomic<at::PackedAddF16>},
    {"ds_pk_add_bf16", atomic<at::PackedAddBf16>},
    {"ds_pk_add_rtn_bf16", atomic<at::PackedAddBf16>},
    {"ds_storexchg_rtn_b32", atomic<at::Swap<u32>>},
    {"ds_storexchg_rtn_b64", atomic<at::Swap<u64>>},
    {"ds_wrap_rtn_b32", atomic<at::Wrap<u32>>},
    {"ds_condxchg32_rtn_b64", conditional_exchange},
    {"ds_store_src2_b32", atomic_from_lds<at::Swap<u32>>},
    {"ds_store_src2_b64", atomic_from_lds<at::Swap<u64>>},
    FROM_LDS("add", "u", at::Add),
    FROM_LDS("sub", "u", at::Sub),
    FROM_LDS("rsub", "u", at::ReverseSub),
    FROM_LDS("inc", "u", at::Increment),
    FROM_LDS("dec", "u", at::Decrement),
    FROM_LDS("min", "u", at::Min),
    FROM_LDS("max", "u", at::Max),
    FROM_LDS("and", "b", at::And),
    FROM_LDS("or", "b", at::Or),
    FROM_LDS("xor", "b", at::Xor),
    FROM_LDS("min", "f", at::FloatMin),
    FROM_LDS("max", "f", at::FloatMax),
    {"ds_add_src2_f32", atomic_from_lds<at::FloatAdd<u32>>},
    {"ds_min_src2_i32", atomic_from_lds<at::Min<i32>>},
    {"ds_min_src2_i64", atomic_from_lds<at::Min<i64>>},
    {"ds_max_src2_i32", atomic_from_lds<at::Max<i32>>},
    {"ds_max_src2_i64", atomic_from_lds<at::Max<i64>>},
    {"ds_append", count<true>},
    {"ds_consume", count<false>},
    {"ds_load_addtid_b32", addtid<true>},
    {"ds_store_addtid_b32", addtid<false>},
    {"ds_bpermute_b32", bpermute},
    {"ds_permute_b32", permute},
    {"ds_swizzle_b32", swizzle},
    {"ds_nop", nothing},
};

#undef WITH_RETURN
#undef FROM_LDS

}  // namespace

std::span<const ExecEntry> ds_exec_entries() { return kEntries; }

}  // namespace vgpu
