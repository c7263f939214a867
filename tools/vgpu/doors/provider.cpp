// libbarehip-vgpu.so: the simulated machine behind the seam kfd/os.h, in the process of its client.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "kfd/os.h"
#include "tools/vgpu/doors/device_nodes.h"
#include "tools/vgpu/kernel/kernel.h"

namespace {

using vgpu::Kernel;

constexpr char kTopologyRoot[] = "/vgpu/topology";
constexpr char kDevRoot[] = "/vgpu/dev";
// Lives until the process ends: descriptors and threads of the client may use it during exit.
Kernel* kernel = nullptr;
const std::string* chosen = nullptr;  // the spec that it was made from
const std::vector<vgpu::DeviceNode>* nodes = nullptr;

bool starts_with(std::string_view text, std::string_view prefix) { return text.starts_with(prefix); }

/// The device node that a path names; null when it does not exist.
const vgpu::DeviceNode* node_of(std::string_view path) {
  if (!starts_with(path, kDevRoot)) return nullptr;
  path.remove_prefix(sizeof kDevRoot - 1);
  if (!path.starts_with('/')) return nullptr;
  return vgpu::find_node(*nodes, path.substr(1));
}

/// The path relative to the topology's root; null when it lies elsewhere.
const char* in_topology(const char* path) {
  if (!starts_with(path, kTopologyRoot)) return nullptr;
  const char* rest = path + sizeof kTopologyRoot - 1;
  return *rest == '\0' || *rest == '/' ? rest : nullptr;
}

int do_open(void*, const char* path, int flags) {
  const vgpu::DeviceNode* node = node_of(path);
  if (node == nullptr) return -ENOENT;
  if (node->open_error != 0) return -node->open_error;
  if (node->render_minor < 0) return kernel->open_kfd(flags | O_CLOEXEC);
  return kernel->open_render(node->minor, flags | O_CLOEXEC);
}

int do_close(void*, int fd) { return kernel->close(fd); }
int do_ioctl(void*, int fd, unsigned long request, void* arg) { return kernel->ioctl(fd, request, arg); }

int do_mmap(void*, void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out) {
  if (fd >= 0 && kernel->owns(fd)) return kernel->mmap(addr, length, prot, flags, fd, offset, out);
  if ((flags & MAP_FIXED) != 0) kernel->forget_range(addr, length);
  void* mapped = mmap(addr, length, prot, flags, fd, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return -errno;
  *out = mapped;
  return 0;
}

int do_munmap(void*, void* addr, size_t length) {
  kernel->forget_range(addr, length);
  return munmap(addr, length) == 0 ? 0 : -errno;
}

int do_madvise(void*, void* addr, size_t length, int advice) { return madvise(addr, length, advice) == 0 ? 0 : -errno; }

int64_t do_read_file(void*, const char* path, char* buf, size_t cap) {
  const char* relative = in_topology(path);
  if (relative == nullptr) return -ENOENT;
  if (vgpu::unreadable(kernel->machine(), relative)) return -EPERM;
  const std::string* content = kernel->machine().topology.file(relative);
  if (content == nullptr) return kernel->machine().topology.is_folder(relative) ? -EISDIR : -ENOENT;
  memcpy(buf, content->data(), std::min(cap, content->size()));
  return static_cast<int64_t>(content->size());
}

int list_names(const std::vector<std::string>& names, int (*each)(void*, const char*), void* user) {
  for (const std::string& name : names) {
    if (each(user, name.c_str()) != 0) break;
  }
  return 0;
}

int do_list_dir(void*, const char* path, int (*each)(void*, const char*), void* user) {
  if (const char* relative = in_topology(path)) {
    const auto& tree = kernel->machine().topology;
    if (!tree.is_folder(relative)) return tree.file(relative) != nullptr ? -ENOTDIR : -ENOENT;
    return list_names(tree.list(relative), each, user);
  }
  const std::string_view name(path);
  const bool in_dri = name == std::string(kDevRoot) + "/dri";
  if (!in_dri && name != kDevRoot) return -ENOENT;
  std::vector<std::string> names;
  bool dri = false;
  for (const vgpu::DeviceNode& node : *nodes) {
    const bool render = node.render_minor >= 0;
    if (render == in_dri) names.push_back(node.name.substr(render ? sizeof "dri" : 0));
    dri |= render;
  }
  if (in_dri && !dri) return -ENOENT;
  if (!in_dri && dri) names.emplace_back("dri");
  return list_names(names, each, user);
}

int do_stat(void*, const char* path, barehip_os_stat* out) {
  barehip_os_stat result{};
  if (const vgpu::DeviceNode* node = node_of(path)) {
    result.mode = node->mode;
    result.gid = node->gid;
    result.rdev = uint64_t{node->major} << 8 | node->minor;
  } else if (const char* relative = in_topology(path)) {
    const auto& tree = kernel->machine().topology;
    if (tree.file(relative) != nullptr)
      result.mode = S_IFREG | 0444;
    else if (tree.is_folder(relative))
      result.mode = S_IFDIR | 0755;
    else
      return -ENOENT;
  } else if (std::string_view(path) == kDevRoot || std::string_view(path) == std::string(kDevRoot) + "/dri") {
    result.mode = S_IFDIR | 0755;
  } else {
    return -ENOENT;
  }
  *out = result;
  return 0;
}

uint64_t do_clock_ns(void*, int clock_id) {
  timespec t;
  if (clock_gettime(clock_id, &t) != 0) return 0;
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

int do_gpu_info(void*, int render_fd, drm_amdgpu_info_device* out, size_t size) {
  const auto file = kernel->drm_file(render_fd);
  return file == nullptr ? -EBADF : vgpu::drm_device_info(*file->gpu, out, size);
}

barehip_os_table table = {
    .self = &table,
    .version = BAREHIP_OS_TABLE_VERSION,
    .reserved = 0,
    .topology_root = kTopologyRoot,
    .dev_root = kDevRoot,
    .open = do_open,
    .close = do_close,
    .ioctl = do_ioctl,
    .mmap = do_mmap,
    .munmap = do_munmap,
    .madvise = do_madvise,
    .read_file = do_read_file,
    .list_dir = do_list_dir,
    .stat = do_stat,
    .clock_ns = do_clock_ns,
    .gpu_info = do_gpu_info,
};

void say(char* error, size_t cap, const std::string& text) {
  if (cap != 0) snprintf(error, cap, "%s", text.c_str());
}

}  // namespace

/// See kfd/os.h. One machine per process: a second call with another spec is refused.
extern "C" __attribute__((visibility("default"))) const barehip_os_table* barehip_os_provider(const char* spec,
                                                                                              char* error,
                                                                                              size_t error_cap) {
  if (kernel != nullptr) {
    if (*chosen == spec) return &table;
    say(error, error_cap, "this process already has a simulated machine, made from '" + *chosen + "'");
    return nullptr;
  }
  auto options = vgpu::parse_options(spec);
  if (!options) {
    say(error, error_cap, options.error());
    return nullptr;
  }
  chosen = new std::string(spec);
  kernel = new Kernel(*std::move(options));
  nodes = new std::vector<vgpu::DeviceNode>(vgpu::device_nodes(kernel->machine()));
  const auto after = [] { kernel->after_fork(); };
  pthread_atfork([] { kernel->before_fork(); }, after, after);
  return &table;
}

/// Requests that the model answered by a default, one a line. Returns how many there are. For tests.
extern "C" __attribute__((visibility("default"))) size_t barehip_vgpu_defaults(char* text, size_t cap) {
  if (kernel == nullptr) return 0;
  std::string all;
  const auto defaults = kernel->machine().log.defaults();
  for (const std::string& each : defaults) all += each + "\n";
  say(text, cap, all);
  return defaults.size();
}
