// What the driver keeps for one process: its GPUs with page tables, buffers and queues; its events.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "tools/vgpu/kernel/gpu_runner.h"
#include "tools/vgpu/kernel/memory_object.h"
#include "tools/vgpu/memory/page_store.h"

namespace vgpu {

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kDoorbellSlice = 8192;  ///< doorbells of one process on one GPU: 1024 of 8 bytes

/// An open file of the render node. Duplicated descriptors share it.
struct DrmFile {
  const Gpu* gpu = nullptr;
};

struct Queue {
  uint32_t id = 0;
  uint32_t gpu_index = 0;
  QueueParams params;
  bool on_hardware = false;            ///< handed to the command processor
  int sdma_slot = -1;                  ///< of SDMA queues
  std::vector<MemoryObject*> buffers;  ///< held while the queue exists
  MemoryObject* ring = nullptr;        ///< one of them
};

/// One GPU as one process sees it.
struct ProcessDevice {
  const Gpu* gpu = nullptr;
  std::shared_ptr<DrmFile> vm_file;  ///< null until ACQUIRE_VM
  AddressSpace space;
  std::unique_ptr<PageStore> vram;
  std::map<uint32_t, std::unique_ptr<MemoryObject>> objects;  ///< by idr
  int doorbell_fd = -1;
  std::byte* doorbells = nullptr;  ///< the model's mapping, made on first use
  int mmio_fd = -1;
  std::byte* mmio = nullptr;
  std::unique_ptr<GpuRunner> runner;
  uint64_t trap_tba = 0, trap_tma = 0;
  uint64_t scratch_va = 0;
  uint64_t next_mmap_offset = 1ull << 32;  ///< DRM hands out offsets from 4 GiB on
  uint64_t doorbells_used[16] = {};        ///< bit set of 1024

  bool acquired() const { return vm_file != nullptr; }
};

/// Guarded by `mutex`, except events (their own lock). Lives until its process ends; never destroyed before its
/// runners.
struct Process {
  explicit Process(Machine& machine);
  ~Process();

  Machine& machine;
  const int pid;
  std::mutex mutex;
  EventTable events;
  std::unique_ptr<PageStore> gtt;
  std::vector<std::unique_ptr<ProcessDevice>> devices;  ///< by GPU index
  std::map<uint32_t, Queue> queues;
  uint64_t system_bytes = 0, system_limit = 0;  ///< GTT and registered memory
  bool runtime_enabled = false;
  uint64_t own_event_page = PageStore::kNoRange;  ///< in the GTT store, when the client brings no event page

  ProcessDevice* device(uint32_t gpu_id);
  /// By handle; null when there is none.
  MemoryObject* object(uint64_t handle, ProcessDevice** owner = nullptr);
  /// Finds the buffer whose mapping on that GPU starts at va. `bytes` is the mapping's size, by way of the page table.
  MemoryObject* object_mapped_at(ProcessDevice& device, uint64_t va, uint64_t* bytes);

  /// The store of GTT memory, made on first use. 0 or -ENOMEM.
  int need_gtt();
  /// 0 or -ENOMEM.
  int need_doorbells(ProcessDevice& device);
  int need_mmio(ProcessDevice& device);
  /// Makes the command processor and its thread. 0 or -EIO.
  int need_runner(ProcessDevice& device);
};

}  // namespace vgpu
