// FLAT, GLOBAL and SCRATCH: loads, stores and atomics per lane.
#include "tools/vgpu/shader/atomic_ops.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/lane_memory.h"
#include "tools/vgpu/shader/narrow.h"
#include "tools/vgpu/shader/scalar_operand.h"

namespace vgpu {
namespace {

constexpr Format kFlat = Format::kFlat, kGlobal = Format::kGlobal, kScratch = Format::kScratch;

struct Addresses {
  alignas(64) uint64_t of[64];
};

// Where each lane's access starts: a 64-bit address for flat and global, a byte offset for scratch.
template <Format kSegment>
void compute_addresses(Wave& w, const Inst& i, Addresses& a) {
  const Operand& vaddr = i.src[0];
  const Operand& saddr = i.src[2];
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(i.imm));
  if constexpr (kSegment == kScratch) {
    const uint32_t base = (saddr ? scalar<uint32_t>(w, saddr) : 0) + static_cast<uint32_t>(i.imm);
    const uint32_t* v = vaddr ? operand_row(w, vaddr) : nullptr;
    for (int lane = 0; lane < 64; ++lane) a.of[lane] = base + (v ? v[lane] : 0);
  } else if (saddr) {
    const uint64_t base = scalar<uint64_t>(w, saddr) + offset;
    const uint32_t* v = operand_row(w, vaddr);
    for (int lane = 0; lane < 64; ++lane) a.of[lane] = base + v[lane];
  } else {
    const uint32_t* low = operand_row(w, vaddr);
    const uint32_t* high = operand_row(w, vaddr, 1);
    for (int lane = 0; lane < 64; ++lane) a.of[lane] = (uint64_t{high[lane]} << 32 | low[lane]) + offset;
  }
}

template <Format kSegment, uint32_t kSize>
bool load_lane(Wave& w, const Inst& i, uint32_t lane, uint64_t address, void* out) {
  if constexpr (kSegment == kGlobal) return load_global<kSize>(w, i, lane, address, out);
  if constexpr (kSegment == kScratch) return load_scratch(w, lane, static_cast<uint32_t>(address), out, kSize);
  switch (flat_space(w, address)) {
    case Space::kGlobal: return load_global<kSize>(w, i, lane, address, out);
    case Space::kScratch: return load_scratch(w, lane, static_cast<uint32_t>(address), out, kSize);
    case Space::kLds: break;
  }
  if (address + kSize > w.lds_bytes) {
    raise_outside_lds(w, lane, address);
    return false;
  }
  std::memcpy(out, w.lds + address, kSize);
  return true;
}

template <Format kSegment, uint32_t kSize>
bool store_lane(Wave& w, const Inst& i, uint32_t lane, uint64_t address, const void* data) {
  if constexpr (kSegment == kGlobal) return store_global<kSize>(w, i, lane, address, data);
  if constexpr (kSegment == kScratch) return store_scratch(w, lane, static_cast<uint32_t>(address), data, kSize);
  switch (flat_space(w, address)) {
    case Space::kGlobal: return store_global<kSize>(w, i, lane, address, data);
    case Space::kScratch: return store_scratch(w, lane, static_cast<uint32_t>(address), data, kSize);
    case Space::kLds: break;
  }
  if (address + kSize > w.lds_bytes) {
    raise_outside_lds(w, lane, address);
    return false;
  }
  std::memcpy(w.lds + address, data, kSize);
  return true;
}

/// When the active lanes' accesses follow each other in memory (consecutive lanes, kSize bytes each), the
/// host bytes of lane 0's place; else null. The common case of global memory, and worth 10 times the speed.
/// Flat addresses in the apertures of LDS and scratch are mapped nowhere, so they never get here.
template <uint32_t kSize>
std::byte* coalesced(Wave& w, const Addresses& a, uint64_t exec, Access access) {
  if (w.memory->caches() != nullptr) return nullptr;
  const int first = __builtin_ctzll(exec), last = 63 - __builtin_clzll(exec);
  const uint64_t base = a.of[first] - static_cast<uint64_t>(first) * kSize;
  uint64_t different = 0;
  if (exec == ~0ull) {
    for (uint32_t lane = 0; lane < 64; ++lane) different |= a.of[lane] ^ (base + lane * kSize);
  } else {
    for (uint32_t lane = 0; lane < 64; ++lane) {
      different |= (a.of[lane] ^ (base + lane * kSize)) & (0 - (exec >> lane & 1));
    }
  }
  if (different != 0) return nullptr;
  MemoryFault fault;
  std::byte* bytes = w.memory->translate(a.of[first], static_cast<uint32_t>(last - first + 1) * kSize, access, fault);
  return bytes ? bytes - first * static_cast<int>(kSize) : nullptr;
}

/// The same for scratch: all active lanes at one aligned offset, so their dwords are neighbours.
template <Format kSegment, uint32_t kDwords>
bool uniform_scratch(Wave& w, const Addresses& a, uint64_t exec, Access access, std::byte** rows) {
  const int first = __builtin_ctzll(exec), last = 63 - __builtin_clzll(exec);
  uint64_t offset = a.of[first];
  uint64_t different = offset & 3;
  for (uint32_t lane = 0; lane < 64; ++lane) different |= (a.of[lane] ^ offset) & (0 - (exec >> lane & 1));
  if (different != 0) return false;
  if (kSegment == kFlat && flat_space(w, offset) != Space::kScratch) return false;
  const uint32_t lanes = w.lanes();
  if (offset + kDwords * 4 > w.group->dispatch->dispatch.scratch_wave_bytes / lanes) return false;
  const uint64_t base = scratch_base(w) + offset * lanes;
  for (uint32_t k = 0; k < kDwords; ++k) {
    MemoryFault fault;
    std::byte* bytes =
        w.memory->translate(base + (uint64_t{k} * lanes + first) * 4, (last - first + 1) * 4, access, fault);
    if (!bytes) return false;
    rows[k] = bytes - first * 4;
  }
  return true;
}

template <Format kSegment, uint32_t kDwords>
void load_dwords(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  if (exec == 0) return;
  Addresses a;
  compute_addresses<kSegment>(w, i, a);
  if constexpr (kSegment != kScratch) {
    if (const std::byte* from = coalesced<kDwords * 4>(w, a, exec, Access::kRead)) {
      for (uint32_t k = 0; k < kDwords; ++k)
        masked_copy_in(operand_row(w, i.dst[0], k), from + k * 4, exec, kDwords * 4);
      return;
    }
  }
  if constexpr (kSegment != kGlobal) {
    std::byte* rows[kDwords];
    if (uniform_scratch<kSegment, kDwords>(w, a, exec, Access::kRead, rows)) {
      for (uint32_t k = 0; k < kDwords; ++k) masked_copy_in(operand_row(w, i.dst[0], k), rows[k], exec, 4);
      return;
    }
  }
  for_lanes(w, exec, [&](uint32_t lane) {
    uint32_t value[kDwords];
    if (!load_lane<kSegment, kDwords * 4>(w, i, lane, a.of[lane], value)) return;
    for (uint32_t k = 0; k < kDwords; ++k) operand_row(w, i.dst[0], k)[lane] = value[k];
  });
}

template <Format kSegment, uint32_t kDwords>
void store_dwords(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  if (exec == 0) return;
  Addresses a;
  compute_addresses<kSegment>(w, i, a);
  if constexpr (kSegment != kScratch) {
    if (std::byte* to = coalesced<kDwords * 4>(w, a, exec, Access::kWrite)) {
      for (uint32_t k = 0; k < kDwords; ++k)
        masked_copy_out(to + k * 4, operand_row(w, i.src[1], k), exec, kDwords * 4);
      return;
    }
  }
  if constexpr (kSegment != kGlobal) {
    std::byte* rows[kDwords];
    if (uniform_scratch<kSegment, kDwords>(w, a, exec, Access::kWrite, rows)) {
      for (uint32_t k = 0; k < kDwords; ++k) masked_copy_out(rows[k], operand_row(w, i.src[1], k), exec, 4);
      return;
    }
  }
  for_lanes(w, exec, [&](uint32_t lane) {
    uint32_t value[kDwords];
    for (uint32_t k = 0; k < kDwords; ++k) value[k] = operand_row(w, i.src[1], k)[lane];
    store_lane<kSegment, kDwords * 4>(w, i, lane, a.of[lane], value);
  });
}

template <Format kSegment, Narrow kKind>
void load_narrow(Wave& w, const Inst& i) {
  Addresses a;
  compute_addresses<kSegment>(w, i, a);
  uint32_t* row = operand_row(w, i.dst[0]);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t raw = 0;
    if (load_lane<kSegment, narrow_bytes(kKind)>(w, i, lane, a.of[lane], &raw))
      row[lane] = widen<kKind>(raw, row[lane]);
  });
}

