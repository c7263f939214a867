// User queues: the driver's checks of a queue's parameters and buffers, doorbells, and handing them to the hardware.
#include <errno.h>

#include <algorithm>
#include <bit>

#include "tools/vgpu/kernel/cu_mask.h"
#include "tools/vgpu/kernel/ioctl.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr int kNotSupported = 524;  // ENOTSUPP of the kernel, which no header of user space has
constexpr uint32_t kMinRingBytes = 1024;
constexpr uint32_t kMaxQueues = 1024;          // of a process
constexpr uint32_t kMaxQueuesPerDevice = 127;  // of a process
constexpr uint32_t kSdmaByEngineMinor = 17;
constexpr uint32_t kEopBytes = 4096;
constexpr uint32_t kCuMaskLimit = 1024;
// Doorbells 256..511 and their mirror 768..1023 belong to SDMA, interrupt handling and video engines.
constexpr uint32_t kDoorbellCount = 1024, kFirstOtherDoorbell = 0x100, kOtherDoorbells = 0x100, kDoorbellMirror = 0x200;
constexpr uint32_t kSdmaDoorbellStride = 10;

bool is_sdma(uint32_t type) {
  return type == static_cast<uint32_t>(QueueType::kSdma) || type == static_cast<uint32_t>(QueueType::kSdmaXgmi) ||
         type == static_cast<uint32_t>(QueueType::kSdmaByEngine);
}

bool is_gfx11(const Gpu& gpu) { return gpu.card().prop("gfx_target_version") >= 110000; }

int check_percentage_and_priority(uint32_t percentage, uint32_t priority) {
  if ((percentage & 0xff) > 100 || priority > 15) return -EINVAL;
  return 0;
}

int check_parameters(Call& call, uapi::CreateQueue& args) {
  if (const int error = check_percentage_and_priority(args.queue_percentage, args.queue_priority)) return error;
  if (args.ring_base != 0 && !in_user_range(args.ring_base, 8)) return -EFAULT;
  if (args.ring_size != 0 && !std::has_single_bit(args.ring_size)) return -EINVAL;
  args.ring_size = std::max(args.ring_size, kMinRingBytes);
  for (const uint64_t address : {args.read_pointer, args.write_pointer}) {
    if (!in_user_range(address, 4)) return -EFAULT;
  }
  for (const uint64_t address : {args.eop_buffer, args.ctx_save_restore}) {
    if (address != 0 && !in_user_range(address, 4)) return -EFAULT;
  }
  const uint32_t types = call.kernel.machine().options.kfd_minor >= kSdmaByEngineMinor ? 5 : 4;
  return args.queue_type < types ? 0 : -kNotSupported;
}

// One buffer of a queue: a mapping must start exactly at va, and span exactly `bytes` unless that is 0.
int hold_buffer(Process& process, ProcessDevice& device, uint64_t va, uint64_t bytes, Queue& queue) {
  uint64_t mapped = 0;
  MemoryObject* object = process.object_mapped_at(device, va, &mapped);
  if (object == nullptr) return -EINVAL;
  if (bytes != 0 && mapped != bytes) return -EINVAL;
  queue.buffers.push_back(object);
  ++object->queue_uses[device.gpu->index];
  return 0;
}

int hold_buffers(Process& process, ProcessDevice& device, const uapi::CreateQueue& args, Queue& queue) {
  constexpr uint64_t kPage = ~(kPageBytes - 1);
  const auto hold = [&](uint64_t va, uint64_t bytes) { return hold_buffer(process, device, va, bytes, queue); };
  if (const int error = hold(args.write_pointer & kPage, kPageBytes)) return error;
  // With the scheduler firmware of gfx11 the driver maps the write pointer's page for itself: GTT only.
  if (is_gfx11(*device.gpu) && !queue.buffers.back()->is(uapi::kAllocGtt)) return -EINVAL;
  if (const int error = hold(args.read_pointer & kPage, kPageBytes)) return error;
  // Rings smaller than a page must only start where their mapping starts.
  if (const int error = hold(args.ring_base & kPage, args.ring_size & kPage)) return error;
  queue.ring = queue.buffers.back();
  if (is_sdma(args.queue_type)) return 0;
  if (args.eop_buffer != 0) {
    if (args.eop_buffer_size != kEopBytes) return -EINVAL;
    if (const int error = hold(args.eop_buffer & kPage, kEopBytes)) return error;
  }
  const Card& card = device.gpu->card();
  if (args.ctl_stack_size != card.prop("ctl_stack_size")) return -EINVAL;
  if (args.ctx_save_restore_size < card.prop("cwsr_size")) return -EINVAL;
  const uint64_t whole =
      (uint64_t{args.ctx_save_restore_size} + device.gpu->debug_memory_bytes) * device.gpu->config.num_xcc;
  const uint64_t save = args.ctx_save_restore & kPage, bytes = (whole + kPageBytes - 1) & kPage;
  // Shared virtual memory serves too, when it can never fault.
  if (process.svm.always_mapped(save, bytes, device.gpu->index)) return 0;
  return hold(save, bytes);
}

