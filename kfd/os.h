// The only door to the operating system. Everything in barehip that would make a system call about a GPU
// calls through an OsTable. Behind it stand the real kernel (kfd/os_linux.cpp), a simulated one (a provider
// library, see os_provider_fn), a recorder, and a table for tests whose n-th call fails.
//
// It is plain C on purpose: a provider library may be built by another compiler. Every function returns a
// negative errno on failure (never -1 with errno), is thread safe, and may be called from any thread. `self`
// is the table's own first member and is passed back unchanged. The table outlives everything opened through
// it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct drm_amdgpu_info_device;

/// What stat(2) of a device node tells that matters for an error text.
struct barehip_os_stat {
  uint32_t mode;  ///< st_mode
  uint32_t uid;
  uint32_t gid;
  uint64_t rdev;  ///< device number, 0 for what is not a device
};

#define BAREHIP_OS_TABLE_VERSION 1u

struct barehip_os_table {
  void* self;
  uint32_t version;  ///< BAREHIP_OS_TABLE_VERSION; a provider with another version is refused
  uint32_t reserved;

  /// Where the KFD topology lies, and the folder of kfd and dri/. Values, so that tests and containers move
  /// them.
  const char* topology_root;  ///< "/sys/devices/virtual/kfd/kfd/topology"
  const char* dev_root;       ///< "/dev"

  /// open(2); O_CLOEXEC is always added. Returns a file descriptor (a real number of this process, that may
  /// be compared, but used only through this table).
  int (*open)(void* self, const char* path, int flags);
  int (*close)(void* self, int fd);
  /// ioctl(2) without restarting: -EINTR and -EAGAIN are returned to the caller, which restarts.
  int (*ioctl)(void* self, int fd, unsigned long request, void* arg);
  /// mmap(2). On success 0 and *out; on failure a negative errno and *out untouched. `offset` is unsigned:
  /// KFD offsets have bit 63 set.
  int (*mmap)(void* self, void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out);
  int (*munmap)(void* self, void* addr, size_t length);
  int (*madvise)(void* self, void* addr, size_t length, int advice);

  /// Reads a whole (sysfs) file into buf. Returns the file's length; when it is more than cap, nothing past
  /// cap is written and the caller tries again.
  int64_t (*read_file)(void* self, const char* path, char* buf, size_t cap);
  /// Calls `each` for every entry of a folder except . and .. (any order) until it returns non-zero.
  int (*list_dir)(void* self, const char* path, int (*each)(void* user, const char* name), void* user);
  int (*stat)(void* self, const char* path, struct barehip_os_stat* out);

  /// clock_gettime(2) in nanoseconds.
  uint64_t (*clock_ns)(void* self, int clock_id);

  /// AMDGPU_INFO_DEV_INFO of an open render node (libdrm_amdgpu serves it on a real system). Fills at most
  /// `size` bytes of *out (the kernel's struct may be shorter or longer) and returns 0.
  int (*gpu_info)(void* self, int render_fd, struct drm_amdgpu_info_device* out, size_t size);
};

/// A provider library exports this under the name "barehip_os_provider". `spec` is what follows the colon in
/// BAREHIP_DEVICES=vgpu:gfx90a,vgpu:gfx1100 (all specs of that provider, joined by commas). On failure it
/// returns null and writes a text for the user to `error`. The table lives until process exit.
typedef const struct barehip_os_table* (*barehip_os_provider_fn)(const char* spec, char* error, size_t error_cap);

#ifdef __cplusplus
}  // extern "C"
#endif
