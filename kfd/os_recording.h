// A table for tests and for looking: writes every call that passes as one line of text.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "kfd/os.h"

namespace barehip::kfd {

/// Wraps another table, which must outlive it. Thread safe. A line is written when its call has returned:
///   open /dev/kfd -> 3
///   ioctl ALLOC_MEMORY_OF_GPU va_addr=0x7f0000000000 size=0x1000 ... flags=VRAM|WRITABLE -> handle=0x1
///   mmap_offset=0x100000000 ioctl CREATE_QUEUE ... -> ENOMEM
/// Reads of the clock are left out.
class RecordingOs {
 public:
  explicit RecordingOs(const barehip_os_table& inner);
  RecordingOs(const RecordingOs&) = delete;
  RecordingOs& operator=(const RecordingOs&) = delete;

  const barehip_os_table& table() const { return table_; }
  const barehip_os_table& inner() const { return inner_; }

  /// The lines so far.
  std::vector<std::string> lines() const;
  /// Names of the ioctls so far, in order: "GET_VERSION", ...
  std::vector<std::string> ioctl_names() const;
  void clear();

  void add(std::string line);

 private:
  const barehip_os_table& inner_;
  barehip_os_table table_;
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace barehip::kfd
