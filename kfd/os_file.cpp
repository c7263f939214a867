#include "kfd/os_file.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "kfd/client.h"

namespace barehip::kfd {

int open_restarting(const barehip_os_table& os, const std::string& path, int flags) {
  for (;;) {
    const int fd = os.open(os.self, path.c_str(), flags);
    if (fd != -EINTR) return fd;
  }
}

Result<std::string> read_whole_file(const barehip_os_table& os, const std::string& path) {
  std::string text(4096, '\0');
  for (;;) {
    const int64_t length = os.read_file(os.self, path.c_str(), text.data(), text.size());
    if (length == -EINTR) continue;
    if (length < 0) return call_failed("read file", static_cast<int>(length), "reading " + path);
    const bool whole = static_cast<size_t>(length) <= text.size();
    text.resize(static_cast<size_t>(length));
    if (whole) return text;
  }
}

Result<std::vector<uint32_t>> list_numbered(const barehip_os_table& os, const std::string& path) {
  std::vector<uint32_t> numbers;
  const auto each = [](void* user, const char* name) {
    uint32_t value = 0;
    const char* end = name + strlen(name);
    const auto [stop, error] = std::from_chars(name, end, value);
    if (error == std::errc() && stop == end) static_cast<std::vector<uint32_t>*>(user)->push_back(value);
    return 0;
  };
  const int rc = os.list_dir(os.self, path.c_str(), each, &numbers);
  if (rc < 0) return call_failed("list folder", rc, "listing " + path);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace barehip::kfd
