#include "tools/vgpu/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace vgpu {

namespace {

// `readable`: poll finds it ready to read and write, as it finds a device that has no poll of its own.
int new_descriptor(int flags, bool readable) {
  const int fd = eventfd(readable ? 1 : 0, (flags & O_CLOEXEC) != 0 ? EFD_CLOEXEC : 0);
  return fd < 0 ? -errno : fd;
}

// mmap(2) of a file of ours in place of the device: keeps what decides about the place, forces sharing.
int map_pages(void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out) {
  const int place = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_POPULATE | MAP_NORESERVE);
  void* mapped = ::mmap(addr, length, prot, MAP_SHARED | place, fd, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return -errno;
  *out = mapped;
  return 0;
}

uint64_t page_align(uint64_t bytes) { return (bytes + kPageBytes - 1) & ~(kPageBytes - 1); }

// An empty file: touching a mapping of it ends in SIGBUS, like VRAM that lies behind a small BAR.
int unreachable_fd() {
  static const int fd = memfd_create("vgpu-unreachable", MFD_CLOEXEC);
  return fd;
}

struct Mappable {
  const Backing* backing = nullptr;
  int error = 0;
};

// What lies at that offset of the render node: a buffer of either interface.
Mappable find_mappable(const ProcessDevice& device, const DrmFile& file, uint64_t offset) {
  for (const auto& [id, object] : device.objects) {
    if (object->mmap_offset != offset) continue;
    if (device.vm_file.get() != &file) return {nullptr, -EACCES};
    if (object->is(uapi::kAllocUserptr)) return {nullptr, -EPERM};
    if (object->backing == nullptr) return {nullptr, -EINVAL};
    return {object->backing.get(), 0};
  }
  const Backing* found = file.find_mappable(offset);
  return found == nullptr ? Mappable{nullptr, -EINVAL} : Mappable{found, 0};
}

}  // namespace

Kernel::~Kernel() {
  for (const auto& [fd, file] : files_) ::close(fd);
  files_.clear();  // their buffers lie in the process's views of memory
  if (process_ != nullptr && process_->pid == getpid()) delete process_;
}

int Kernel::open_kfd(int flags) {
  if ((flags & O_DIRECTORY) != 0) return -ENOTDIR;
  current_process();
  const int fd = new_descriptor(flags, true);
  if (fd < 0) return fd;
  std::lock_guard lock(files_mutex_);
  files_[fd] = {nullptr, getpid(), flags};
  return fd;
}

int Kernel::open_render(uint32_t minor, int flags) {
  const auto& gpus = machine_.gpus;
  const auto gpu = std::ranges::find(gpus, minor, &Gpu::render_minor);
  if (gpu == gpus.end()) return -ENOENT;
  const int fd = new_descriptor(flags, false);
  if (fd < 0) return fd;
  auto file = std::make_shared<DrmFile>();
  file->gpu = &*gpu;
  std::lock_guard lock(files_mutex_);
  files_[fd] = {std::move(file), getpid(), flags};
  return fd;
}

int Kernel::close(int fd) {
  std::lock_guard lock(files_mutex_);
  if (files_.erase(fd) == 0) return -EBADF;
  return ::close(fd) == 0 ? 0 : -errno;
}

void Kernel::forget_descriptor(int fd) {
  std::lock_guard lock(files_mutex_);
  files_.erase(fd);
}

bool Kernel::lookup(int fd, File& out) {
  std::lock_guard lock(files_mutex_);
  const auto found = files_.find(fd);
  if (found == files_.end()) return false;
  out = found->second;
  return true;
}

bool Kernel::owns(int fd) {
  std::lock_guard lock(files_mutex_);
  return files_.contains(fd);
}

void Kernel::adopt_duplicate(int fd, int copy) {
  std::lock_guard lock(files_mutex_);
  if (const auto found = files_.find(fd); found != files_.end()) files_[copy] = File(found->second);
}

int Kernel::render_minor(int fd) {
  const auto file = drm_file(fd);
  return file == nullptr ? -EBADF : static_cast<int>(file->gpu->render_minor);
}

std::shared_ptr<DrmFile> Kernel::drm_file(int fd) {
  File file;
  return lookup(fd, file) ? file.drm : nullptr;
}

void Kernel::before_fork() {
  process_mutex_.lock();
  files_mutex_.lock();
}

void Kernel::after_fork() {
  files_mutex_.unlock();
  process_mutex_.unlock();
}

Process& Kernel::current_process() {
  std::lock_guard lock(process_mutex_);
  if (process_ == nullptr || process_->pid != getpid()) process_ = new Process(machine_);
  return *process_;
}

Process* Kernel::existing_process() {
  std::lock_guard lock(process_mutex_);
  return process_ != nullptr && process_->pid == getpid() ? process_ : nullptr;
}

// Now and then, but never twice in a row for one caller that restarts.
bool Kernel::interrupt_now() {
  const auto& gpus = machine_.gpus;
  if (std::ranges::none_of(gpus, [](const Gpu& gpu) { return gpu.config.hostile.eintr; })) return false;
  return (ioctl_count_.fetch_add(1) + gpus.front().config.seed) % 7 == 0;
}