void release_buffers(ProcessDevice& device, Queue& queue) {
  for (MemoryObject* object : queue.buffers) --object->queue_uses[device.gpu->index];
  queue.buffers.clear();
}

void let_go(ProcessDevice& device, Queue& queue, MemoryObject* object) {
  const auto held = std::ranges::find(queue.buffers, object);
  if (held == queue.buffers.end()) return;
  --object->queue_uses[device.gpu->index];
  queue.buffers.erase(held);
}

bool doorbell_taken(const ProcessDevice& device, uint32_t id) {
  return (device.doorbells_used[id / 64] >> id % 64 & 1) != 0;
}

// The first free one for compute; a fixed one for each SDMA slot. 0 or -EBUSY.
int take_doorbell(ProcessDevice& device, Queue& queue) {
  uint32_t id = 0;
  if (is_sdma(static_cast<uint32_t>(queue.params.type))) {
    const auto slot = static_cast<uint32_t>(queue.sdma_slot);
    const auto per_engine = static_cast<uint32_t>(device.gpu->card().prop("num_sdma_queues_per_engine"));
    const uint32_t in_engine = slot % per_engine;
    id = kFirstOtherDoorbell + slot / per_engine * kSdmaDoorbellStride + (in_engine & 1) * kDoorbellMirror +
         in_engine / 2;
  } else {
    const auto reserved = [](uint32_t each) {
      return each % kDoorbellMirror >= kFirstOtherDoorbell &&
             each % kDoorbellMirror < kFirstOtherDoorbell + kOtherDoorbells;
    };
    while (id < kDoorbellCount && (reserved(id) || doorbell_taken(device, id))) ++id;
  }
  if (id >= kDoorbellCount || doorbell_taken(device, id)) return -EBUSY;
  device.doorbells_used[id / 64] |= 1ull << id % 64;
  queue.params.doorbell_id = id;
  auto* doorbell = reinterpret_cast<std::atomic<uint64_t>*>(device.doorbells + id * 8);
  doorbell->store(kDoorbellNeverRung);
  queue.params.doorbell = doorbell;
  return 0;
}

void give_back_doorbell(ProcessDevice& device, uint32_t id) { device.doorbells_used[id / 64] &= ~(1ull << id % 64); }

// Engines are filled round robin, like the driver's bitmap of queues across engines. 0, -ENOMEM, -EINVAL or -EBUSY.
int take_sdma_slot(const Process& process, const ProcessDevice& device, const uapi::CreateQueue& args, Queue& queue) {
  const Card& card = device.gpu->card();
  const bool xgmi = args.queue_type == static_cast<uint32_t>(QueueType::kSdmaXgmi);
  const bool by_engine = args.queue_type == static_cast<uint32_t>(QueueType::kSdmaByEngine);
  const auto plain = static_cast<uint32_t>(card.prop("num_sdma_engines"));
  const auto all = plain + static_cast<uint32_t>(card.prop("num_sdma_xgmi_engines"));
  const auto per_engine = static_cast<uint32_t>(card.prop("num_sdma_queues_per_engine"));
  if (by_engine && args.sdma_engine_id >= all) return -EINVAL;
  const uint32_t first = by_engine ? args.sdma_engine_id : xgmi ? plain : 0;
  const uint32_t last = by_engine ? args.sdma_engine_id + 1 : xgmi ? all : plain;
  for (uint32_t in_engine = 0; in_engine < per_engine; ++in_engine) {
    for (uint32_t engine = first; engine < last; ++engine) {
      const int slot = static_cast<int>(engine * per_engine + in_engine);
      const bool taken = std::ranges::any_of(process.queues, [&](const auto& each) {
        return each.second.gpu_index == device.gpu->index && each.second.sdma_slot == slot;
      });
      if (taken) continue;
      queue.sdma_slot = slot;
      queue.params.sdma_engine = engine;
      return 0;
    }
  }
  return by_engine ? -EBUSY : -ENOMEM;
}

