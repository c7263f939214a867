// What the driver keeps for one process: its GPUs with page tables, buffers and queues; its events.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "tools/vgpu/kernel/drm_file.h"
#include "tools/vgpu/kernel/gpu_runner.h"
#include "tools/vgpu/kernel/memory_object.h"
#include "tools/vgpu/kernel/smi.h"
#include "tools/vgpu/kernel/svm.h"
#include "tools/vgpu/memory/page_store.h"

namespace vgpu {

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kDoorbellSlice = 8192;  ///< doorbells of one process on one GPU: 1024 of 8 bytes

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
  std::map<uint32_t, std::unique_ptr<MemoryObject>> objects;  ///< by idr
  int doorbell_fd = -1;
  std::byte* doorbells = nullptr;  ///< the model's mapping, made on first use
  int mmio_fd = -1;
  std::byte* mmio = nullptr;
  SmiStreams smi;
  std::unique_ptr<GpuRunner> runner;
  int64_t gws_queue = -1;  ///< the one queue that has global wave sync
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
  std::vector<std::unique_ptr<PageView>> views;         ///< of the machine's stores, made on first use
  std::vector<std::unique_ptr<ProcessDevice>> devices;  ///< by GPU index
  std::map<uint32_t, Queue> queues;
  Svm svm{*this};
  bool runtime_enabled = false;
  uint64_t r_debug = 0;  ///< of RUNTIME_ENABLE
  bool ttmp_setup = false;
  bool debugged = false;                    ///< DBG_TRAP ENABLE
  uint64_t debugger_exceptions = 0;         ///< the mask that the debugger wants
  std::shared_ptr<Backing> own_event_page;  ///< when the client brings no event page

  PageView* view(uint32_t store);

  /// Null for ids that are unknown, or of a GPU that the device cgroup forbids.
  ProcessDevice* device(uint32_t gpu_id);
  /// By handle; null when there is none.
  MemoryObject* object(uint64_t handle, ProcessDevice** owner = nullptr);
  /// Finds the buffer whose mapping on that GPU starts at va. `bytes` is the mapping's size, by way of the page table.
  MemoryObject* object_mapped_at(ProcessDevice& device, uint64_t va, uint64_t* bytes);

  /// Zeroed pages of a store (0: system memory, 1 + GPU index: VRAM). Null when there are none left.
  std::shared_ptr<Backing> allocate(uint32_t store, uint64_t bytes);
  /// What a dma-buf names; null when that is gone.
  std::shared_ptr<Backing> import(const DmaBufs::Found& found);
  /// 0 or -ENOMEM.
  int need_doorbells(ProcessDevice& device);
  int need_mmio(ProcessDevice& device);
  /// Makes the command processor and its thread. 0 or -EIO.
  int need_runner(ProcessDevice& device);
};

}  // namespace vgpu
