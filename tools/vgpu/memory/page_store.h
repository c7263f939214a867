// Backing memory of VRAM and GTT: one sparse memory file, mapped once by the model, handed out in ranges of pages that
// the client may map too. Pages cost host memory only once they are touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace vgpu {

/// Not thread safe. The file and the model's mapping live as long as the store.
class PageStore {
 public:
  /// `capacity` is the bytes that may be in use at once. The address range is larger, because physical memory does not
  /// fragment the way one range would. Null when the system refuses.
  static std::unique_ptr<PageStore> create(const char* name, uint64_t capacity);
  ~PageStore();
  PageStore(const PageStore&) = delete;
  PageStore& operator=(const PageStore&) = delete;

  static constexpr uint64_t kNoRange = ~uint64_t{0};
  /// Offset of `bytes` (a multiple of 4 KiB) zeroed bytes; kNoRange when the capacity is used up.
  uint64_t allocate(uint64_t bytes);
  /// Gives the range back; its pages are zero when they are handed out again.
  void release(uint64_t offset, uint64_t bytes);

  std::byte* host(uint64_t offset) const { return base_ + offset; }
  int fd() const { return fd_; }
  uint64_t capacity() const { return capacity_; }
  uint64_t used() const { return used_; }

 private:
  PageStore() = default;

  int fd_ = -1;
  std::byte* base_ = nullptr;
  uint64_t capacity_ = 0, used_ = 0, span_ = 0;
  std::map<uint64_t, uint64_t> free_;  // offset -> bytes, no two neighbours touch
};

}  // namespace vgpu
