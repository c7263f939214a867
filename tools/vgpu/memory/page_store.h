// Backing memory of VRAM and GTT: one sparse memory file a memory, handed out in ranges of pages that the client may
// map too. Pages cost host memory only once they are touched. Which range is whose stands in memory that all processes
// of one machine share, so that they share the memory too, and get back what a process left that died.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace vgpu {

/// One memory of the machine. Thread safe; forked children use the same one. Lives as long as the machine.
class PageStore {
 public:
  /// `capacity` is the bytes that may be in use at once. The address range is larger, because physical memory does not
  /// fragment the way one range would. With a folder, every store of that name and folder is the same memory; without
  /// one, only forked children share it. Null when the system refuses.
  static std::unique_ptr<PageStore> create(const std::string& name, uint64_t capacity, const std::string& folder = {});
  ~PageStore();
  PageStore(const PageStore&) = delete;
  PageStore& operator=(const PageStore&) = delete;

  static constexpr uint64_t kNoRange = ~uint64_t{0};
  /// Offset of `bytes` (a multiple of 4 KiB) zeroed bytes, held once by this process; kNoRange when the capacity is
  /// used up also after what dead processes held was taken back.
  uint64_t allocate(uint64_t bytes);
  /// Another hold on a range. False when there is no range at that offset.
  bool hold(uint64_t offset);
  /// Gives one hold up. The last one of all processes frees the range; its pages are zero when handed out again.
  void release(uint64_t offset);
  /// A hold that belongs to no process but to a file that names the range.
  bool hold_for_file(uint64_t offset);
  void release_for_file(uint64_t offset);

  /// What another image of this process (before exec, or an earlier process with this number) held is given up.
  void forget_earlier_process();

  int fd() const { return fd_; }
  uint64_t capacity() const { return capacity_; }
  /// Bytes in use by all living processes.
  uint64_t used();

 private:
  friend class PageView;
  struct Ledger;
  class Lock;
  PageStore() = default;
  uint64_t find_gap(uint64_t bytes) const;
  int32_t index_of(uint64_t offset) const;
  void drop(uint32_t index);
  void collect_dead();

  int fd_ = -1;
  Ledger* ledger_ = nullptr;
  uint64_t capacity_ = 0, span_ = 0;
};

/// A process's own mapping of a whole store. Forked children have none, as with the real driver's mappings.
class PageView {
 public:
  static std::unique_ptr<PageView> create(PageStore& store);
  ~PageView();
  PageView(const PageView&) = delete;
  PageView& operator=(const PageView&) = delete;

  PageStore& store() const { return store_; }
  std::byte* host(uint64_t offset) const { return base_ + offset; }

 private:
  explicit PageView(PageStore& store) : store_(store) {}
  PageStore& store_;
  std::byte* base_ = nullptr;
};

}  // namespace vgpu
