// libvgpu-preload.so: puts the simulated machine behind the C library's system calls of a program that is not ours.
// Each function asks whose path or descriptor it got, and passes everything that is not the model's to the next
// library.

// Both names of each pair (open and open64) are defined below, so neither may stand for the other.
#undef _FILE_OFFSET_BITS

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "tools/vgpu/doors/preload_calls.h"

namespace {

namespace model = vgpu::preload;
using model::ours;
using model::PathKind;

constexpr bool needs_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

/// What open() and its relatives do with a path. Returns false when it is not ours; then *path may have been
/// redirected, and `unreadable` says whether what is opened must not be read.
bool open_ours(const char*& path, std::string& storage, int flags, int& fd, bool& unreadable) {
  const PathKind kind = model::classify(path, storage);
  unreadable = kind == PathKind::kUnreadable;
  switch (kind) {
    case PathKind::kOther: return false;
    case PathKind::kUnreadable:
    case PathKind::kRedirect: path = storage.c_str(); return false;
    case PathKind::kDevice: fd = model::open_device(path, flags); return true;
  }
  return false;
}

/// Redirects a path for a call that looks at a file.
const char* redirect(const char* path, std::string& storage) {
  return model::classify(path, storage) == PathKind::kOther ? path : storage.c_str();
}

mode_t mode_of(int flags, va_list& list) { return needs_mode(flags) ? va_arg(list, mode_t) : 0; }

bool stat_ours(const char*& path, std::string& storage, struct stat* out, int& status) {
  switch (model::classify(path, storage)) {
    case PathKind::kOther: return false;
    case PathKind::kUnreadable:
    case PathKind::kRedirect: path = storage.c_str(); return false;
    case PathKind::kDevice: status = model::device_stat(path, out) ? 0 : model::result(-ENOENT); return true;
  }
  return false;
}

int duplicated(int fd, int copy) {
  if (ours(fd) && copy >= 0 && !model::in_borrowed_memory()) model::adopt_duplicate(fd, copy);
  return copy;
}

void* map(void* address, size_t length, int prot, int flags, int fd, off64_t offset) {
  NEXT(mmap64);
  if (vgpu::in_model_depth != 0) return real(address, length, prot, flags, fd, offset);
  if (model::is_ours(fd)) {
    const vgpu::InModel inside;
    void* out = MAP_FAILED;
    const int error = model::kernel()->mmap(address, length, prot, flags, fd, static_cast<uint64_t>(offset), &out);
    if (error != 0) errno = -error;
    return error == 0 ? out : MAP_FAILED;
  }
  if ((flags & MAP_FIXED) != 0 && model::has_mappings()) {
    const vgpu::InModel inside;
    model::kernel()->forget_range(address, length);
  }
  return real(address, length, prot, flags, fd, offset);
}

}  // namespace

// ---- opening -------------------------------------------------------------------------------------------------

#define OPEN(name)                                                  \
  EXPORT int name(const char* path, int flags, ...) {               \
    NEXT(name);                                                     \
    va_list list;                                                   \
    va_start(list, flags);                                          \
    const mode_t mode = mode_of(flags, list);                       \
    va_end(list);                                                   \
    std::string storage;                                            \
    int fd = -1;                                                    \
    bool unreadable = false;                                        \
    if (open_ours(path, storage, flags, fd, unreadable)) return fd; \
    return model::mark(real(path, flags, mode), unreadable);        \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                 \
  EXPORT int name(int folder, const char* path, int flags, ...) {    \
    NEXT(name);                                                      \
    va_list list;                                                    \
    va_start(list, flags);                                           \
    const mode_t mode = mode_of(flags, list);                        \
    va_end(list);                                                    \
    std::string storage;                                             \
    int fd = -1;                                                     \
    bool unreadable = false;                                         \
    if (open_ours(path, storage, flags, fd, unreadable)) return fd;  \
    return model::mark(real(folder, path, flags, mode), unreadable); \
  }
OPENAT(openat)
OPENAT(openat64)

// The checked forms that _FORTIFY_SOURCE makes of open(path, flags).
#define OPEN_2(name, plain)                     \
  EXPORT int name(const char* path, int flags); \
  EXPORT int name(const char* path, int flags) { return plain(path, flags); }
OPEN_2(__open_2, open)
OPEN_2(__open64_2, open64)

namespace {

/// A file that opens and whose reading is forbidden, as the device cgroup does it.
FILE* unreadable_stream(const char* mode) {
  cookie_io_functions_t functions{};
  functions.read = [](void*, char*, size_t) -> ssize_t {
    errno = EPERM;
    return -1;
  };
  return fopencookie(nullptr, mode, functions);
}

}  // namespace

#define FOPEN(name)                                                                              \
  EXPORT FILE* name(const char* path, const char* mode) {                                        \
    NEXT(name);                                                                                  \
    std::string storage;                                                                         \
    if (model::classify(path, storage) == PathKind::kUnreadable) return unreadable_stream(mode); \
    return real(redirect(path, storage), mode);                                                  \
  }
FOPEN(fopen)
FOPEN(fopen64)

EXPORT DIR* opendir(const char* path) {
  NEXT(opendir);
  std::string storage;
  return real(redirect(path, storage));
}

// ---- looking -------------------------------------------------------------------------------------------------

EXPORT int access(const char* path, int mode) {
  NEXT(access);
  std::string storage;
  if (model::classify(path, storage) == PathKind::kDevice) return model::result(model::device_access(path));
  return real(redirect(path, storage), mode);
}

EXPORT int faccessat(int folder, const char* path, int mode, int flags) {
  NEXT(faccessat);
  std::string storage;
  if (model::classify(path, storage) == PathKind::kDevice) return model::result(model::device_access(path));
  return real(folder, redirect(path, storage), mode, flags);
}

EXPORT ssize_t readlink(const char* path, char* buffer, size_t size) {
  NEXT(readlink);
  std::string storage;
  return real(redirect(path, storage), buffer, size);
}

#define STAT(name, type)                                                                      \
  EXPORT int name(const char* path, struct type* out) {                                       \
    NEXT(name);                                                                               \
    std::string storage;                                                                      \
    int status = 0;                                                                           \
    if (stat_ours(path, storage, reinterpret_cast<struct stat*>(out), status)) return status; \
    return real(path, out);                                                                   \
  }
static_assert(sizeof(struct stat) == sizeof(struct stat64));
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

#define FSTAT(name, type)                                    \
  EXPORT int name(int fd, struct type* out) {                \
    NEXT(name);                                              \
    if (!ours(fd)) return real(fd, out);                     \
    model::fd_stat(fd, reinterpret_cast<struct stat*>(out)); \
    return 0;                                                \
  }
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)

