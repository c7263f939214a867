// All memory that HIP knows of, found by any address inside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include <barehip/error.h>
#include <barehip/memory.h>

#include "runtime/core/lock.h"

namespace barehip::runtime {

class DeviceContext;

enum class AllocationKind : uint8_t { kDevice, kHost, kRegistered, kCode };

struct Allocation {
  AllocationKind kind = AllocationKind::kDevice;
  DeviceContext* context = nullptr;
  uint64_t gpu = 0;   ///< GPU address of the first byte
  uint64_t host = 0;  ///< host address of the first byte, 0 when the CPU cannot touch it
  size_t bytes = 0;
  unsigned flags = 0;
  Memory memory;

  bool on_device() const { return kind == AllocationKind::kDevice || kind == AllocationKind::kCode; }
  /// Where an address given to the API lies, by whichever of the two views contains it.
  bool contains(uint64_t address, size_t count) const {
    return inside(gpu, address, count) || (host && inside(host, address, count));
  }
  uint64_t gpu_of(uint64_t address) const { return gpu + offset(address); }
  uint64_t host_of(uint64_t address) const { return host ? host + offset(address) : 0; }

 private:
  bool inside(uint64_t base, uint64_t address, size_t count) const {
    return address >= base && address - base <= bytes && count <= bytes - (address - base);
  }
  uint64_t offset(uint64_t address) const { return inside(gpu, address, 0) ? address - gpu : address - host; }
};

/// Threads: any. Cost of find(): a shared lock and O(log n). An Allocation stays alive while a caller holds the
/// pointer.
class AllocationTable {
 public:
  void insert(std::shared_ptr<Allocation> allocation);
  /// The allocation that contains the address (its end is outside), or null.
  std::shared_ptr<const Allocation> find(const void* address) const;
  /// Takes out the one that starts exactly at `address` and is of `kind`; null when there is none.
  std::shared_ptr<Allocation> remove(const void* address, AllocationKind kind);
  /// Whether [address, address + bytes) touches any of them.
  bool overlaps(const void* address, size_t bytes) const;
  /// Takes out everything of one context.
  void remove_all(const DeviceContext& context, std::map<uint64_t, std::shared_ptr<Allocation>>& out);

 private:
  mutable SharedMutex mutex_;
  std::map<uint64_t, std::shared_ptr<Allocation>> by_start_;  ///< under both addresses when they differ
};

}  // namespace barehip::runtime
