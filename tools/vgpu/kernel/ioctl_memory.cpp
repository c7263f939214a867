// Buffers: allocate, free, map into and unmap from GPU page tables.
#include <errno.h>

#include <algorithm>

#include "tools/vgpu/kernel/ioctl.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr uint64_t kPageMask = kPageBytes - 1;
constexpr uint64_t kReportGranularity = 2ull << 20;  // free VRAM is told in whole 2 MiB

uint64_t page_align(uint64_t bytes) { return (bytes + kPageMask) & ~kPageMask; }

bool large_bar(const Gpu& gpu) { return !gpu.config.hostile.small_bar; }

// What the flags alone can be refused for.
int check_flags(const uapi::AllocMemory& args, const Gpu& gpu) {
  if ((args.flags & uapi::kAllocVram) != 0) {
    return (args.flags & uapi::kAllocPublic) != 0 && !large_bar(gpu) ? -EINVAL : 0;
  }
  if ((args.flags & uapi::kAllocGtt) != 0) return 0;
  if ((args.flags & uapi::kAllocUserptr) != 0) return args.mmap_offset == 0 ? -EINVAL : 0;
  if ((args.flags & uapi::kAllocDoorbell) != 0) return args.size == kDoorbellSlice ? 0 : -EINVAL;
  if ((args.flags & uapi::kAllocMmioRemap) != 0) return args.size == kPageBytes ? 0 : -EINVAL;
  return -EINVAL;
}

// Registered memory counts as system memory without having pages of ours.
int back(Process& process, ProcessDevice& device, const uapi::AllocMemory& args, MemoryObject& object) {
  if (object.is(uapi::kAllocVram) || object.is(uapi::kAllocGtt) || object.is(uapi::kAllocUserptr)) {
    const bool user = object.is(uapi::kAllocUserptr) && !object.is(uapi::kAllocVram | uapi::kAllocGtt);
    if (user) {
      if (const int error = check_user_pages(args.mmap_offset, args.size, object.is(uapi::kAllocWritable)))
        return error;
    }
    if (object.is(uapi::kAllocVram)) object.home = device.gpu;
    const uint32_t store = object.home == nullptr ? Backing::kSystemStore : 1 + object.home->index;
    object.backing = process.allocate(store, object.bytes);
    if (object.backing == nullptr) return -ENOMEM;
    object.backing->public_vram = object.home != nullptr && object.is(uapi::kAllocPublic);
    object.backing->writable = object.is(uapi::kAllocWritable);
    object.host = user ? reinterpret_cast<std::byte*>(args.mmap_offset & ~kPageMask) : object.backing->host();
    return 0;
  }
  if (object.is(uapi::kAllocDoorbell)) {
    const int error = process.need_doorbells(device);
    object.host = device.doorbells;
    return error;
  }
  const int error = process.need_mmio(device);
  object.host = device.mmio;
  return error;
}

// Which caches may hold the pages (table in docs/vgpu.md).
MemType memory_type(const Gpu& gpu, const MemoryObject& object) {
  const bool uncached = object.is(uapi::kAllocUncached);
  const bool coherent = object.is(uapi::kAllocCoherent) || object.is(uapi::kAllocExtCoherent);
  const bool caches_local_vram = gpu.card().gfx == "gfx90a" || gpu.card().gfx == "gfx908";
  if (caches_local_vram && object.home == &gpu) {
    if (uncached) return MemType::kUC;
    return coherent ? MemType::kCC : MemType::kRW;
  }
  return coherent || uncached ? MemType::kUC : MemType::kNC;
}

int map_on(ProcessDevice& device, MemoryObject& object) {
  uint8_t& mapped = object.mapped[device.gpu->index];
  if (mapped != 0) return 0;
  if (object.va == 0 || (object.va & kPageMask) != 0 || object.va >> 47 != 0) return -EINVAL;
  Mapping mapping{.va = object.va,
                  .size = object.bytes,
                  .host = object.host,
                  .mtype = memory_type(*device.gpu, object),
                  .writable = object.is(uapi::kAllocWritable),
                  .executable = object.is(uapi::kAllocExecutable),
                  .system = object.home == nullptr};
  if (!device.space.map(mapping)) return -EINVAL;
  if (object.twice()) {
    mapping.va += object.bytes;
    if (!device.space.map(mapping)) {
      device.space.unmap(object.va, object.bytes);
      return -EINVAL;
    }
  }
  mapped = 1;
  return 0;
}

