// An open file of the render node: its buffers (GEM handles), its contexts, and what GEM_VA mapped.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "tools/vgpu/kernel/backing.h"
#include "tools/vgpu/memory/address_space.h"

namespace vgpu {

struct Gpu;

struct GemBuffer {
  std::shared_ptr<Backing> backing;
  uint64_t mmap_offset = 0;
  uint64_t alignment = 0, domains = 0, flags = 0;
};

struct GemMapping {
  uint64_t bytes = 0;
  std::shared_ptr<Backing> backing;  ///< kept while it is mapped
};

/// Duplicated descriptors share it. Members below the mutex are guarded by it.
struct DrmFile {
  const Gpu* gpu = nullptr;
  std::atomic<int> compute_pid{0};  ///< the process that made it its GPU's address space (ACQUIRE_VM)

  mutable std::mutex mutex;
  std::map<uint32_t, GemBuffer> buffers;  ///< by handle
  std::set<uint32_t> contexts;
  std::map<uint64_t, GemMapping> mappings;  ///< by GPU address
  AddressSpace own_space;                   ///< of a file that no process made its compute address space

  /// The buffer at that mmap offset, or null.
  const Backing* find_mappable(uint64_t offset) const;
};

}  // namespace vgpu
