// The pages behind a buffer of VRAM or system memory. Buffers of both interfaces (KFD and DRM) and of several processes
// may share one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/vgpu/memory/page_store.h"

namespace vgpu {

/// What a graphics stack hangs on a buffer; carried, never read.
struct BufferMetadata {
  uint64_t flags = 0, tiling = 0;
  std::vector<std::byte> data;  ///< at most 256 bytes
};

class Backing {
 public:
  /// Takes over a hold that the caller has on the range. `view` outlives it.
  Backing(PageView& view, uint32_t store, uint64_t offset, uint64_t bytes)
      : view_(view), store_(store), offset_(offset), bytes_(bytes) {}
  ~Backing() { view_.store().release(offset_); }
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  bool vram() const { return store_ != kSystemStore; }
  uint32_t store() const { return store_; }  ///< index of the machine's memories: 0 system, 1 + GPU index
  uint64_t offset() const { return offset_; }
  uint64_t bytes() const { return bytes_; }
  PageView& view() const { return view_; }
  int fd() const { return view_.store().fd(); }
  std::byte* host() const { return view_.host(offset_); }

  static constexpr uint32_t kSystemStore = 0;
  bool public_vram = false;  ///< made for the CPU to see
  bool writable = true;
  BufferMetadata metadata;

 private:
  PageView& view_;
  uint32_t store_;
  uint64_t offset_, bytes_;
};

}  // namespace vgpu
