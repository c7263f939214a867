// The V# of a buffer instruction: where each lane's access lands, and what is out of range.
#pragma once

#include "tools/vgpu/shader/lane_memory.h"
#include "tools/vgpu/shader/scalar_operand.h"

namespace vgpu {

/// Address of a lane: base + soffset + offset(index, byte offset), where index comes from VADDR (idxen) and the lane
/// number (ADD_TID), the byte offset from VADDR (offen) and the instruction. A swizzled buffer interleaves elements of
/// ELEMENT_SIZE bytes over INDEX_STRIDE records; the scratch V# of gfx9 is one, so each dword is placed on its own.
class Buffer {
 public:
  Buffer(Wave& w, const Inst& i) : wave_(w), inst_(i) {
    const uint32_t* word = &w.s[i.src[2].index];
    const bool gfx11 = w.group->dispatch->target->gfx11;
    base_ = word[0] | uint64_t{word[1] & 0xffff} << 32;
    stride_ = word[1] >> 16 & 0x3fff;
    records_ = word[2];
    word3_ = word[3];
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
  /// The fourth dword: formats and component selectors.
  uint32_t word3() const { return word3_; }

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
  uint32_t stride_ = 0, records_ = 0, index_stride_ = 8, element_ = 4, out_of_bounds_ = kRaw, soffset_ = 0, word3_ = 0;
  bool swizzled_ = false, add_lane_ = false;
  const uint32_t* indices_ = nullptr;
  const uint32_t* offsets_ = nullptr;
};

/// Where loads and stores with the lds bit have their data: M0 + offset + 4 * lane.
inline uint32_t lds_place(const Wave& w, const Inst& i, uint32_t lane) {
  return (w.s[kM0] & 0xffff) + static_cast<uint32_t>(i.imm) + lane * 4;
}

}  // namespace vgpu
