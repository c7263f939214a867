#include "tools/vgpu/kernel/log.h"

#include <fcntl.h>
#include <unistd.h>

namespace vgpu {

void Log::write(const std::string& line) {
  const int fd = path_.empty() ? STDERR_FILENO : open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
  if (!path_.empty()) close(fd);
}

void Log::report(const std::string& text) { write("vgpu: " + text + "\n"); }

void Log::answered_by_default(const std::string& what) {
  std::lock_guard lock(mutex_);
  if (!defaults_.insert(what).second) return;
  if (!path_.empty()) write("vgpu: answered by a default: " + what + "\n");
}

std::vector<std::string> Log::defaults() const {
  std::lock_guard lock(mutex_);
  return {defaults_.begin(), defaults_.end()};
}

}  // namespace vgpu