template <Format kSegment, uint32_t kBytes, bool kHigh>
void store_narrow(Wave& w, const Inst& i) {
  Addresses a;
  compute_addresses<kSegment>(w, i, a);
  const uint32_t* row = operand_row(w, i.src[1]);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    const uint32_t value = row[lane] >> (kHigh ? 16 : 0);
    store_lane<kSegment, kBytes>(w, i, lane, a.of[lane], &value);
  });
}

template <Format kSegment, class Operation>
void atomic(Wave& w, const Inst& i) {
  using T = typename Operation::T;
  constexpr uint32_t kDwords = sizeof(T) / 4;
  Addresses a;
  compute_addresses<kSegment>(w, i, a);
  const uint32_t operands = i.src[1].dwords >= 2 * kDwords ? 2 : 1;
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t words[4] = {};
    for (uint32_t k = 0; k < operands * kDwords; ++k) words[k] = operand_row(w, i.src[1], k)[lane];
    T data[2], old{};
    std::memcpy(data, words, sizeof data);
    uint64_t address = a.of[lane];
    const Space space = kSegment == kFlat ? flat_space(w, address) : Space::kGlobal;
    bool done = false;
    if (space == Space::kGlobal)
      done = atomic_global<Operation>(w, lane, address, data, old);
    else if (space == Space::kScratch)
      done = atomic_scratch<Operation>(w, lane, static_cast<uint32_t>(address), data, old);
    else if (!(done = atomic_lds<Operation>(w, static_cast<uint32_t>(address), data, old)))
      raise_outside_lds(w, lane, address);
    if (!done || !i.dst[0]) return;
    std::memcpy(words, &old, sizeof old);
    for (uint32_t k = 0; k < kDwords; ++k) operand_row(w, i.dst[0], k)[lane] = words[k];
  });
}

