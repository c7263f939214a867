#include "kfd/os_linux.h"

#include <amdgpu.h>
#include <amdgpu_drm.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace barehip::kfd {
namespace {

int result(long rc) { return rc < 0 ? -errno : static_cast<int>(rc); }

int linux_open(void*, const char* path, int flags) { return result(::open(path, flags | O_CLOEXEC)); }
int linux_close(void*, int fd) { return result(::close(fd)); }
int linux_ioctl(void*, int fd, unsigned long request, void* arg) { return result(::ioctl(fd, request, arg)); }

int linux_mmap(void*, void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out) {
  void* p = ::mmap(addr, length, prot, flags, fd, static_cast<off_t>(offset));
  if (p == MAP_FAILED) return -errno;
  *out = p;
  return 0;
}

int linux_munmap(void*, void* addr, size_t length) { return result(::munmap(addr, length)); }
int linux_madvise(void*, void* addr, size_t length, int advice) { return result(::madvise(addr, length, advice)); }

// Sysfs reports its own size as 4096 whatever it holds, so the length comes from reading to the end.
int64_t linux_read_file(void*, const char* path, char* buf, size_t cap) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int64_t total = 0;
  char overflow[4096];
  for (;;) {
    const size_t at = static_cast<size_t>(total);
    char* to = at < cap ? buf + at : overflow;
    const size_t room = at < cap ? cap - at : sizeof overflow;
    const ssize_t n = ::read(fd, to, room);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int saved = errno;
      ::close(fd);
      return -saved;
    }
    if (n == 0) break;
    total += n;
  }
  ::close(fd);
  return total;
}

int linux_list_dir(void*, const char* path, int (*each)(void* user, const char* name), void* user) {
  DIR* dir = ::opendir(path);
  if (dir == nullptr) return -errno;
  int rc = 0;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(dir);
    if (entry == nullptr) {
      rc = -errno;
      break;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (each(user, entry->d_name) != 0) break;
  }
  ::closedir(dir);
  return rc;
}

int linux_stat(void*, const char* path, barehip_os_stat* out) {
  struct stat st{};
  if (::stat(path, &st) != 0) return -errno;
  *out = {st.st_mode, st.st_uid, st.st_gid, st.st_rdev};
  return 0;
}

uint64_t linux_clock_ns(void*, int clock_id) {
  timespec t{};
  ::clock_gettime(clock_id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

// libdrm works on a duplicate of the descriptor, which shares its open file; nothing of it stays.
int linux_gpu_info(void*, int render_fd, drm_amdgpu_info_device* out, size_t size) {
  uint32_t major = 0, minor = 0;
  amdgpu_device_handle device = nullptr;
  int rc = amdgpu_device_initialize(render_fd, &major, &minor, &device);
  if (rc != 0) return rc < 0 ? rc : -rc;
  rc = amdgpu_query_info(device, AMDGPU_INFO_DEV_INFO, static_cast<unsigned>(size), out);
  amdgpu_device_deinitialize(device);
  return rc <= 0 ? rc : -rc;
}

constexpr barehip_os_table kTable = {
    .self = nullptr,
    .version = BAREHIP_OS_TABLE_VERSION,
    .reserved = 0,
    .topology_root = "/sys/devices/virtual/kfd/kfd/topology",
    .dev_root = "/dev",
    .open = linux_open,
    .close = linux_close,
    .ioctl = linux_ioctl,
    .mmap = linux_mmap,
    .munmap = linux_munmap,
    .madvise = linux_madvise,
    .read_file = linux_read_file,
    .list_dir = linux_list_dir,
    .stat = linux_stat,
    .clock_ns = linux_clock_ns,
    .gpu_info = linux_gpu_info,
};

}  // namespace

const barehip_os_table* os_linux() { return &kTable; }

}  // namespace barehip::kfd
