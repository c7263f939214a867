#include "tools/vgpu/doors/recording.h"

#include <fmt/format.h>
#include <string.h>

#include <charconv>
#include <fstream>
#include <map>
#include <string_view>

namespace vgpu {

namespace {

// "-> -22" as "-> EINVAL".
std::string with_errno_name(std::string_view line) {
  const size_t arrow = line.rfind(" -> -");
  if (arrow == line.npos) return std::string(line);
  int error = 0;
  const char* first = line.data() + arrow + sizeof " -> -" - 1;
  const auto [end, wrong] = std::from_chars(first, line.data() + line.size(), error);
  const char* name = wrong == std::errc{} && end == line.data() + line.size() ? strerrorname_np(error) : nullptr;
  return name == nullptr ? std::string(line) : std::string(line.substr(0, arrow)) + " -> " + name;
}

// The first word, and for requests the second.
std::string kind_of(std::string_view line) {
  size_t end = std::min(line.find(' '), line.size());
  if (line.starts_with("ioctl ") || line.starts_with("drm ")) end = std::min(line.find(' ', end + 1), line.size());
  return std::string(line.substr(0, end));
}

}  // namespace

int show_recording(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    fmt::print(stderr, "vgpu: cannot read '{}'\n", path);
    return 2;
  }
  std::map<std::string, size_t> counts;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    fmt::print("{:>6} {}\n", ++number, with_errno_name(line));
    ++counts[kind_of(line)];
  }
  fmt::print("\n");
  for (const auto& [kind, count] : counts) fmt::print("{:>6} {}\n", count, kind);
  return 0;
}

}  // namespace vgpu
