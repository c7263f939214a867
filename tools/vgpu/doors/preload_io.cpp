// The interposed functions that read, write, look at, close and move what others opened or mapped.

#undef _FILE_OFFSET_BITS

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>

#include "tools/vgpu/doors/preload_calls.h"

namespace model = vgpu::preload;
using model::ours;
using model::PathKind;

namespace {

/// What the descriptor answers to read() or write() instead of the file behind it. 0: nothing special.
int refusal(int fd, bool reading) {
  if (vgpu::in_model_depth != 0) return 0;
  if (reading && model::is_unreadable(fd)) return EPERM;
  if (!model::is_ours(fd)) return 0;
  const vgpu::InModel inside;
  // The driver has neither; a render node has events to read, and none come without a display.
  return reading && model::kernel()->render_minor(fd) >= 0 ? EAGAIN : EINVAL;
}

bool refused(int fd, bool reading) {
  const int error = refusal(fd, reading);
  if (error != 0) errno = error;
  return error != 0;
}

}  // namespace

EXPORT ssize_t read(int fd, void* buffer, size_t size) {
  NEXT(read);
  return refused(fd, true) ? -1 : real(fd, buffer, size);
}

EXPORT ssize_t readv(int fd, const iovec* parts, int count) {
  NEXT(readv);
  return refused(fd, true) ? -1 : real(fd, parts, count);
}

// What _FORTIFY_SOURCE makes of read(). The size was checked by the compiler's own bounds.
EXPORT ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room);
EXPORT ssize_t __read_chk(int fd, void* buffer, size_t size, size_t room) {
  NEXT(__read_chk);
  return refused(fd, true) ? -1 : real(fd, buffer, size, room);
}

#define PREAD(name)                                                      \
  EXPORT ssize_t name(int fd, void* buffer, size_t size, off_t offset) { \
    NEXT(name);                                                          \
    return refused(fd, true) ? -1 : real(fd, buffer, size, offset);      \
  }
PREAD(pread)
PREAD(pread64)

EXPORT ssize_t write(int fd, const void* buffer, size_t size) {
  NEXT(write);
  return refused(fd, false) ? -1 : real(fd, buffer, size);
}

EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  NEXT(writev);
  return refused(fd, false) ? -1 : real(fd, parts, count);
}

namespace {

void fill_statx(const struct stat& from, struct statx* out) {
  memset(out, 0, sizeof *out);
  out->stx_mask = STATX_BASIC_STATS;
  out->stx_blksize = 4096;
  out->stx_nlink = static_cast<uint32_t>(from.st_nlink);
  out->stx_uid = from.st_uid;
  out->stx_gid = from.st_gid;
  out->stx_mode = static_cast<uint16_t>(from.st_mode);
  out->stx_ino = from.st_ino;
  out->stx_rdev_major = major(from.st_rdev);
  out->stx_rdev_minor = minor(from.st_rdev);
}

}  // namespace

EXPORT int statx(int folder, const char* path, int flags, unsigned mask, struct statx* out) noexcept {
  NEXT(statx);
  struct stat found{};
  const bool by_descriptor = path[0] == '\0' && (flags & AT_EMPTY_PATH) != 0;
  if (by_descriptor) {
    if (!ours(folder)) return real(folder, path, flags, mask, out);
    model::fd_stat(folder, &found);
    fill_statx(found, out);
    return 0;
  }
  std::string storage;
  switch (model::classify(path, storage)) {
    case PathKind::kOther: return real(folder, path, flags, mask, out);
    case PathKind::kRedirect:
    case PathKind::kUnreadable: return real(folder, storage.c_str(), flags, mask, out);
    case PathKind::kDevice: break;
  }
  if (!model::device_stat(path, &found)) return model::result(-ENOENT);
  fill_statx(found, out);
  return 0;
}

EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  NEXT(close_range);
  const int result = real(first, last, flags);
  // The system closed ours too; the model must not take their numbers for its own any more.
  if (result == 0 && (flags & CLOSE_RANGE_CLOEXEC) == 0) model::forget_descriptors(first, last);
  return result;
}

EXPORT void closefrom(int first) noexcept {
  NEXT(closefrom);
  real(first);
  model::forget_descriptors(first < 0 ? 0 : static_cast<unsigned>(first), UINT_MAX);
}

EXPORT void* mremap(void* old, size_t old_size, size_t size, int flags, ...) noexcept {
  NEXT(mremap);
  va_list list;
  va_start(list, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(list, void*) : nullptr;
  va_end(list);
  void* const moved = real(old, old_size, size, flags, wanted);
  if (moved != MAP_FAILED && vgpu::in_model_depth == 0 && model::has_mappings()) {
    const vgpu::InModel inside;
    model::kernel()->moved_range(old, old_size, moved, size);
  }
  return moved;
}