int unmap_on(ProcessDevice& device, MemoryObject& object) {
  uint8_t& mapped = object.mapped[device.gpu->index];
  if (mapped == 0) return -EINVAL;
  if (object.queue_uses[device.gpu->index] != 0) return -EBUSY;
  device.space.unmap(object.va, object.bytes);
  if (object.twice()) device.space.unmap(object.va + object.bytes, object.bytes);
  mapped = 0;
  return 0;
}

// MAP and UNMAP share their rules; `each` does one device.
template <class Each>
int for_each_device(Call& call, Each each) {
  auto& args = call.as<uapi::MapMemory>();
  if (args.n_devices == 0 || args.n_success > args.n_devices) return -EINVAL;
  constexpr uint32_t kMostDevices = 1u << 20;  // the kernel has no memory for longer lists either
  if (args.n_devices > kMostDevices) return -ENOMEM;
  std::vector<uint32_t> ids(args.n_devices);
  if (!copy_from_user(ids.data(), args.device_ids_ptr, ids.size() * sizeof(uint32_t))) return -EFAULT;
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* owner = call.process.device(static_cast<uint32_t>(args.handle >> 32));
  if (owner == nullptr) return -EINVAL;
  if (!owner->acquired()) return -ENODEV;
  MemoryObject* object = call.process.object(args.handle);
  if (object == nullptr) return -ENOMEM;
  while (args.n_success < args.n_devices) {
    ProcessDevice* device = call.process.device(ids[args.n_success]);
    if (device == nullptr) return -EINVAL;
    if (!device->acquired()) return -ENODEV;
    if (const int error = each(*device, *object)) return error;
    ++args.n_success;
  }
  return 0;
}

// Gives the object its handle (the lowest free number) and its place in the render node's offsets.
uint64_t keep(ProcessDevice& device, std::unique_ptr<MemoryObject> object) {
  uint32_t id = 0;
  while (device.objects.contains(id)) ++id;
  object->handle = uint64_t{device.gpu->gpu_id} << 32 | id;
  object->mmap_offset = device.next_mmap_offset;
  device.next_mmap_offset += object->bytes;
  return (device.objects[id] = std::move(object))->handle;
}

std::unique_ptr<MemoryObject> new_object(const Process& process, uint32_t flags, uint64_t va) {
  auto object = std::make_unique<MemoryObject>();
  object->flags = flags;
  object->va = va;
  object->mapped.resize(process.devices.size());
  object->queue_uses.resize(process.devices.size());
  return object;
}

}  // namespace

int ioctl_alloc_memory(Call& call) {
  auto& args = call.as<uapi::AllocMemory>();
  if (args.size == 0) return -EINVAL;
  std::lock_guard lock(call.process.mutex);
  // Asked before anything else: nothing may lie where shared virtual memory is.
  const Svm& svm = call.process.svm;
  if (svm.overlaps(args.va, args.size)) return -EADDRINUSE;
  if ((args.flags & uapi::kAllocUserptr) != 0 && svm.overlaps(args.mmap_offset, args.size)) return -EADDRINUSE;
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  if (const int error = check_flags(args, *device->gpu)) return error;
  if (!device->acquired()) return -ENODEV;
  auto object = new_object(call.process, args.flags, args.va);
  object->bytes = page_align(object->twice() ? args.size / 2 : args.size);
  if (const int error = back(call.process, *device, args, *object)) return error;

  args.handle = keep(*device, std::move(object));
  // The remap page is mapped through /dev/kfd, everything else through the render node.
  args.mmap_offset = (args.flags & uapi::kAllocMmioRemap) != 0
                         ? uapi::kMmapTypeMmio << uapi::kMmapTypeShift | uint64_t{args.gpu_id} << uapi::kMmapGpuShift
                         : call.process.object(args.handle)->mmap_offset;
  return 0;
}