#define FSTATAT(name, type)                                                                   \
  EXPORT int name(int folder, const char* path, struct type* out, int flags) {                \
    NEXT(name);                                                                               \
    std::string storage;                                                                      \
    int status = 0;                                                                           \
    if (stat_ours(path, storage, reinterpret_cast<struct stat*>(out), status)) return status; \
    return real(folder, path, out, flags);                                                    \
  }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

// Programs linked with a C library before 2.33 call these instead of stat().
#define XSTAT(name, type)                                                                     \
  EXPORT int name(int version, const char* path, struct type* out);                           \
  EXPORT int name(int version, const char* path, struct type* out) {                          \
    NEXT(name);                                                                               \
    std::string storage;                                                                      \
    int status = 0;                                                                           \
    if (stat_ours(path, storage, reinterpret_cast<struct stat*>(out), status)) return status; \
    return real(version, path, out);                                                          \
  }
XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)

#define FXSTAT(name, type)                                   \
  EXPORT int name(int version, int fd, struct type* out);    \
  EXPORT int name(int version, int fd, struct type* out) {   \
    NEXT(name);                                              \
    if (!ours(fd)) return real(version, fd, out);            \
    model::fd_stat(fd, reinterpret_cast<struct stat*>(out)); \
    return 0;                                                \
  }
FXSTAT(__fxstat, stat)
FXSTAT(__fxstat64, stat64)

// ---- using ---------------------------------------------------------------------------------------------------

EXPORT int ioctl(int fd, unsigned long request, ...) noexcept {
  NEXT(ioctl);
  va_list list;
  va_start(list, request);
  void* arg = va_arg(list, void*);
  va_end(list);
  if (!ours(fd)) return real(fd, request, arg);
  const vgpu::InModel inside;
  vgpu::request_caller = __builtin_return_address(0);
  return model::result(model::kernel()->ioctl(fd, request, arg));
}

EXPORT int close(int fd) {
  NEXT(close);
  if (!ours(fd)) {
    if (model::is_unreadable(fd) && !model::in_borrowed_memory()) model::mark(fd, false);
    return real(fd);
  }
  return model::in_borrowed_memory() ? real(fd) : model::close_device(fd);
}

EXPORT int dup(int fd) noexcept {
  NEXT(dup);
  return duplicated(fd, real(fd));
}

// The target may be one of ours too: it is closed by the system then.
EXPORT int dup2(int fd, int copy) noexcept {
  NEXT(dup2);
  if (ours(copy) && copy != fd && !model::in_borrowed_memory()) model::close_device(copy);
  return duplicated(fd, real(fd, copy));
}

EXPORT int dup3(int fd, int copy, int flags) noexcept {
  NEXT(dup3);
  if (ours(copy) && copy != fd && !model::in_borrowed_memory()) model::close_device(copy);
  return duplicated(fd, real(fd, copy, flags));
}

#define FCNTL(name)                                                       \
  EXPORT int name(int fd, int command, ...) {                             \
    NEXT(name);                                                           \
    va_list list;                                                         \
    va_start(list, command);                                              \
    void* arg = va_arg(list, void*);                                      \
    va_end(list);                                                         \
    const int value = real(fd, command, arg);                             \
    const bool copies = command == F_DUPFD || command == F_DUPFD_CLOEXEC; \
    return copies ? duplicated(fd, value) : value;                        \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

EXPORT void* mmap(void* address, size_t length, int prot, int flags, int fd, off_t offset) noexcept {
  return map(address, length, prot, flags, fd, offset);
}
EXPORT void* mmap64(void* address, size_t length, int prot, int flags, int fd, off64_t offset) noexcept {
  return map(address, length, prot, flags, fd, offset);
}

EXPORT int munmap(void* address, size_t length) noexcept {
  NEXT(munmap);
  if (vgpu::in_model_depth == 0 && model::has_mappings()) {
    const vgpu::InModel inside;
    model::kernel()->forget_range(address, length);
  }
  return real(address, length);
}