int Kernel::ioctl(int fd, unsigned long request, void* arg) {
  File file;
  if (!lookup(fd, file)) return -EBADF;
  return file.drm == nullptr ? kfd_ioctl(file, request, arg)
                             : drm_ioctl(*this, current_process(), *file.drm, request, arg);
}

int Kernel::mmap(void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out) {
  File file;
  if (!lookup(fd, file)) return -EBADF;
  if (length == 0) return -EINVAL;
  if ((flags & MAP_FIXED) != 0) forget_range(addr, length);
  if (file.drm == nullptr) {
    if ((file.flags & O_ACCMODE) == O_RDONLY && (flags & MAP_TYPE) != MAP_PRIVATE && (prot & PROT_WRITE) != 0)
      return -EACCES;
    // The process that maps decides, not the one that opened; a child that never opened has none.
    Process* process = existing_process();
    if (process == nullptr) return -EINVAL;
    std::lock_guard lock(process->mutex);
    return mmap_kfd(*process, addr, length, prot, flags, offset, out);
  }
  Process& process = current_process();
  std::lock_guard lock(process.mutex);
  return mmap_render(process, *file.drm, addr, length, prot, flags, offset, out);
}

int Kernel::mmap_events(Process& process, void* addr, size_t length, int prot, int flags, void** out) {
  if (process.own_event_page == nullptr) return -EINVAL;
  if (page_align(length) > uapi::kEventPageBytes) return -EINVAL;
  const Backing& page = *process.own_event_page;
  const int error = map_pages(addr, length, prot, flags, page.fd(), page.offset(), out);
  if (error != 0) return error;
  madvise(*out, length, MADV_DONTFORK);
  process.events.set_usable_slots(static_cast<uint32_t>(length / 8));
  return 0;
}

int Kernel::mmap_doorbells(Process& process, ProcessDevice& device, void* addr, size_t length, int prot, int flags,
                           void** out) {
  if (length != kDoorbellSlice) return -EINVAL;
  if (const int error = process.need_doorbells(device)) return error;
  if (process.need_runner(device) != 0) return -EIO;
  const int error = map_pages(addr, length, prot, flags, device.doorbell_fd, 0, out);
  if (error != 0) return error;
  madvise(*out, length, MADV_DONTFORK);
  device.runner->gate().add_mapping(*out, length);
  return 0;
}

int Kernel::mmap_kfd(Process& process, void* addr, size_t length, int prot, int flags, uint64_t offset, void** out) {
  const uint64_t type = offset >> uapi::kMmapTypeShift;
  if (type == uapi::kMmapTypeEvents) return mmap_events(process, addr, length, prot, flags, out);
  ProcessDevice* device = process.device(static_cast<uint32_t>(offset >> uapi::kMmapGpuShift & 0xffff));
  if (device == nullptr) return -ENODEV;
  if (type == uapi::kMmapTypeDoorbell) return mmap_doorbells(process, *device, addr, length, prot, flags, out);
  if (type == uapi::kMmapTypeMmio) {
    if (length != kPageBytes) return -EINVAL;
    if (const int error = process.need_mmio(*device)) return error;
    return map_pages(addr, length, prot, flags, device->mmio_fd, 0, out);
  }
  return -EINVAL;  // the reserved memory of old APUs
}

int Kernel::mmap_render(Process& process, const DrmFile& file, void* addr, size_t length, int prot, int flags,
                        uint64_t offset, void** out) {
  ProcessDevice& device = *process.devices[file.gpu->index];
  const auto [backing, refusal] = find_mappable(device, file, offset);
  if (refusal != 0) return refusal;
  if (page_align(length) > backing->bytes()) return -EINVAL;
  // A private mapping is only a reservation: the driver lets it be as long as nobody can touch it.
  if ((flags & MAP_TYPE) == MAP_PRIVATE && prot != PROT_NONE) return -EINVAL;
  const bool reachable = !backing->vram() || !machine_.gpus[backing->store() - 1].config.hostile.small_bar;
  if (!reachable) return map_pages(addr, length, prot, flags, unreachable_fd(), 0, out);
  return map_pages(addr, length, prot, flags, backing->fd(), backing->offset(), out);
}

void Kernel::forget_range(void* addr, size_t length) {
  Process* process = existing_process();
  if (process == nullptr) return;
  std::lock_guard lock(process->mutex);
  process->svm.forget(reinterpret_cast<uint64_t>(addr), page_align(length));
  for (auto& device : process->devices) {
    if (device->runner != nullptr) device->runner->gate().forget_range(reinterpret_cast<uint64_t>(addr), length);
  }
}

void Kernel::moved_range(void* from, size_t old_length, void* to, size_t length) {
  Process* process = existing_process();
  if (process == nullptr) return;
  std::lock_guard lock(process->mutex);
  process->svm.forget(reinterpret_cast<uint64_t>(from), page_align(old_length));
  for (auto& device : process->devices) {
    if (device->runner == nullptr) continue;
    DoorbellGate& gate = device->runner->gate();
    const bool doorbells = gate.forget_range(reinterpret_cast<uint64_t>(from), old_length);
    if (doorbells) gate.add_mapping(to, length);
  }
}

}  // namespace vgpu