// An inactive queue exists and is not on the hardware.
bool active(const QueueParams& params) {
  return params.ring_va != 0 && params.ring_bytes != 0 && params.percentage != 0;
}

void schedule(ProcessDevice& device, Queue& queue) {
  const bool wanted = active(queue.params) && !device.runner->evicted();
  if (wanted && !queue.on_hardware) {
    device.runner->add_queue(queue.params);
    queue.on_hardware = true;
  } else if (queue.on_hardware) {
    device.runner->update_queue(queue.id, queue.params.ring_va, queue.params.ring_bytes, queue.params.percentage,
                                queue.params.priority);
  }
}

void fill_params(const uapi::CreateQueue& args, Queue& queue) {
  QueueParams& params = queue.params;
  params.queue_id = queue.id;
  params.type = static_cast<QueueType>(args.queue_type);
  params.ring_va = args.ring_base;
  params.ring_bytes = args.ring_size;
  params.read_ptr_va = args.read_pointer;
  params.write_ptr_va = args.write_pointer;
  params.ctx_save_va = args.ctx_save_restore;
  params.ctx_save_bytes = args.ctx_save_restore_size;
  params.ctl_stack_bytes = args.ctl_stack_size;
  params.priority = args.queue_priority;
  params.percentage = args.queue_percentage & 0xff;
}

// A slot for the queue: id, SDMA slot, doorbell.
int place_queue(Process& process, ProcessDevice& device, const uapi::CreateQueue& args, Queue& queue) {
  const auto here = std::ranges::count_if(process.queues,
                                          [&](const auto& each) { return each.second.gpu_index == device.gpu->index; });
  if (here >= kMaxQueuesPerDevice) return -ENOSPC;
  while (process.queues.contains(queue.id)) ++queue.id;
  if (queue.id >= kMaxQueues) return -ENOMEM;
  fill_params(args, queue);
  if (is_sdma(args.queue_type)) {
    if (const int error = take_sdma_slot(process, device, args, queue)) return error;
  }
  return take_doorbell(device, queue);
}

}  // namespace

int ioctl_create_queue(Call& call) {
  auto& args = call.as<uapi::CreateQueue>();
  if (const int error = check_parameters(call, args)) return error;
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  if (!device->acquired()) return -ESRCH;
  if (const int error = call.process.need_doorbells(*device)) return error;
  if (const int error = call.process.need_runner(*device))
    return call.refuse(error, "no command processor for this GPU");
  Queue queue;
  queue.gpu_index = device->gpu->index;
  int error = hold_buffers(call.process, *device, args, queue);
  if (error == 0) error = place_queue(call.process, *device, args, queue);
  if (error != 0) {
    release_buffers(*device, queue);
    return error;
  }
  args.queue_id = queue.id;
  args.doorbell_offset = uapi::kMmapTypeDoorbell << uapi::kMmapTypeShift |
                         uint64_t{args.gpu_id} << uapi::kMmapGpuShift | queue.params.doorbell_id * 8;
  Queue& placed = call.process.queues[queue.id] = std::move(queue);
  schedule(*device, placed);
  return 0;
}

