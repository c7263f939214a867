// MUBUF: untyped buffer loads, stores and atomics through a V# (buffer resource), and cache maintenance.
#include <array>

#include "tools/vgpu/shader/atomic_ops.h"
#include "tools/vgpu/shader/buffer_resource.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/narrow.h"

namespace vgpu {
namespace {

template <uint32_t kDwords>
void load(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  if (exec == 0) return;
  const Buffer buffer(w, i);
  std::byte* rows[kDwords];
  if (i.dst[0] && buffer.lane_rows(exec, Access::kRead, rows, kDwords)) {
    for (uint32_t k = 0; k < kDwords; ++k) masked_copy_in(operand_row(w, i.dst[0], k), rows[k], exec, 4);
    return;
  }
  for_lanes(w, exec, [&](uint32_t lane) {
    uint32_t value[kDwords];
    for (uint32_t k = 0; k < kDwords; ++k) {
      if (!buffer.load<4>(lane, k * 4, &value[k])) return;
    }
    if (i.lds || !i.dst[0]) return store_lds<kDwords * 4>(w, lds_place(w, i, lane), value);
    for (uint32_t k = 0; k < kDwords; ++k) operand_row(w, i.dst[0], k)[lane] = value[k];
  });
}

template <uint32_t kDwords>
void store(Wave& w, const Inst& i) {
  const uint64_t exec = w.exec();
  if (exec == 0) return;
  const Buffer buffer(w, i);
  std::byte* rows[kDwords];
  if (buffer.lane_rows(exec, Access::kWrite, rows, kDwords)) {
    for (uint32_t k = 0; k < kDwords; ++k) masked_copy_out(rows[k], operand_row(w, i.src[1], k), exec, 4);
    return;
  }
  for_lanes(w, exec, [&](uint32_t lane) {
    for (uint32_t k = 0; k < kDwords; ++k) {
      if (!buffer.store<4>(lane, k * 4, operand_row(w, i.src[1], k) + lane)) return;
    }
  });
}

// Bytes that cross a dword of a swizzled buffer lie apart, so they go one by one there.
template <uint32_t kBytes>
bool load_bytes(const Buffer& buffer, uint32_t lane, uint32_t& raw) {
  if (kBytes == 1 || !buffer.swizzled()) return buffer.load<kBytes>(lane, 0, &raw);
  uint8_t bytes[2] = {};
  if (!buffer.load<1>(lane, 0, bytes) || !buffer.load<1>(lane, 1, bytes + 1)) return false;
  raw = bytes[0] | uint32_t{bytes[1]} << 8;
  return true;
}

template <Narrow kKind>
void load_narrow(Wave& w, const Inst& i) {
  const Buffer buffer(w, i);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t raw = 0;
    if (!load_bytes<narrow_bytes(kKind)>(buffer, lane, raw)) return;
    if (i.lds || !i.dst[0]) {
      const uint32_t value = widen<kKind>(raw, 0);
      return store_lds<4>(w, lds_place(w, i, lane), &value);
    }
    uint32_t& d = operand_row(w, i.dst[0])[lane];
    d = widen<kKind>(raw, d);
  });
}

template <uint32_t kBytes, bool kHigh>
void store_narrow(Wave& w, const Inst& i) {
  const Buffer buffer(w, i);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    const uint32_t value = operand_row(w, i.src[1])[lane] >> (kHigh ? 16 : 0);
    if (kBytes == 1 || !buffer.swizzled()) {
      buffer.store<kBytes>(lane, 0, &value);
    } else {
      const uint32_t second = value >> 8;
      if (buffer.store<1>(lane, 0, &value)) buffer.store<1>(lane, 1, &second);
    }
  });
}

template <class Operation>
void atomic(Wave& w, const Inst& i) {
  using T = typename Operation::T;
  constexpr uint32_t kDwords = sizeof(T) / 4;
  const Buffer buffer(w, i);
  const uint32_t operands = i.src[1].dwords >= 2 * kDwords ? 2 : 1;
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t words[4] = {};
    for (uint32_t k = 0; k < operands * kDwords; ++k) words[k] = operand_row(w, i.src[1], k)[lane];
    T data[2], old{};
    std::memcpy(data, words, sizeof data);
    uint64_t va;
    if (buffer.address(lane, 0, sizeof(T), va) && !atomic_global<Operation>(w, lane, va, data, old)) return;
    if (!i.dst[0]) return;
    std::memcpy(words, &old, sizeof old);
    for (uint32_t k = 0; k < kDwords; ++k) operand_row(w, i.dst[0], k)[lane] = words[k];
  });
}

void store_from_lds(Wave& w, const Inst& i) {
  const Buffer buffer(w, i);
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    uint32_t value;
    load_lds<4>(w, lds_place(w, i, lane), &value);
    buffer.store<4>(lane, 0, &value);
  });
}

// TFE adds a register that tells of pages that are not resident; no compiler asks for it.
template <void (*kFunction)(Wave&, const Inst&)>
void without_tfe(Wave& w, const Inst& i) {
  if (i.tfe) return w.raise(WaveError::Kind::kUnsupported, "vgpu does not execute buffer accesses with TFE");
  kFunction(w, i);
}

