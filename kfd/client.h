// Typed calls of the KFD ioctls, one member for each row of ioctls.def that barehip issues.
#pragma once

#include <string>

#include <barehip/error.h>

#include "kfd/os.h"
#include "kfd/uapi.h"

namespace barehip::kfd {

/// Borrowed descriptor of /dev/kfd and the table that opened it. Copyable, thread safe. Every call returns 0
/// or a negative errno, and restarts after EINTR and EAGAIN.
class Client {
 public:
  Client() = default;
  Client(const barehip_os_table* os, int fd) : os_(os), fd_(fd) {}

#define KFD_IOCTL(NAME, name, nr, direction, minor) \
  int name(uapi::name##_args& args) const { return call(uapi::k##NAME, &args); }
#define KFD_FIELD(ioctl, type, field, way, format)
#define KFD_IOCTL_END(name)
#define KFD_REFUSED(NAME, nr, direction, bytes, minor, why)
#include "kfd/ioctls.def"

  int fd() const { return fd_; }

 private:
  int call(uint32_t command, void* args) const;

  const barehip_os_table* os_ = nullptr;
  int fd_ = -1;
};

/// The error of a call that returned `rc` (a negative errno). `operation` is the call's name, `what` a clause
/// that says to what it was done ("allocating 4096 bytes of VRAM on gfx90a"); the text adds the errno's
/// meaning.
Error call_error(const char* operation, int rc, const std::string& what);

inline std::unexpected<Error> call_failed(const char* operation, int rc, const std::string& what) {
  return std::unexpected<Error>(call_error(operation, rc, what));
}

/// "0x1000".
std::string hex_text(uint64_t value);

/// "ENOMEM (Cannot allocate memory)"; takes a positive errno, also the kernel's own 524.
std::string errno_text(int positive_errno);

}  // namespace barehip::kfd