int ioctl_update_queue(Call& call) {
  const auto& args = call.as<uapi::UpdateQueue>();
  if (const int error = check_percentage_and_priority(args.queue_percentage, args.queue_priority)) return error;
  if (args.ring_base != 0 && !in_user_range(args.ring_base, 8)) return -EFAULT;
  if (args.ring_size != 0 && !std::has_single_bit(args.ring_size)) return -EINVAL;
  std::lock_guard lock(call.process.mutex);
  const auto found = call.process.queues.find(args.queue_id);
  if (found == call.process.queues.end()) return -EFAULT;
  Queue& queue = found->second;
  ProcessDevice& device = *call.process.devices[queue.gpu_index];
  const uint32_t ring_bytes = args.ring_size == 0 ? 0 : std::max(args.ring_size, kMinRingBytes);
  if (args.ring_base != 0 && ring_bytes != 0 && args.ring_base != queue.params.ring_va) {
    if (hold_buffer(call.process, device, args.ring_base & ~(kPageBytes - 1), ring_bytes & ~(kPageBytes - 1), queue) !=
        0) {
      return -EFAULT;
    }
    let_go(device, queue, queue.ring);
    queue.ring = queue.buffers.back();
  }
  queue.params.ring_va = args.ring_base;
  queue.params.ring_bytes = ring_bytes;
  queue.params.percentage = args.queue_percentage & 0xff;
  queue.params.priority = args.queue_priority;
  schedule(device, queue);
  return 0;
}

int ioctl_destroy_queue(Call& call) {
  std::lock_guard lock(call.process.mutex);
  const auto found = call.process.queues.find(call.as<uapi::DestroyQueue>().queue_id);
  if (found == call.process.queues.end()) return -EINVAL;
  Queue& queue = found->second;
  ProcessDevice& device = *call.process.devices[queue.gpu_index];
  if (queue.on_hardware) device.runner->remove_queue(queue.id);
  if (device.gws_queue == queue.id) device.gws_queue = -1;
  give_back_doorbell(device, queue.params.doorbell_id);
  release_buffers(device, queue);
  call.process.queues.erase(found);
  return 0;
}

int ioctl_set_cu_mask(Call& call) {
  const auto& args = call.as<uapi::SetCuMask>();
  if (args.num_cu_mask == 0 || args.num_cu_mask % 32 != 0) return -EINVAL;
  std::vector<uint32_t> mask(std::min(args.num_cu_mask, kCuMaskLimit) / 32);
  if (!copy_from_user(mask.data(), args.cu_mask_ptr, mask.size() * sizeof(uint32_t))) return -EFAULT;
  std::lock_guard lock(call.process.mutex);
  const auto found = call.process.queues.find(args.queue_id);
  if (found == call.process.queues.end()) return -EFAULT;
  const Gpu& gpu = *call.process.devices[found->second.gpu_index]->gpu;
  if (is_gfx11(gpu)) {
    // Compute units come in pairs that are enabled together.
    for (const uint32_t word : mask) {
      if (((word ^ word >> 1) & 0x55555555u) != 0) return -EINVAL;
    }
  }
  Queue& queue = found->second;
  queue.params.cus = map_cu_mask(gpu.config, mask, is_gfx11(gpu));
  if (queue.on_hardware) call.process.devices[queue.gpu_index]->runner->cp().set_cu_mask(queue.id, queue.params.cus);
  return 0;
}

// A queue is suspended between packets, so there never are waves to be saved; the header says so.
int ioctl_get_queue_wave_state(Call& call) {
  auto& args = call.as<uapi::GetQueueWaveState>();
  std::lock_guard lock(call.process.mutex);
  const auto found = call.process.queues.find(args.queue_id);
  if (found == call.process.queues.end()) return -EFAULT;
  const QueueParams& params = found->second.params;
  if (active(params) || is_sdma(static_cast<uint32_t>(params.type))) return -EINVAL;
  const uint32_t header[] = {params.ctl_stack_bytes, 0, params.ctl_stack_bytes, 0};
  if (!copy_to_user(args.ctl_stack_address, header, sizeof header)) return -EFAULT;
  args.ctl_stack_used_size = args.save_area_used_size = 0;
  return 0;
}

int ioctl_alloc_queue_gws(Call& call) {
  auto& args = call.as<uapi::AllocQueueGws>();
  std::lock_guard lock(call.process.mutex);
  const auto found = call.process.queues.find(args.queue_id);
  if (found == call.process.queues.end()) return -EINVAL;
  ProcessDevice& device = *call.process.devices[found->second.gpu_index];
  if (device.gpu->card().prop("num_gws") == 0) return -ENODEV;
  args.first_gws = 0;
  if (args.num_gws == 0) {
    if (device.gws_queue < 0) return -EINVAL;
    device.gws_queue = -1;
    return 0;
  }
  if (device.gws_queue >= 0) return -EBUSY;
  device.gws_queue = args.queue_id;
  return 0;
}

}  // namespace vgpu
