// The driver as a client meets it: device files, ioctls, mappings. Both doors stand in front of this.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tools/vgpu/kernel/machine.h"
#include "tools/vgpu/kernel/process.h"

namespace vgpu {

/// Thread safe. Functions return a negative errno on failure. Descriptors are real numbers of this process (each stands
/// for an eventfd), so they never collide with others.
class Kernel {
 public:
  explicit Kernel(Options options) : machine_(std::move(options)) {}
  ~Kernel();

  Machine& machine() { return machine_; }

  int open_kfd(int flags);
  int open_render(uint32_t minor, int flags);
  int close(int fd);
  bool owns(int fd);
  /// `copy` is a duplicate that the system made of `fd`: it is the same open file.
  void adopt_duplicate(int fd, int copy);
  /// The render minor of a render node's descriptor; -EBADF for others.
  int render_minor(int fd);

  int ioctl(int fd, unsigned long request, void* arg);
  int mmap(void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out);
  /// The client unmapped that range, or mapped something else there.
  void forget_range(void* addr, size_t length);
  /// The client moved a range, doorbells that lie in it too.
  void moved_range(void* from, size_t old_length, void* to, size_t length);
  /// The system closed that descriptor without us.
  void forget_descriptor(int fd);

  /// For tests: what the driver keeps for the calling process.
  Process& test_process() { return current_process(); }

  /// Around fork(): no other thread may hold a lock that the child would find taken. Doors call these.
  void before_fork();
  void after_fork();

  /// For ACQUIRE_VM: the open file behind a descriptor; null when it is no render node.
  std::shared_ptr<DrmFile> drm_file(int fd);

 private:
  struct File {
    std::shared_ptr<DrmFile> drm;  ///< null: /dev/kfd
    int pid = 0;
    int flags = 0;  ///< of open()
  };
  bool lookup(int fd, File& out);
  /// The process object of the calling process; a forked child gets its own.
  Process& current_process();
  int unknown_ioctl(unsigned number);
  int kfd_ioctl(const File& file, unsigned long request, void* arg);
  /// That one, or null when this process never opened /dev/kfd.
  Process* existing_process();
  int mmap_events(Process& process, void* addr, size_t length, int prot, int flags, void** out);
  int mmap_doorbells(Process& process, ProcessDevice& device, void* addr, size_t length, int prot, int flags,
                     void** out);
  int mmap_kfd(Process& process, void* addr, size_t length, int prot, int flags, uint64_t offset, void** out);
  int mmap_render(Process& process, const DrmFile& file, void* addr, size_t length, int prot, int flags,
                  uint64_t offset, void** out);
  bool interrupt_now();

  Machine machine_;
  std::mutex files_mutex_;
  std::map<int, File> files_;
  std::mutex process_mutex_;
  Process* process_ = nullptr;  ///< of this pid; one that a parent left behind is abandoned, its threads are not here
  std::atomic<uint64_t> ioctl_count_{0};
};

/// DRM ioctls of a render node (drm.cpp).
int drm_ioctl(Kernel& kernel, Process& process, DrmFile& file, unsigned long request, void* arg);
/// Fills at most `size` bytes of the kernel's drm_amdgpu_info_device.
int drm_device_info(const Gpu& gpu, void* out, size_t size);

}  // namespace vgpu
