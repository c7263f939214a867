// What the interposed functions of the preload library share: which descriptors and paths are the model's.
#pragma once

#include <sys/stat.h>

#include <string>

#include "tools/vgpu/kernel/kernel.h"

namespace vgpu::preload {

/// The simulated machine of this process, made at the first use; null when the launcher's environment is not there.
Kernel* kernel();

/// True when the descriptor is the model's. Takes no lock: it is asked for every close and mmap of the program.
bool is_ours(int fd);
/// The functions below keep that in step.
int open_device(const char* path, int flags);  ///< a device path; returns a descriptor or -1 with errno
int close_device(int fd);
/// True in a child of vfork(): its descriptors are its own, its memory is its parent's, so nothing here may be noted.
bool in_borrowed_memory();
void adopt_duplicate(int fd, int copy);

/// Descriptors of files that open and cannot be read. `mark` returns the descriptor.
int mark(int fd, bool unreadable);
bool is_unreadable(int fd);
/// The system closed all descriptors in that range.
void forget_descriptors(unsigned first, unsigned last);

enum class PathKind {
  kOther,       ///< not ours
  kDevice,      ///< /dev/kfd or a render node
  kRedirect,    ///< a file under the fake root
  kUnreadable,  ///< a file there that can be opened and not read (EPERM): the device cgroup forbids the GPU
};
/// Decides about a path. For kRedirect and kDevice, `redirected` is where it lies under the fake root.
PathKind classify(const char* path, std::string& redirected);

/// Whether the program may have mapped doorbells: only then must the model hear of what it unmaps.
bool has_mappings();

/// What stat shows of a device: a character device. False when it does not exist.
bool device_stat(const char* path, struct stat* out);
/// What access() answers: 0 or a negative errno.
int device_access(const char* path);
void fd_stat(int fd, struct stat* out);

/// -1 and errno from a negative errno; other results unchanged.
int result(int value);

}  // namespace vgpu::preload
