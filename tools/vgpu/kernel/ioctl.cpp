#include "tools/vgpu/kernel/ioctl.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr bool in_of(std::string_view direction) { return direction.find('W') != direction.npos; }
constexpr bool out_of(std::string_view direction) { return direction.find('R') != direction.npos; }

constexpr IoctlRow kRows[] = {
#define KFD_IOCTL(number, name, type, direction, minor, handler) \
  {number, #name, sizeof(uapi::type), in_of(#direction), out_of(#direction), minor, handler},
#include "tools/vgpu/kernel/ioctl_table.def"
#undef KFD_IOCTL
};

}  // namespace

const IoctlRow* find_ioctl(uint32_t number) {
  const auto row = std::ranges::find(kRows, number, &IoctlRow::number);
  return row == std::end(kRows) ? nullptr : row;
}

int Call::refuse(int error, const char* why) {
  kernel.machine().log.answered_by_default(std::string("KFD ") + name + ": " + why);
  return error;
}

int Kernel::kfd_ioctl(const File& file, unsigned long request, void* arg) {
  const IoctlRow* row = find_ioctl(_IOC_NR(request));
  if (row == nullptr || row->min_minor > machine_.options.kfd_minor) {
    if (machine_.trace.on()) machine_.trace.line(describe_unknown_ioctl(_IOC_NR(request)));
    return -ENOTTY;
  }
  // A descriptor that a child inherited names the parent's process.
  if (file.pid != getpid()) return -EBADF;
  if (interrupt_now()) return -EINTR;
  const size_t user_bytes = _IOC_SIZE(request);
  Call call{*this, current_process(), row->name, std::vector<std::byte>(std::max<size_t>(user_bytes, row->bytes)),
            user_bytes};
  const auto user = reinterpret_cast<uint64_t>(arg);
  if (row->in && !copy_from_user(call.bytes.data(), user, user_bytes)) return -EFAULT;
  const int result = row->handler(call);
  if (machine_.trace.on()) machine_.trace.line(describe_ioctl(row->name, call.bytes, result));
  if (row->out && !copy_to_user(user, call.bytes.data(), user_bytes)) return -EFAULT;
  return result;
}

}  // namespace vgpu
