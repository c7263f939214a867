// What a user sees, without asking for a log, when a GPU is there and cannot be used; and silence when there is none.
// Each case is a process of its own, as the library opens the GPUs once.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "kfd/os.h"
#include "runtime/core/runtime.h"
#include "tests/sim/captured_stderr.h"
#include "tests/sim/hip_test.h"

namespace {

const barehip_os_table* g_inner = nullptr;
std::string_view g_path_end;  ///< paths that end so cannot be opened
int g_errno = 0;

bool refused(const char* path) { return std::string_view(path).find(g_path_end) != std::string_view::npos; }

int open_refused(void*, const char* path, int flags) {
  return refused(path) ? -g_errno : g_inner->open(g_inner->self, path, flags);
}

int stat_group(void*, const char* path, barehip_os_stat* out) {
  if (!refused(path)) return g_inner->stat(g_inner->self, path, out);
  *out = {.mode = 020660, .uid = 0, .gid = 109, .rdev = 1};
  return 0;
}

int64_t read_groups(void*, const char* path, char* buffer, size_t cap) {
  constexpr std::string_view kGroups = "root:x:0:\nrender:x:109:\n";
  if (std::string_view(path) != "/etc/group") return g_inner->read_file(g_inner->self, path, buffer, cap);
  std::memcpy(buffer, kGroups.data(), std::min(cap, kGroups.size()));
  return static_cast<int64_t>(kGroups.size());
}

/// Opening what contains `path` fails with `error`.
void refuse(std::string_view path, int error) {
  auto inner = barehip::os_from_environment();
  REQUIRE(inner);
  g_inner = *inner;
  g_path_end = path;
  g_errno = error;
  static barehip_os_table table = **inner;
  table.open = open_refused;
  table.stat = stat_group;
  table.read_file = read_groups;
  barehip::runtime::Runtime::set_os_table(table);
}

/// What two calls of hipGetDeviceCount write to standard error.
std::string said(hipError_t expected) {
  sim::CapturedStderr captured;
  int count = 77;
  const hipError_t first = hipGetDeviceCount(&count);
  const hipError_t second = hipGetDeviceCount(&count);
  std::string text = captured.text();
  CHECK(first == expected);
  CHECK(second == expected);
  return text;
}

bool is_one_line(const std::string& text) { return std::count(text.begin(), text.end(), '\n') == 1; }
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("no permission names the group that has it") {
  refuse("/kfd", EACCES);
  const std::string text = said(hipErrorNoDevice);
  CAPTURE(text);
  CHECK(is_one_line(text));
  CHECK(text.starts_with("barehip: "));
  CHECK(has(text, "'render'"));
  CHECK(has(text, "--group-add 109"));
}

TEST_CASE("a hidden render node is named") {
  refuse("/dri/renderD", ENOENT);
  const std::string text = said(hipErrorNoDevice);
  CAPTURE(text);
  CHECK(is_one_line(text));
  CHECK(has(text, "/dri/renderD128 does not exist"));
  CHECK(has(text, "--device"));
}

TEST_CASE("a hidden kfd node is told from a machine without a GPU") {
  refuse("/kfd", ENOENT);
  const std::string text = said(hipErrorNoDevice);
  CAPTURE(text);
  CHECK(is_one_line(text));
  CHECK(has(text, "--device /dev/kfd"));
}

TEST_CASE("no GPU at all is silent") {
  refuse("/kfd", EINVAL);
  CHECK(said(hipErrorNoDevice) == "");
}

TEST_CASE("a provider library that is missing is named") {
  setenv("BAREHIP_DEVICES", "nowhere:gfx90a", 1);
  const std::string text = said(hipErrorNoDevice);
  CAPTURE(text);
  CHECK(is_one_line(text));
  CHECK(has(text, "libbarehip-nowhere.so"));
}

TEST_CASE("a spec that the provider does not know is named") {
  setenv("BAREHIP_DEVICES", "vgpu:gfx1", 1);
  const std::string text = said(hipErrorNoDevice);
  CAPTURE(text);
  CHECK(is_one_line(text));
  CHECK(has(text, "gfx1"));
}

TEST_CASE("AMD_LOG_LEVEL=0 silences it") {
  setenv("AMD_LOG_LEVEL", "0", 1);
  refuse("/kfd", EACCES);
  CHECK(said(hipErrorNoDevice) == "");
}
