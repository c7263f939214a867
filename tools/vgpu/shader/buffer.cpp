// MUBUF: untyped buffer loads, stores and atomics through a V# (buffer resource), and cache maintenance.
//
// Address of a lane: base + soffset + offset(index, byte offset), where index comes from VADDR (idxen) and
// the lane number (ADD_TID), the byte offset from VADDR (offen) and the instruction. A swizzled buffer
// interleaves elements of ELEMENT_SIZE bytes over INDEX_STRIDE records; the scratch V# of gfx9 is one, so
// each dword is placed on its own.
#include <array>

#include "tools/vgpu/shader/atomic_ops.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/lane_memory.h"
#include "tools/vgpu/shader/narrow.h"
#include "tools/vgpu/shader/scalar_operand.h"

namespace vgpu {
namespace {

class Buffer {
 public:
  Buffer(Wave& w, const Inst& i) : wave_(w), inst_(i) {
    const uint32_t* word = &w.s[i.src[2].index];
    const bool gfx11 = w.group->dispatch->target->gfx11;
    base_ = word[0] | uint64_t{word[1] & 0xffff} << 32;
    stride_ = word[1] >> 16 & 0x3fff;
    records_ = word[2];
    index_stride_ = 8u << (word[3] >> 21 & 3);
    add_lane_ = (word[3] >> 23 & 1) != 0;
    if (gfx11) {
      const uint32_t swizzle = word[1] >> 30;
      swizzled_ = swizzle != 0;
      element_ = swizzle == 3 ? 16 : 4;
      out_of_bounds_ = word[3] >> 28 & 3;
    } else {
      swizzled_ = (word[1] >> 31) != 0;
      element_ = 2u << (word[3] >> 19 & 3);
      out_of_bounds_ = stride_ == 0 ? kRaw : swizzled_ ? kStructured : kIndexOrOffset;
    }
    soffset_ = i.src[3] ? scalar<uint32_t>(w, i.src[3]) : 0;
    uint32_t row = 0;
    if (i.idxen) indices_ = operand_row(w, i.src[0], row++);
    if (i.offen) offsets_ = operand_row(w, i.src[0], row);
  }

  bool swizzled() const { return swizzled_; }

  /// Address of `size` bytes at `extra` bytes behind the lane's offset. False: out of range.
  bool address(uint32_t lane, uint32_t extra, uint32_t size, uint64_t& va) const {
    const uint64_t index = (indices_ ? indices_[lane] : 0) + (add_lane_ ? lane : 0);
    const uint64_t offset = uint64_t{offsets_ ? offsets_[lane] : 0} + static_cast<uint32_t>(inst_.imm) + extra;
    if (outside(index, offset, size)) return false;
    if (!swizzled_) {
      va = base_ + soffset_ + index * stride_ + offset;
      return true;
    }
    const uint64_t record = index / index_stride_, in_record = index % index_stride_;
    const uint64_t element = offset / element_, in_element = offset % element_;
    va = base_ + soffset_ + (record * stride_ + element * element_) * index_stride_ + in_record * element_ + in_element;
    return true;
  }

  template <uint32_t kSize>
  bool load(uint32_t lane, uint32_t extra, void* out) const {
    uint64_t va;
    if (!address(lane, extra, kSize, va)) {
      std::memset(out, 0, kSize);
      return true;
    }
    return load_global<kSize>(wave_, inst_, lane, va, out);
  }
  template <uint32_t kSize>
  bool store(uint32_t lane, uint32_t extra, const void* data) const {
    uint64_t va;
    return !address(lane, extra, kSize, va) || store_global<kSize>(wave_, inst_, lane, va, data);
  }

  /// For the scratch buffer of gfx9 with the same offset in all active lanes: where each dword of lane 0 is,
  /// with the other lanes' behind it. False when it is another kind of access, or one that needs a closer
  /// look.
  bool lane_rows(uint64_t exec, Access access, std::byte** rows, uint32_t dwords) const {
    if (!swizzled_ || !add_lane_ || element_ != 4 || index_stride_ != 64 || indices_ || wave_.memory->caches())
      return false;
    const int first = __builtin_ctzll(exec), last = 63 - __builtin_clzll(exec);
    uint32_t different = inst_.imm & 3;
    if (offsets_) {
      different |= offsets_[first] & 3;
      for (uint32_t lane = 0; lane < 64; ++lane) {
        different |= (offsets_[lane] ^ offsets_[first]) & (0 - static_cast<uint32_t>(exec >> lane & 1));
      }
    }
    if (different != 0) return false;
    for (uint32_t k = 0; k < dwords; ++k) {
      uint64_t va;
      MemoryFault fault;
      if (!address(static_cast<uint32_t>(first), k * 4, 4, va)) return false;
      std::byte* bytes = wave_.memory->translate(va, static_cast<uint32_t>(last - first + 1) * 4, access, fault);
      if (!bytes) return false;
      rows[k] = bytes - first * 4;
    }
    return true;
  }

 private:
  enum Bounds : uint32_t { kStructured = 0, kIndexOnly = 1, kNoRecords = 2, kRaw = 3, kIndexOrOffset = 4 };

  bool outside(uint64_t index, uint64_t offset, uint32_t size) const {
    switch (out_of_bounds_) {
      case kStructured: return index >= records_ || (stride_ != 0 && offset + size > stride_);
      case kIndexOnly: return index >= records_;
      case kNoRecords: return records_ == 0;
      // gfx9 with a stride: the index alone decides, as long as an index is used; else bytes count.
      case kIndexOrOffset: return indices_ || add_lane_ ? index >= records_ : offset + size > records_;
      default: return soffset_for_bounds() + offset + size > records_;
    }
  }
  uint64_t soffset_for_bounds() const { return swizzled_ ? 0 : soffset_; }

  Wave& wave_;
  const Inst& inst_;
  uint64_t base_ = 0;
  uint32_t stride_ = 0, records_ = 0, index_stride_ = 8, element_ = 4, out_of_bounds_ = kRaw, soffset_ = 0;
  bool swizzled_ = false, add_lane_ = false;
  const uint32_t* indices_ = nullptr;
  const uint32_t* offsets_ = nullptr;
};

/// Where loads with the lds bit put their data: M0 + offset + 4 * lane.
uint32_t lds_place(const Wave& w, const Inst& i, uint32_t lane) {
  return (w.s[kM0] & 0xffff) + static_cast<uint32_t>(i.imm) + lane * 4;
}

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
