// dma-bufs: descriptors that name a range of a machine's memory and keep it, in whichever process they are. A
// descriptor is an empty file of the buffer's size with a lock on its open file, so that the lock tells whether anybody
// has it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/vgpu/kernel/backing.h"

namespace vgpu {

class DmaBufs {
 public:
  struct Record;
  struct Found {
    uint32_t store = 0;
    uint64_t offset = 0, bytes = 0;
    bool public_vram = false, writable = true;
    BufferMetadata metadata;
  };

  /// With a folder, the table is shared by all that name it; else by forked children. Null when the system refuses.
  static std::unique_ptr<DmaBufs> create(const std::string& folder);
  ~DmaBufs();
  DmaBufs(const DmaBufs&) = delete;
  DmaBufs& operator=(const DmaBufs&) = delete;

  /// A new descriptor (O_CLOEXEC when `flags` has it) that holds the backing's range, or a negative errno.
  int export_range(const Backing& backing, int flags);
  /// 0; -EBADF for what is no descriptor, -EINVAL for what is no dma-buf of this machine.
  int find(int fd, Found& out);
  /// Gives up the holds of dma-bufs that nobody has open any more.
  void collect(const std::vector<std::unique_ptr<PageStore>>& stores);

 private:
  struct Table;
  class Lock;
  DmaBufs() = default;
  int make_file(Record& record, int flags);
  bool open_somewhere(const Record& record) const;

  std::string folder_;
  Table* table_ = nullptr;
};

}  // namespace vgpu
