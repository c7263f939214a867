#include "tools/vgpu/kernel/ioctl.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/vgpu/kernel/in_model.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr bool in_of(std::string_view direction) { return direction.find('W') != direction.npos; }
constexpr bool out_of(std::string_view direction) { return direction.find('R') != direction.npos; }

constexpr bool privileged_of(std::string_view direction) { return direction.find('P') != direction.npos; }

constexpr IoctlRow kRows[] = {
#define KFD_IOCTL(number, name, type, direction, minor, handler, what)                                          \
  {number,  #name, sizeof(uapi::type), in_of(#direction), out_of(#direction), privileged_of(#direction), minor, \
   handler, what},
#include "tools/vgpu/kernel/ioctl_table.def"
#undef KFD_IOCTL
};

// CAP_CHECKPOINT_RESTORE, or the older way.
bool may_checkpoint() {
  constexpr unsigned kSysAdmin = 21, kCheckpointRestore = 40;
  FILE* status = fopen("/proc/self/status", "re");
  if (status == nullptr) return false;
  unsigned long long effective = 0;
  char line[256];
  while (fgets(line, sizeof line, status) != nullptr && sscanf(line, "CapEff: %llx", &effective) != 1) {
  }
  fclose(status);
  return (effective >> kSysAdmin & 1) != 0 || (effective >> kCheckpointRestore & 1) != 0;
}

}  // namespace

std::span<const IoctlRow> all_ioctls() { return kRows; }

const IoctlRow* find_ioctl(uint32_t number) {
  const auto row = std::ranges::find(kRows, number, &IoctlRow::number);
  return row == std::end(kRows) ? nullptr : row;
}

int Call::refuse(int error, const char* why) {
  kernel.machine().log.answered_by_default(std::string("KFD ") + name + ": " + why + caller_text());
  return error;
}

// Numbers that the reported version does not know. Before 1.11 (Linux 6.1) that was an invalid argument.
int Kernel::unknown_ioctl(unsigned number) {
  constexpr uint32_t kNoSuchRequestMinor = 11;
  const int error = machine_.options.kfd_minor < kNoSuchRequestMinor ? -EINVAL : -ENOTTY;
  if (machine_.trace.on()) machine_.trace.line(describe_unknown_ioctl(number, error));
  return error;
}

int Kernel::kfd_ioctl(const File& file, unsigned long request, void* arg) {
  const IoctlRow* row = find_ioctl(_IOC_NR(request));
  if (row == nullptr || row->min_minor > machine_.options.kfd_minor) return unknown_ioctl(_IOC_NR(request));
  // A descriptor that a child inherited names the parent's process.
  if (file.pid != getpid()) return -EBADF;
  if (row->privileged && !may_checkpoint()) return -EACCES;
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
