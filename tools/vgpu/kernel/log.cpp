#include "tools/vgpu/kernel/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tools/vgpu/kernel/in_model.h"

namespace vgpu {

// One write(2) a line: several processes may append to one file.
void Log::append(const std::string& path, const std::string& line) {
  const int fd = path.empty() ? STDERR_FILENO : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
  if (!path.empty()) close(fd);
}

void Log::report(const std::string& text) { append(path_, "vgpu: " + text + "\n"); }

void Log::answered_by_default(const std::string& what) {
  std::lock_guard lock(mutex_);
  if (!defaults_.insert(what).second) return;
  if (!path_.empty()) append(path_, "vgpu: answered by a default: " + what + "\n");
  if (!defaults_path_.empty()) append(defaults_path_, what + "\n");
}

std::vector<std::string> Log::defaults() const {
  std::lock_guard lock(mutex_);
  return {defaults_.begin(), defaults_.end()};
}

std::string caller_text() {
  std::string text = std::string(" (asked by ") + program_invocation_short_name;
  Dl_info info{};
  if (request_caller != nullptr && dladdr(request_caller, &info) != 0 && info.dli_fname != nullptr) {
    const std::string_view path = info.dli_fname;
    text += ", " + std::string(path.substr(path.rfind('/') + 1));
  }
  return text + ")";
}

}  // namespace vgpu
