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
  if (args.size == 0) return -EINVAL;
  if ((args.flags & uapi::kAllocVram) != 0) {
    return (args.flags & uapi::kAllocPublic) != 0 && !large_bar(gpu) ? -EINVAL : 0;
  }
  if ((args.flags & uapi::kAllocGtt) != 0) return 0;
  if ((args.flags & uapi::kAllocUserptr) != 0) return args.mmap_offset == 0 ? -EINVAL : 0;
  if ((args.flags & uapi::kAllocDoorbell) != 0) return args.size == kDoorbellSlice ? 0 : -EINVAL;
  if ((args.flags & uapi::kAllocMmioRemap) != 0) return args.size == kPageBytes ? 0 : -EINVAL;
  return -EINVAL;
}

int back_with_store(PageStore& store, MemoryObject& object) {
  object.store_offset = store.allocate(object.bytes);
  if (object.store_offset == PageStore::kNoRange) return -ENOMEM;
  object.host = store.host(object.store_offset);
  return 0;
}

int charge_system(Process& process, uint64_t bytes) {
  if (bytes > process.system_limit - process.system_bytes) return -ENOMEM;
  process.system_bytes += bytes;
  return 0;
}

int back(Process& process, ProcessDevice& device, const uapi::AllocMemory& args, MemoryObject& object) {
  if (object.is(uapi::kAllocVram)) {
    if (device.vram == nullptr) device.vram = PageStore::create("vgpu-vram", device.gpu->options.vram_bytes);
    return device.vram == nullptr ? -ENOMEM : back_with_store(*device.vram, object);
  }
  if (object.is(uapi::kAllocGtt)) {
    if (const int error = process.need_gtt()) return error;
    if (const int error = charge_system(process, object.bytes)) return error;
    const int error = back_with_store(*process.gtt, object);
    if (error != 0) process.system_bytes -= object.bytes;
    return error;
  }
  if (object.is(uapi::kAllocUserptr)) {
    if (const int error = check_user_pages(args.mmap_offset, args.size, object.is(uapi::kAllocWritable))) return error;
    object.host = reinterpret_cast<std::byte*>(args.mmap_offset & ~kPageMask);
    return charge_system(process, object.bytes);
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

void unback(Process& process, ProcessDevice& device, const MemoryObject& object) {
  if (object.is(uapi::kAllocVram)) {
    device.vram->release(object.store_offset, object.bytes);
  } else if (object.is(uapi::kAllocGtt)) {
    process.gtt->release(object.store_offset, object.bytes);
    process.system_bytes -= object.bytes;
  } else if (object.is(uapi::kAllocUserptr)) {
    process.system_bytes -= object.bytes;
  }
}

// Which caches may hold the pages (table in docs/vgpu.md).
MemType memory_type(const Gpu& gpu, const MemoryObject& object, bool local) {
  const bool vram = object.is(uapi::kAllocVram);
  const bool uncached = object.is(uapi::kAllocUncached);
  const bool coherent = object.is(uapi::kAllocCoherent) || object.is(uapi::kAllocExtCoherent);
  const bool caches_local_vram = gpu.card().gfx == "gfx90a" || gpu.card().gfx == "gfx908";
  if (caches_local_vram && vram && local) {
    if (uncached) return MemType::kUC;
    return coherent ? MemType::kCC : MemType::kRW;
  }
  return coherent || uncached ? MemType::kUC : MemType::kNC;
}

int map_on(ProcessDevice& device, MemoryObject& object, const ProcessDevice& owner) {
  uint8_t& mapped = object.mapped[device.gpu->index];
  if (mapped != 0) return 0;
  if (object.va == 0 || (object.va & kPageMask) != 0 || object.va >> 47 != 0) return -EINVAL;
  Mapping mapping{.va = object.va,
                  .size = object.bytes,
                  .host = object.host,
                  .mtype = memory_type(*device.gpu, object, &device == &owner),
                  .writable = object.is(uapi::kAllocWritable),
                  .executable = object.is(uapi::kAllocExecutable),
                  .system = !object.is(uapi::kAllocVram)};
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
    if (const int error = each(*device, *object, *owner)) return error;
    ++args.n_success;
  }
  return 0;
}

}  // namespace

int ioctl_alloc_memory(Call& call) {
  auto& args = call.as<uapi::AllocMemory>();
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  if (const int error = check_flags(args, *device->gpu)) return error;
  if (!device->acquired()) return -ENODEV;
  auto object = std::make_unique<MemoryObject>();
  object->flags = args.flags;
  object->va = args.va;
  object->bytes = page_align(object->twice() ? args.size / 2 : args.size);
  object->mapped.resize(call.process.devices.size());
  object->queue_uses.resize(call.process.devices.size());
  if (const int error = back(call.process, *device, args, *object)) return error;

  uint32_t id = 0;
  while (device->objects.contains(id)) ++id;
  object->handle = uint64_t{device->gpu->gpu_id} << 32 | id;
  object->mmap_offset = device->next_mmap_offset;
  device->next_mmap_offset += object->bytes;
  args.handle = object->handle;
  // The remap page is mapped through /dev/kfd, everything else through the render node.
  args.mmap_offset = object->is(uapi::kAllocMmioRemap)
                         ? uapi::kMmapTypeMmio << uapi::kMmapTypeShift | uint64_t{args.gpu_id} << uapi::kMmapGpuShift
                         : object->mmap_offset;
  device->objects[id] = std::move(object);
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
  unback(call.process, *owner, *object);
  owner->objects.erase(static_cast<uint32_t>(args.handle));
  return 0;
}

int ioctl_map_memory(Call& call) { return for_each_device(call, map_on); }

int ioctl_unmap_memory(Call& call) {
  return for_each_device(
      call, [](ProcessDevice& device, MemoryObject& object, const ProcessDevice&) { return unmap_on(device, object); });
}

int ioctl_available_memory(Call& call) {
  auto& args = call.as<uapi::AvailableMemory>();
  std::lock_guard lock(call.process.mutex);
  const ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  const uint64_t used = device->vram == nullptr ? 0 : device->vram->used();
  args.available = (device->gpu->options.vram_bytes - used) & ~(kReportGranularity - 1);
  return 0;
}

}  // namespace vgpu
