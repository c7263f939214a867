// One buffer of ALLOC_MEMORY_OF_GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/vgpu/kernel/backing.h"
#include "tools/vgpu/kernel/uapi.h"

namespace vgpu {

struct Gpu;

struct MemoryObject {
  uint64_t handle = 0;
  uint64_t va = 0;                   ///< GPU address chosen by the client
  uint64_t bytes = 0;                ///< bytes of the buffer itself, page aligned
  uint32_t flags = 0;                ///< as given
  std::byte* host = nullptr;         ///< where the model reaches it
  std::shared_ptr<Backing> backing;  ///< of VRAM and GTT; for registered memory, what it counts as system memory
  uint64_t mmap_offset = 0;          ///< of the render node
  bool event_page = false;
  std::vector<uint8_t> mapped;       ///< by GPU index: in that GPU's page table
  std::vector<uint32_t> queue_uses;  ///< by GPU index: how many queues there hold this mapping

  const Gpu* home = nullptr;  ///< whose VRAM it is; null for system memory

  bool is(uint32_t flag) const { return (flags & flag) != 0; }
  bool twice() const { return is(uapi::kAllocAqlQueueMem); }  ///< mapped twice in a row, for old ring buffers
  bool mapped_anywhere() const {
    for (const uint8_t each : mapped) {
      if (each != 0) return true;
    }
    return false;
  }
};

}  // namespace vgpu
