#include "tools/vgpu/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace vgpu {

namespace {

int new_descriptor(int flags) {
  const int fd = eventfd(0, (flags & O_CLOEXEC) != 0 ? EFD_CLOEXEC : 0);
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

}  // namespace

Kernel::~Kernel() {
  for (const auto& [fd, file] : files_) ::close(fd);
  if (process_ != nullptr && process_->pid == getpid()) delete process_;
}

int Kernel::open_kfd(int flags) {
  const int fd = new_descriptor(flags);
  if (fd < 0) return fd;
  std::lock_guard lock(files_mutex_);
  files_[fd] = {nullptr, getpid()};
  return fd;
}

int Kernel::open_render(uint32_t minor, int flags) {
  const auto& gpus = machine_.gpus;
  const auto gpu = std::ranges::find(gpus, minor, &Gpu::render_minor);
  if (gpu == gpus.end()) return -ENOENT;
  const int fd = new_descriptor(flags);
  if (fd < 0) return fd;
  auto file = std::make_shared<DrmFile>();
  file->gpu = &*gpu;
  std::lock_guard lock(files_mutex_);
  files_[fd] = {std::move(file), getpid()};
  return fd;
}

int Kernel::close(int fd) {
  std::lock_guard lock(files_mutex_);
  if (files_.erase(fd) == 0) return -EBADF;
  return ::close(fd) == 0 ? 0 : -errno;
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

// Now and then, but never twice in a row for one caller that restarts.
bool Kernel::interrupt_now() {
  const auto& gpus = machine_.gpus;
  if (std::ranges::none_of(gpus, [](const Gpu& gpu) { return gpu.config.hostile.eintr; })) return false;
  return (ioctl_count_.fetch_add(1) + gpus.front().config.seed) % 7 == 0;
}

int Kernel::ioctl(int fd, unsigned long request, void* arg) {
  File file;
  if (!lookup(fd, file)) return -EBADF;
  return file.drm == nullptr ? kfd_ioctl(file, request, arg) : drm_ioctl(machine_, *file.drm, request, arg);
}

int Kernel::mmap(void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out) {
  File file;
  if (!lookup(fd, file)) return -EBADF;
  if (length == 0) return -EINVAL;
  if ((flags & MAP_FIXED) != 0) forget_range(addr, length);
  if (file.drm == nullptr && file.pid != getpid()) return -EBADF;
  Process& process = current_process();
  std::lock_guard lock(process.mutex);
  if (file.drm == nullptr) return mmap_kfd(process, addr, length, prot, flags, offset, out);
  return mmap_render(process, *file.drm, addr, length, prot, flags, offset, out);
}

int Kernel::mmap_kfd(Process& process, void* addr, size_t length, int prot, int flags, uint64_t offset, void** out) {
  const uint64_t type = offset >> uapi::kMmapTypeShift;
  const auto gpu_id = static_cast<uint32_t>(offset >> uapi::kMmapGpuShift & 0xffff);
  if (type == uapi::kMmapTypeEvents) {
    if (process.own_event_page == PageStore::kNoRange) return -EINVAL;
    if (page_align(length) > uapi::kEventPageBytes) return -EINVAL;
    const int error = map_pages(addr, length, prot, flags, process.gtt->fd(), process.own_event_page, out);
    if (error == 0) process.events.set_usable_slots(static_cast<uint32_t>(length / 8));
    return error;
  }
  ProcessDevice* device = process.device(gpu_id);
  if (type == uapi::kMmapTypeDoorbell) {
    if (device == nullptr) return -ENODEV;
    if (length != kDoorbellSlice) return -EINVAL;
    if (const int error = process.need_doorbells(*device)) return error;
    if (process.need_runner(*device) != 0) return -EIO;
    const int error = map_pages(addr, length, prot, flags, device->doorbell_fd, 0, out);
    if (error != 0) return error;
    madvise(*out, length, MADV_DONTFORK);
    device->runner->gate().add_mapping(*out, length);
    return 0;
  }
  if (type == uapi::kMmapTypeMmio) {
    if (device == nullptr) return -EINVAL;
    if (length != kPageBytes) return -EINVAL;
    if (const int error = process.need_mmio(*device)) return error;
    return map_pages(addr, length, prot, flags, device->mmio_fd, 0, out);
  }
  return -EINVAL;
}

int Kernel::mmap_render(Process& process, const DrmFile& file, void* addr, size_t length, int prot, int flags,
                        uint64_t offset, void** out) {
  ProcessDevice& device = *process.devices[file.gpu->index];
  MemoryObject* object = nullptr;
  for (auto& [id, each] : device.objects) {
    if (each->mmap_offset == offset) object = each.get();
  }
  if (object == nullptr || page_align(length) > object->bytes) return -EINVAL;
  if (device.vm_file.get() != &file) return -EACCES;
  if (object->is(uapi::kAllocUserptr)) return -EPERM;
  // A private mapping is only a reservation: the driver lets it be as long as nobody can touch it.
  if ((flags & MAP_TYPE) == MAP_PRIVATE && prot != PROT_NONE) return -EINVAL;
  if (object->is(uapi::kAllocVram)) {
    const bool reachable = !file.gpu->config.hostile.small_bar;
    if (!reachable) return map_pages(addr, length, prot, flags, unreachable_fd(), 0, out);
    return map_pages(addr, length, prot, flags, device.vram->fd(), object->store_offset, out);
  }
  if (object->is(uapi::kAllocGtt)) {
    return map_pages(addr, length, prot, flags, process.gtt->fd(), object->store_offset, out);
  }
  return -EINVAL;
}

void Kernel::forget_range(void* addr, size_t length) {
  Process* process = nullptr;
  {
    std::lock_guard lock(process_mutex_);
    process = process_;
  }
  if (process == nullptr || process->pid != getpid()) return;
  std::lock_guard lock(process->mutex);
  for (auto& device : process->devices) {
    if (device->runner != nullptr) device->runner->gate().forget_range(reinterpret_cast<uint64_t>(addr), length);
  }
}

}  // namespace vgpu
