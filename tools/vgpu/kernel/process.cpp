#include "tools/vgpu/kernel/process.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>

namespace vgpu {

namespace {

// A few pages shared with the client under a descriptor of their own.
std::byte* shared_pages(const char* name, uint64_t bytes, int& fd) {
  fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  void* pages = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0) {
    pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (pages == MAP_FAILED) {
    close(fd);
    fd = -1;
    return nullptr;
  }
  madvise(pages, bytes, MADV_DONTFORK);
  return static_cast<std::byte*>(pages);
}

}  // namespace

Process::Process(Machine& for_machine) : machine(for_machine), pid(getpid()) {
  constexpr uint32_t kEventAgeMinor = 14;
  events.set_ages(machine.options.kfd_minor >= kEventAgeMinor);
  views.resize(machine.stores.size());
  for (const auto& store : machine.stores) store->forget_earlier_process();
  for (const Gpu& gpu : machine.gpus) {
    auto device = std::make_unique<ProcessDevice>();
    device->gpu = &gpu;
    devices.push_back(std::move(device));
  }
}

Process::~Process() {
  for (auto& device : devices) {
    device->runner.reset();
    if (device->doorbells != nullptr) munmap(device->doorbells, kDoorbellSlice);
    if (device->doorbell_fd >= 0) close(device->doorbell_fd);
    if (device->mmio != nullptr) munmap(device->mmio, kPageBytes);
    if (device->mmio_fd >= 0) close(device->mmio_fd);
  }
}

ProcessDevice* Process::device(uint32_t gpu_id) {
  for (auto& device : devices) {
    if (device->gpu->gpu_id == gpu_id && device->gpu->options.render != NodeAccess::kCgroup) return device.get();
  }
  return nullptr;
}

MemoryObject* Process::object(uint64_t handle, ProcessDevice** owner) {
  ProcessDevice* on = device(static_cast<uint32_t>(handle >> 32));
  if (on == nullptr) return nullptr;
  const auto found = on->objects.find(static_cast<uint32_t>(handle));
  if (found == on->objects.end()) return nullptr;
  if (owner != nullptr) *owner = on;
  return found->second.get();
}

MemoryObject* Process::object_mapped_at(ProcessDevice& device, uint64_t va, uint64_t* bytes) {
  const Mapping mapping = device.space.find(va);
  if (mapping.size == 0 || mapping.va != va) return nullptr;
  for (auto& owner : devices) {
    for (auto& [id, object] : owner->objects) {
      if (object->mapped[device.gpu->index] == 0) continue;
      if (object->va != va && !(object->twice() && object->va + object->bytes == va)) continue;
      *bytes = mapping.size;
      return object.get();
    }
  }
  return nullptr;
}

PageView* Process::view(uint32_t store) {
  if (views[store] == nullptr) views[store] = PageView::create(*machine.stores[store]);
  return views[store].get();
}

std::shared_ptr<Backing> Process::allocate(uint32_t store, uint64_t bytes) {
  PageView* pages = view(store);
  if (pages == nullptr) return nullptr;
  uint64_t offset = pages->store().allocate(bytes);
  if (offset == PageStore::kNoRange) {
    machine.collect();
    offset = pages->store().allocate(bytes);
  }
  return offset == PageStore::kNoRange ? nullptr : std::make_shared<Backing>(*pages, store, offset, bytes);
}

std::shared_ptr<Backing> Process::import(const DmaBufs::Found& found) {
  PageView* pages = view(found.store);
  if (pages == nullptr || !pages->store().hold(found.offset)) return nullptr;
  auto backing = std::make_shared<Backing>(*pages, found.store, found.offset, found.bytes);
  backing->public_vram = found.public_vram;
  backing->writable = found.writable;
  backing->metadata = found.metadata;
  return backing;
}

int Process::need_doorbells(ProcessDevice& device) {
  if (device.doorbells != nullptr) return 0;
  device.doorbells = shared_pages("vgpu-doorbells", kDoorbellSlice, device.doorbell_fd);
  if (device.doorbells == nullptr) return -ENOMEM;
  // Resident for good: the gate watches for minor faults, which a page that was swapped out would not give.
  mlock(device.doorbells, kDoorbellSlice);
  std::fill_n(reinterpret_cast<uint64_t*>(device.doorbells), kDoorbellSlice / 8, kDoorbellNeverRung);
  return 0;
}

int Process::need_mmio(ProcessDevice& device) {
  if (device.gpu->config.hostile.no_mmio_remap) return -ENOMEM;
  if (device.mmio != nullptr) return 0;
  device.mmio = shared_pages("vgpu-mmio", kPageBytes, device.mmio_fd);
  return device.mmio == nullptr ? -ENOMEM : 0;
}

int Process::need_runner(ProcessDevice& device) {
  if (device.runner != nullptr) return 0;
  device.runner = GpuRunner::create(machine, *device.gpu, device.space, events, device.smi);
  if (device.runner == nullptr) return -EIO;
  if (runtime_enabled) device.runner->set_runtime_enabled(true);
  if (device.trap_tba != 0) device.runner->cp().set_trap_handler(device.trap_tba, device.trap_tma);
  return 0;
}

}  // namespace vgpu
