#include "tools/vgpu/memory/page_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace vgpu {

namespace {
constexpr uint64_t kMinSpan = 1ull << 32;
}

std::unique_ptr<PageStore> PageStore::create(const char* name, uint64_t capacity) {
  std::unique_ptr<PageStore> store(new PageStore);
  store->capacity_ = capacity;
  store->span_ = std::max(kMinSpan, capacity * 4) & ~uint64_t{4095};
  store->fd_ = memfd_create(name, MFD_CLOEXEC);
  if (store->fd_ < 0) return nullptr;
  if (ftruncate(store->fd_, static_cast<off_t>(store->span_)) != 0) return nullptr;
  void* base = mmap(nullptr, store->span_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, store->fd_, 0);
  if (base == MAP_FAILED) return nullptr;
  store->base_ = static_cast<std::byte*>(base);
  // A forked child has no GPU memory: the real driver's mappings do not follow it either.
  madvise(base, store->span_, MADV_DONTFORK);
  madvise(base, store->span_, MADV_DONTDUMP);
  store->free_[0] = store->span_;
  return store;
}

PageStore::~PageStore() {
  if (base_ != nullptr) munmap(base_, span_);
  if (fd_ >= 0) close(fd_);
}

uint64_t PageStore::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > capacity_ - used_) return kNoRange;
  const auto fit = std::find_if(free_.begin(), free_.end(), [&](const auto& range) { return range.second >= bytes; });
  if (fit == free_.end()) return kNoRange;
  const auto [offset, size] = *fit;
  free_.erase(fit);
  if (size > bytes) free_[offset + bytes] = size - bytes;
  used_ += bytes;
  return offset;
}

void PageStore::release(uint64_t offset, uint64_t bytes) {
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  used_ -= bytes;
  auto at = free_.emplace(offset, bytes).first;
  if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at != free_.begin()) {
    const auto previous = std::prev(at);
    if (previous->first + previous->second == at->first) {
      previous->second += at->second;
      free_.erase(at);
    }
  }
}

}  // namespace vgpu
