#include "tools/vgpu/doors/preload_model.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <charconv>

#include "tools/vgpu/doors/fake_root.h"
#include "tools/vgpu/kernel/in_model.h"

namespace vgpu::preload {

namespace {

constexpr int kMostDescriptors = 1 << 16;
constexpr unsigned kDrmMajor = 226, kKfdMajor = 510;
constexpr std::string_view kRenderPrefix = "/dev/dri/renderD";

std::atomic<bool> ours[kMostDescriptors];
std::atomic<bool> opened_any{false};
pthread_once_t once = PTHREAD_ONCE_INIT;
Kernel* the_kernel = nullptr;  // never destroyed: threads may use it while the process exits
const std::string* the_root = nullptr;

void make_kernel() {
  const char* spec = getenv(kEnvSpec);
  const char* root = getenv(kEnvRoot);
  if (spec == nullptr || root == nullptr) return;
  const InModel inside;
  auto options = parse_options(spec);
  if (!options) return;
  options->defaults_path = std::string(root) + kDefaultsFile;
  the_root = new std::string(root);
  the_kernel = new Kernel(*std::move(options));
  const auto after = [] { the_kernel->after_fork(); };
  pthread_atfork([] { the_kernel->before_fork(); }, after, after);
}

int render_minor_of(std::string_view path) {
  if (!path.starts_with(kRenderPrefix)) return -1;
  path.remove_prefix(kRenderPrefix.size());
  int minor = -1;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), minor);
  return error == std::errc{} && end == path.data() + path.size() ? minor : -1;
}

bool has_render(int minor) {
  for (const Gpu& gpu : kernel()->machine().gpus) {
    if (static_cast<int>(gpu.render_minor) == minor) return true;
  }
  return false;
}

void fill_stat(unsigned major_number, unsigned minor_number, struct stat* out) {
  memset(out, 0, sizeof *out);
  out->st_mode = S_IFCHR | 0666;
  out->st_nlink = 1;
  out->st_rdev = makedev(major_number, minor_number);
  out->st_ino = 0x100000 + minor_number;
}

int track(int fd) {
  if (fd >= 0 && fd < kMostDescriptors) ours[fd] = true;
  opened_any = true;
  return result(fd);
}

}  // namespace

Kernel* kernel() {
  pthread_once(&once, make_kernel);
  return the_kernel;
}

int result(int value) {
  if (value >= 0) return value;
  errno = -value;
  return -1;
}

bool is_ours(int fd) { return fd >= 0 && fd < kMostDescriptors && ours[fd].load(std::memory_order_relaxed); }

bool has_mappings() { return opened_any.load(std::memory_order_relaxed); }

PathKind classify(const char* path, std::string& redirected) {
  if (path == nullptr || path[0] != '/' || in_model_depth != 0) return PathKind::kOther;
  const bool optional = may_belong_to_fake_root(path);
  if (!optional && !belongs_to_fake_root(path)) return PathKind::kOther;
  if (kernel() == nullptr) return PathKind::kOther;
  redirected = *the_root + path;
  if (optional) {
    const InModel inside;
    return access(redirected.c_str(), F_OK) == 0 ? PathKind::kRedirect : PathKind::kOther;
  }
  const bool device = strcmp(path, "/dev/kfd") == 0 || std::string_view(path).starts_with(kRenderPrefix);
  return device ? PathKind::kDevice : PathKind::kRedirect;
}

int open_device(const char* path, int flags) {
  const InModel inside;
  if (strcmp(path, "/dev/kfd") == 0) return track(kernel()->open_kfd(flags));
  const int minor = render_minor_of(path);
  return minor < 0 ? result(-ENOENT) : track(kernel()->open_render(static_cast<uint32_t>(minor), flags));
}

int close_device(int fd) {
  const InModel inside;
  ours[fd] = false;
  return result(kernel()->close(fd));
}

void adopt_duplicate(int fd, int copy) {
  const InModel inside;
  if (copy < 0) return;
  kernel()->adopt_duplicate(fd, copy);
  track(copy);
}

bool device_stat(const char* path, struct stat* out) {
  if (strcmp(path, "/dev/kfd") == 0) {
    fill_stat(kKfdMajor, 0, out);
    return true;
  }
  const int minor = render_minor_of(path);
  if (minor < 0 || !has_render(minor)) return false;
  fill_stat(kDrmMajor, static_cast<unsigned>(minor), out);
  return true;
}

void fd_stat(int fd, struct stat* out) {
  const int minor = kernel()->render_minor(fd);
  if (minor < 0)
    fill_stat(kKfdMajor, 0, out);
  else
    fill_stat(kDrmMajor, static_cast<unsigned>(minor), out);
}

}  // namespace vgpu::preload