// Lane l reads or writes base + 4 * l (addtid), or base alone without vaddr.
template <bool kLoad>
void addtid(Wave& w, const Inst& i) {
  const uint64_t base =
      (i.src[2] ? scalar<uint64_t>(w, i.src[2]) : 0) + static_cast<uint64_t>(static_cast<int64_t>(i.imm));
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    if (kLoad)
      load_global<4>(w, i, lane, base + lane * 4, operand_row(w, i.dst[0]) + lane);
    else
      store_global<4>(w, i, lane, base + lane * 4, operand_row(w, i.src[1]) + lane);
  });
}

// gfx942: loaded data goes to LDS at M0 + offset + 4 * lane.
template <Format kSegment, Narrow kKind, bool kDword>
void load_to_lds(Wave& w, const Inst& i) {
  Addresses a;
  compute_addresses<kSegment>(w, i, a);
  const uint32_t base = (w.s[kM0] & 0xffff) + static_cast<uint32_t>(i.imm);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t value = 0;
    constexpr uint32_t kBytes = kDword ? 4 : narrow_bytes(kKind);
    if (!load_lane<kSegment, kBytes>(w, i, lane, a.of[lane], &value)) return;
    if (!kDword) value = widen<kKind>(value, 0);
    store_lds<4>(w, base + lane * 4, &value);
  });
}

namespace at = atomics;
using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

#define LOADS_STORES(prefix, seg)                                                                                    \
  {prefix "_load_b32", load_dwords<seg, 1>}, {prefix "_load_b64", load_dwords<seg, 2>},                              \
      {prefix "_load_b96", load_dwords<seg, 3>}, {prefix "_load_b128", load_dwords<seg, 4>},                         \
      {prefix "_load_u8", load_narrow<seg, Narrow::kU8>}, {prefix "_load_i8", load_narrow<seg, Narrow::kI8>},        \
      {prefix "_load_u16", load_narrow<seg, Narrow::kU16>}, {prefix "_load_i16", load_narrow<seg, Narrow::kI16>},    \
      {prefix "_load_d16_u8", load_narrow<seg, Narrow::kD16U8>},                                                     \
      {prefix "_load_d16_i8", load_narrow<seg, Narrow::kD16I8>},                                                     \
      {prefix "_load_d16_b16", load_narrow<seg, Narrow::kD16B16>},                                                   \
      {prefix "_load_d16_hi_u8", load_narrow<seg, Narrow::kD16HiU8>},                                                \
      {prefix "_load_d16_hi_i8", load_narrow<seg, Narrow::kD16HiI8>},                                                \
      {prefix "_load_d16_hi_b16", load_narrow<seg, Narrow::kD16HiB16>}, {prefix "_store_b32", store_dwords<seg, 1>}, \
      {prefix "_store_b64", store_dwords<seg, 2>}, {prefix "_store_b96", store_dwords<seg, 3>},                      \
      {prefix "_store_b128", store_dwords<seg, 4>}, {prefix "_store_b8", store_narrow<seg, 1, false>},               \
      {prefix "_store_b16", store_narrow<seg, 2, false>}, {prefix "_store_d16_hi_b8", store_narrow<seg, 1, true>}, { \
    prefix "_store_d16_hi_b16", store_narrow<seg, 2, true>                                                           \
  }

