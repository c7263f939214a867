#include "tools/vgpu/doors/preload_model.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>

#include "tools/vgpu/doors/device_nodes.h"
#include "tools/vgpu/doors/fake_root.h"
#include "tools/vgpu/kernel/in_model.h"

namespace vgpu::preload {

namespace {

constexpr int kMostDescriptors = 1 << 16;
constexpr std::string_view kRenderPrefix = "/dev/dri/renderD";
constexpr std::string_view kTopologyPlaces[] = {"/sys/devices/virtual/kfd/kfd/topology/",
                                                "/sys/class/kfd/kfd/topology/"};

std::atomic<bool> ours[kMostDescriptors], unreadable_files[kMostDescriptors];
std::atomic<bool> opened_any{false};
pthread_once_t once = PTHREAD_ONCE_INIT;
Kernel* the_kernel = nullptr;  // never destroyed: threads may use it while the process exits
const std::string* the_root = nullptr;
std::atomic<pid_t> home{0};  // the process whose memory this is
const std::vector<DeviceNode>* the_nodes = nullptr;

void make_kernel() {
  const char* spec = getenv(kEnvSpec);
  const char* root = getenv(kEnvRoot);
  if (spec == nullptr || root == nullptr) return;
  const InModel inside;
  auto options = parse_options(spec);
  if (!options) return;
  options->defaults_path = std::string(root) + kDefaultsFile;
  options->shared_folder = std::string(root) + kStoresFolder;
  the_root = new std::string(root);
  the_kernel = new Kernel(*std::move(options));
  the_nodes = new std::vector<DeviceNode>(device_nodes(the_kernel->machine()));
  home = getpid();
  pthread_atfork([] { the_kernel->before_fork(); }, [] { the_kernel->after_fork(); },
                 [] {
                   home = getpid();
                   the_kernel->after_fork();
                 });
}

/// The device node that a path names; null when it does not exist.
const DeviceNode* node_of(std::string_view path) {
  constexpr std::string_view kDev = "/dev/";
  return path.starts_with(kDev) ? find_node(*the_nodes, path.substr(kDev.size())) : nullptr;
}

void fill_stat(const DeviceNode& node, struct stat* out) {
  memset(out, 0, sizeof *out);
  out->st_mode = node.mode;
  out->st_gid = node.gid;
  out->st_nlink = 1;
  out->st_rdev = makedev(node.major, node.minor);
  out->st_ino = 0x100000 + node.minor;
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

int mark(int fd, bool unreadable) {
  if (fd >= 0 && fd < kMostDescriptors && unreadable_files[fd].load(std::memory_order_relaxed) != unreadable)
    unreadable_files[fd] = unreadable;
  return fd;
}

bool is_unreadable(int fd) {
  return fd >= 0 && fd < kMostDescriptors && unreadable_files[fd].load(std::memory_order_relaxed);
}

void forget_descriptors(unsigned first, unsigned last) {
  if (!opened_any.load(std::memory_order_relaxed) || in_borrowed_memory()) return;
  const InModel inside;
  for (unsigned fd = first; fd <= last && fd < kMostDescriptors; ++fd) {
    unreadable_files[fd].store(false, std::memory_order_relaxed);
    if (ours[fd].exchange(false)) kernel()->forget_descriptor(static_cast<int>(fd));
  }
}

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
  if (device) return PathKind::kDevice;
  const std::string_view text(path);
  for (const std::string_view topology : kTopologyPlaces) {
    if (text.starts_with(topology) && unreadable(the_kernel->machine(), text.substr(topology.size())))
      return PathKind::kUnreadable;
  }
  return PathKind::kRedirect;
}

int open_device(const char* path, int flags) {
  const InModel inside;
  const DeviceNode* node = node_of(path);
  if (node == nullptr) return result(-ENOENT);
  if (node->open_error != 0) return result(-node->open_error);
  if (node->render_minor < 0) return track(kernel()->open_kfd(flags));
  return track(kernel()->open_render(node->minor, flags));
}

bool in_borrowed_memory() { return getpid() != home.load(std::memory_order_relaxed); }

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
  const DeviceNode* node = node_of(path);
  if (node == nullptr) return false;
  fill_stat(*node, out);
  return true;
}

int device_access(const char* path) {
  const DeviceNode* node = node_of(path);
  if (node == nullptr) return -ENOENT;
  return node->open_error == EACCES ? -EACCES : 0;  // the device cgroup is asked by open only
}

void fd_stat(int fd, struct stat* out) {
  const int minor = kernel()->render_minor(fd);
  for (const DeviceNode& node : *the_nodes) {
    if (node.render_minor == (minor < 0 ? -1 : minor)) fill_stat(node, out);
  }
}

}  // namespace vgpu::preload
