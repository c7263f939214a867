// RAII and whole-file reading over the OS table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <barehip/error.h>

#include "kfd/os.h"

namespace barehip::kfd {

/// Owner of one descriptor of an OS table.
class Fd {
 public:
  Fd() = default;
  Fd(const barehip_os_table* os, int fd) : os_(os), fd_(fd) {}
  Fd(Fd&& other) noexcept : os_(other.os_), fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(os_, other.os_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) os_->close(os_->self, fd_);
  }
  int get() const { return fd_; }

 private:
  const barehip_os_table* os_ = nullptr;
  int fd_ = -1;
};

/// open(2) restarted after EINTR; a negative errno on failure.
int open_restarting(const barehip_os_table& os, const std::string& path, int flags);

/// The whole file, or a negative errno in `rc` of the result's sys_errno. The text names the file.
Result<std::string> read_whole_file(const barehip_os_table& os, const std::string& path);

/// Names of a folder's entries that are decimal numbers, sorted by value. Error kSystem (ENOENT when there is
/// none).
Result<std::vector<uint32_t>> list_numbered(const barehip_os_table& os, const std::string& path);

}  // namespace barehip::kfd
