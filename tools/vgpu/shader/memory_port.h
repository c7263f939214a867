// A shader worker's way from GPU addresses to host bytes: a small TLB over the address space of the process.
//
// A port belongs to one thread. Pointers it returns are valid while that thread holds an
// AddressSpace::ReadGuard and for the access it asked for only. revalidate() is called on entering a guard:
// it drops the TLB when mappings changed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tools/vgpu/memory/address_space.h"

namespace vgpu {

class CacheModel;

class MemoryPort {
 public:
  /// `pcie_atomics` false: the link to host memory carries no atomics.
  explicit MemoryPort(const AddressSpace& space, CacheModel* caches = nullptr, bool pcie_atomics = true)
      : space_(space), caches_(caches), pcie_atomics_(pcie_atomics) {}

  /// What vector and scalar memory instructions must go through instead of translate(), in hostile mode; else
  /// null.
  CacheModel* caches() const { return caches_; }

  /// Where the bytes [va, va + size) are, or null with `fault` filled. All of them must lie in one mapping; a
  /// caller whose access is not naturally aligned falls back to single bytes (see load and store).
  std::byte* translate(uint64_t va, uint32_t size, Access access, MemoryFault& fault) {
    const Entry& entry = entries_[index_of(va)];
    if (va - entry.begin < entry.size && size <= entry.size - (va - entry.begin) && allows(entry, access)) {
      return entry.host + (va - entry.begin);
    }
    return translate_slow(va, size, access, fault);
  }

  /// Whether an atomic at va, already translated, would be lost on the link to the host: the GPU's own cache
  /// does those on memory that it may hold, the others go out.
  bool loses_atomics(uint64_t va) const {
    if (pcie_atomics_) return false;
    const Entry& entry = entries_[index_of(va)];
    return va - entry.begin < entry.size && entry.system && entry.uncached;
  }

  /// Copies across mapping borders. False: nothing was copied, `fault` names the first byte that failed.
  bool load(uint64_t va, void* out, uint32_t size, Access access, MemoryFault& fault);
  bool store(uint64_t va, const void* data, uint32_t size, MemoryFault& fault);

  /// Drops everything that an earlier set of mappings filled in. True when it did.
  bool revalidate();

 private:
  struct Entry {
    uint64_t begin = 0;
    uint64_t size = 0;  ///< 0: empty
    std::byte* host = nullptr;
    bool writable = false;
    bool executable = false;
    bool system = false;
    bool uncached = false;  ///< by the GPU's L2
  };
  static constexpr uint32_t kEntries = 64;

  /// Neighbouring pages of one big mapping share slots rarely; hashing keeps distant buffers apart.
  static uint32_t index_of(uint64_t va) { return static_cast<uint32_t>((va >> 16) ^ (va >> 22)) & (kEntries - 1); }
  static bool allows(const Entry& entry, Access access) {
    return access == Access::kRead || (access == Access::kWrite ? entry.writable : entry.executable);
  }
  std::byte* translate_slow(uint64_t va, uint32_t size, Access access, MemoryFault& fault);

  const AddressSpace& space_;
  CacheModel* caches_;
  bool pcie_atomics_;
  uint64_t generation_ = ~0ull;
  std::array<Entry, kEntries> entries_{};
};

}  // namespace vgpu
