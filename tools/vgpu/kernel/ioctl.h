// One /dev/kfd request on its way through the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/vgpu/kernel/kernel.h"
#include "tools/vgpu/kernel/uapi.h"

namespace vgpu {

/// The arguments are copied in as the kernel copies them: what the client's struct lacks is zero, and only the client's
/// size is copied back, also when the request failed.
struct Call {
  Kernel& kernel;
  Process& process;
  const char* name;
  std::vector<std::byte> bytes;
  size_t user_bytes;

  template <class T>
  T& as() {
    return *reinterpret_cast<T*>(bytes.data());
  }
  /// Notes that the real driver serves this and the model does not, and passes the errno on.
  int refuse(int error, const char* why);
};

struct IoctlRow {
  uint32_t number;
  const char* name;
  uint32_t bytes;      ///< of the kernel's own struct
  bool in, out;        ///< directions of the kernel's own command
  bool privileged;     ///< only with CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN
  uint32_t min_minor;  ///< KFD 1.x that first had it
  int (*handler)(Call&);
  const char* what;  ///< for the table of `vgpu kfd`: what the model does
};

std::span<const IoctlRow> all_ioctls();

const IoctlRow* find_ioctl(uint32_t number);

// The handlers, one family a file.
#define KFD_IOCTL(number, name, type, direction, minor, handler, what) int handler(Call& call);
#include "tools/vgpu/kernel/ioctl_table.def"
#undef KFD_IOCTL

}  // namespace vgpu