void invalidate_vector(Wave& w, const Inst&) {
  if (CacheModel* caches = w.memory->caches())
    caches->invalidate_l1(static_cast<int32_t>(w.group->cu), true, false, false);
}
void write_back_l2(Wave& w, const Inst&) {
  if (CacheModel* caches = w.memory->caches()) caches->write_back_l2();
}
void invalidate_l2(Wave& w, const Inst&) {
  if (CacheModel* caches = w.memory->caches()) caches->invalidate_l2();
}
// gfx942: SC bits say how far; system scope reaches L2.
void invalidate_by_scope(Wave& w, const Inst& i) {
  invalidate_vector(w, i);
  if (i.glc && i.dlc) invalidate_l2(w, i);
}

namespace at = atomics;
using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

#define BOTH(name, fn) \
  {"buffer_atomic_" name "32", atomic<fn<u32>>}, { "buffer_atomic_" name "64", atomic<fn<u64>> }

constexpr ExecEntry kEntries[] = {
    {"buffer_load_b32", without_tfe<load<1>>},
    {"buffer_load_b64", without_tfe<load<2>>},
    {"buffer_load_b96", without_tfe<load<3>>},
    {"buffer_load_b128", without_tfe<load<4>>},
    {"buffer_store_b32", without_tfe<store<1>>},
    {"buffer_store_b64", without_tfe<store<2>>},
    {"buffer_store_b96", without_tfe<store<3>>},
    {"buffer_store_b128", without_tfe<store<4>>},
    {"buffer_load_u8", without_tfe<load_narrow<Narrow::kU8>>},
    {"buffer_load_i8", without_tfe<load_narrow<Narrow::kI8>>},
    {"buffer_load_u16", without_tfe<load_narrow<Narrow::kU16>>},
    {"buffer_load_i16", without_tfe<load_narrow<Narrow::kI16>>},
    {"buffer_load_d16_u8", without_tfe<load_narrow<Narrow::kD16U8>>},
    {"buffer_load_d16_i8", without_tfe<load_narrow<Narrow::kD16I8>>},
    {"buffer_load_d16_b16", without_tfe<load_narrow<Narrow::kD16B16>>},
    {"buffer_load_d16_hi_u8", without_tfe<load_narrow<Narrow::kD16HiU8>>},
    {"buffer_load_d16_hi_i8", without_tfe<load_narrow<Narrow::kD16HiI8>>},
    {"buffer_load_d16_hi_b16", without_tfe<load_narrow<Narrow::kD16HiB16>>},
    {"buffer_load_lds_b32", without_tfe<load<1>>},
    {"buffer_load_lds_u8", without_tfe<load_narrow<Narrow::kU8>>},
    {"buffer_load_lds_i8", without_tfe<load_narrow<Narrow::kI8>>},
    {"buffer_load_lds_u16", without_tfe<load_narrow<Narrow::kU16>>},
    {"buffer_load_lds_i16", without_tfe<load_narrow<Narrow::kI16>>},
    {"buffer_store_lds_b32", without_tfe<store_from_lds>},
    {"buffer_store_b8", without_tfe<store_narrow<1, false>>},
    {"buffer_store_b16", without_tfe<store_narrow<2, false>>},
    {"buffer_store_d16_hi_b8", without_tfe<store_narrow<1, true>>},
    {"buffer_store_d16_hi_b16", without_tfe<store_narrow<2, true>>},
    BOTH("swap_b", at::Swap),
    BOTH("cmpswap_b", at::CompareSwap),
    BOTH("add_u", at::Add),
    BOTH("sub_u", at::Sub),
    BOTH("min_u", at::Min),
    BOTH("max_u", at::Max),
    BOTH("and_b", at::And),
    BOTH("or_b", at::Or),
    BOTH("xor_b", at::Xor),
    BOTH("inc_u", at::Increment),
    BOTH("dec_u", at::Decrement),
    BOTH("add_f", at::FloatAdd),
    BOTH("min_f", at::FloatMin),
    BOTH("max_f", at::FloatMax),
    {"buffer_atomic_min_i32", atomic<at::Min<i32>>},
    {"buffer_atomic_min_i64", atomic<at::Min<i64>>},
    {"buffer_atomic_max_i32", atomic<at::Max<i32>>},
    {"buffer_atomic_max_i64", atomic<at::Max<i64>>},
    {"buffer_atomic_cmpswap_f32", atomic<at::FloatCompareSwap<u32>>},
    {"buffer_atomic_csub_u32", atomic<at::ClampedSub<u32>>},
    {"buffer_atomic_pk_add_f16", atomic<at::PackedAddF16>},
    {"buffer_gl0_inv", invalidate_vector},
    {"buffer_gl1_inv", invalidate_vector},
    {"buffer_wbinvl1", invalidate_vector},
    {"buffer_wbinvl1_vol", invalidate_vector},
    {"buffer_wbl2", write_back_l2},
    {"buffer_invl2", invalidate_l2},
    {"buffer_inv", invalidate_by_scope},
};

#undef BOTH

}  // namespace

std::span<const ExecEntry> buffer_exec_entries() { return kEntries; }

}  // namespace vgpu