#define ATOMICS(prefix, seg)                                                                                      \
  {prefix "_swap_b32", atomic<seg, at::Swap<u32>>}, {prefix "_swap_b64", atomic<seg, at::Swap<u64>>},             \
      {prefix "_cmpswap_b32", atomic<seg, at::CompareSwap<u32>>},                                                 \
      {prefix "_cmpswap_b64", atomic<seg, at::CompareSwap<u64>>}, {prefix "_add_u32", atomic<seg, at::Add<u32>>}, \
      {prefix "_add_u64", atomic<seg, at::Add<u64>>}, {prefix "_sub_u32", atomic<seg, at::Sub<u32>>},             \
      {prefix "_sub_u64", atomic<seg, at::Sub<u64>>}, {prefix "_min_i32", atomic<seg, at::Min<i32>>},             \
      {prefix "_min_i64", atomic<seg, at::Min<i64>>}, {prefix "_min_u32", atomic<seg, at::Min<u32>>},             \
      {prefix "_min_u64", atomic<seg, at::Min<u64>>}, {prefix "_max_i32", atomic<seg, at::Max<i32>>},             \
      {prefix "_max_i64", atomic<seg, at::Max<i64>>}, {prefix "_max_u32", atomic<seg, at::Max<u32>>},             \
      {prefix "_max_u64", atomic<seg, at::Max<u64>>}, {prefix "_and_b32", atomic<seg, at::And<u32>>},             \
      {prefix "_and_b64", atomic<seg, at::And<u64>>}, {prefix "_or_b32", atomic<seg, at::Or<u32>>},               \
      {prefix "_or_b64", atomic<seg, at::Or<u64>>}, {prefix "_xor_b32", atomic<seg, at::Xor<u32>>},               \
      {prefix "_xor_b64", atomic<seg, at::Xor<u64>>}, {prefix "_inc_u32", atomic<seg, at::Increment<u32>>},       \
      {prefix "_inc_u64", atomic<seg, at::Increment<u64>>}, {prefix "_dec_u32", atomic<seg, at::Decrement<u32>>}, \
      {prefix "_dec_u64", atomic<seg, at::Decrement<u64>>}, {prefix "_add_f32", atomic<seg, at::FloatAdd<u32>>},  \
      {prefix "_add_f64", atomic<seg, at::FloatAdd<u64>>}, {prefix "_min_f32", atomic<seg, at::FloatMin<u32>>},   \
      {prefix "_min_f64", atomic<seg, at::FloatMin<u64>>}, {prefix "_max_f32", atomic<seg, at::FloatMax<u32>>},   \
      {prefix "_max_f64", atomic<seg, at::FloatMax<u64>>},                                                        \
      {prefix "_cmpswap_f32", atomic<seg, at::FloatCompareSwap<u32>>},                                            \
      {prefix "_pk_add_f16", atomic<seg, at::PackedAddF16>}, {                                                    \
    prefix "_pk_add_bf16", atomic<seg, at::PackedAddBf16>                                                         \
  }

#define LDS_LOADS(prefix, seg)                                           \
  {prefix "_load_lds_b32", load_to_lds<seg, Narrow::kU8, true>},         \
      {prefix "_load_lds_u8", load_to_lds<seg, Narrow::kU8, false>},     \
      {prefix "_load_lds_i8", load_to_lds<seg, Narrow::kI8, false>},     \
      {prefix "_load_lds_u16", load_to_lds<seg, Narrow::kU16, false>}, { \
    prefix "_load_lds_i16", load_to_lds<seg, Narrow::kI16, false>        \
  }

constexpr ExecEntry kEntries[] = {
    LOADS_STORES("flat", kFlat),
    LOADS_STORES("global", kGlobal),
    LOADS_STORES("scratch", kScratch),
    ATOMICS("flat_atomic", kFlat),
    ATOMICS("global_atomic", kGlobal),
    LDS_LOADS("global", kGlobal),
    LDS_LOADS("scratch", kScratch),
    {"global_atomic_csub_u32", atomic<kGlobal, at::ClampedSub<u32>>},
    {"global_load_addtid_b32", addtid<true>},
    {"global_store_addtid_b32", addtid<false>},
};

}  // namespace

std::span<const ExecEntry> flat_exec_entries() { return kEntries; }

}  // namespace vgpu