int ioctl_free_memory(Call& call) {
  const auto& args = call.as<uapi::FreeMemory>();
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* owner = nullptr;
  MemoryObject* object = call.process.object(args.handle, &owner);
  if (object == nullptr) return -EINVAL;
  if (object->event_page) return -EPERM;
  if (object->mapped_anywhere()) return -EBUSY;
  owner->objects.erase(static_cast<uint32_t>(args.handle));
  return 0;
}

int ioctl_map_memory(Call& call) { return for_each_device(call, map_on); }

int ioctl_unmap_memory(Call& call) { return for_each_device(call, unmap_on); }

int ioctl_available_memory(Call& call) {
  auto& args = call.as<uapi::AvailableMemory>();
  std::lock_guard lock(call.process.mutex);
  const ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  call.process.machine.collect();
  PageStore& vram = *call.process.machine.stores[1 + device->gpu->index];
  args.available = (vram.capacity() - vram.used()) & ~(kReportGranularity - 1);
  return 0;
}

int ioctl_export_dmabuf(Call& call) {
  auto& args = call.as<uapi::ExportDmabuf>();
  std::lock_guard lock(call.process.mutex);
  const MemoryObject* object = call.process.object(args.handle);
  if (object == nullptr) return -EINVAL;
  if (object->is(uapi::kAllocUserptr)) return -EPERM;
  if (object->backing == nullptr) return -EINVAL;  // doorbells and registers are nobody else's memory
  const int fd = call.process.machine.dma_bufs->export_range(*object->backing, static_cast<int>(args.flags));
  if (fd < 0) return fd;
  args.dmabuf_fd = static_cast<uint32_t>(fd);
  return 0;
}

int ioctl_import_dmabuf(Call& call) {
  auto& args = call.as<uapi::ImportDmabuf>();
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  if (!device->acquired()) return -ENODEV;
  DmaBufs::Found found;
  if (const int error = call.process.machine.dma_bufs->find(static_cast<int>(args.dmabuf_fd), found)) return error;
  auto backing = call.process.import(found);
  if (backing == nullptr) return -EINVAL;
  const uint32_t type = backing->vram() ? uapi::kAllocVram : uapi::kAllocGtt;
  auto object = new_object(call.process, type | uapi::kAllocWritable | uapi::kAllocExecutable, args.va);
  object->bytes = backing->bytes();
  object->host = backing->host();
  if (backing->vram()) object->home = &call.process.machine.gpus[backing->store() - 1];
  object->backing = std::move(backing);
  args.handle = keep(*device, std::move(object));
  return 0;
}

int ioctl_get_dmabuf_info(Call& call) {
  auto& args = call.as<uapi::GetDmabufInfo>();
  const Machine& machine = call.kernel.machine();
  const auto usable =
      std::ranges::find_if(machine.gpus, [](const Gpu& gpu) { return gpu.options.render != NodeAccess::kCgroup; });
  if (usable == machine.gpus.end()) return -EINVAL;
  DmaBufs::Found found;
  if (const int error = machine.dma_bufs->find(static_cast<int>(args.dmabuf_fd), found)) return error;
  const auto& data = found.metadata.data;
  if (args.metadata_ptr != 0) {
    if (args.metadata_size < data.size()) return -EINVAL;
    if (!copy_to_user(args.metadata_ptr, data.data(), data.size())) return -EFAULT;
  }
  args.metadata_size = static_cast<uint32_t>(data.size());
  args.size = found.bytes;
  args.flags = found.store == Backing::kSystemStore ? uapi::kAllocGtt : uapi::kAllocVram;
  if (found.public_vram) args.flags |= uapi::kAllocPublic;
  args.gpu_id = found.store == Backing::kSystemStore ? usable->gpu_id : machine.gpus[found.store - 1].gpu_id;
  return 0;
}

}  // namespace vgpu
