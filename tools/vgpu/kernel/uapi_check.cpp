// Nothing but assertions: our argument structures against the distribution's <linux/kfd_ioctl.h>, member by member
// where a wrong offset would go unseen otherwise.
#include <linux/kfd_ioctl.h>

#include <cstddef>

#include "tools/vgpu/kernel/uapi.h"

namespace vgpu::uapi {

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(struct theirs))
#define SAME(ours, member, theirs, other) static_assert(offsetof(ours, member) == offsetof(struct theirs, other))

SAME_SIZE(GetVersion, kfd_ioctl_get_version_args);
SAME_SIZE(DestroyQueue, kfd_ioctl_destroy_queue_args);
SAME_SIZE(UpdateQueue, kfd_ioctl_update_queue_args);
SAME_SIZE(SetCuMask, kfd_ioctl_set_cu_mask_args);
SAME_SIZE(GetQueueWaveState, kfd_ioctl_get_queue_wave_state_args);
SAME_SIZE(AllocQueueGws, kfd_ioctl_alloc_queue_gws_args);
SAME_SIZE(SetMemoryPolicy, kfd_ioctl_set_memory_policy_args);
SAME_SIZE(GetClockCounters, kfd_ioctl_get_clock_counters_args);
SAME_SIZE(Apertures, kfd_process_device_apertures);
SAME_SIZE(GetProcessApertures, kfd_ioctl_get_process_apertures_args);
SAME_SIZE(GetProcessAperturesNew, kfd_ioctl_get_process_apertures_new_args);
SAME_SIZE(CreateEvent, kfd_ioctl_create_event_args);
SAME_SIZE(EventId, kfd_ioctl_set_event_args);
SAME_SIZE(MemoryException, kfd_hsa_memory_exception_data);
SAME_SIZE(HwException, kfd_hsa_hw_exception_data);
SAME_SIZE(EventData, kfd_event_data);
SAME_SIZE(WaitEvents, kfd_ioctl_wait_events_args);
SAME_SIZE(SetScratchBackingVa, kfd_ioctl_set_scratch_backing_va_args);
SAME_SIZE(GetTileConfig, kfd_ioctl_get_tile_config_args);
SAME_SIZE(SetTrapHandler, kfd_ioctl_set_trap_handler_args);
SAME_SIZE(AcquireVm, kfd_ioctl_acquire_vm_args);
SAME_SIZE(AllocMemory, kfd_ioctl_alloc_memory_of_gpu_args);
SAME_SIZE(FreeMemory, kfd_ioctl_free_memory_of_gpu_args);
SAME_SIZE(MapMemory, kfd_ioctl_map_memory_to_gpu_args);
SAME_SIZE(GetDmabufInfo, kfd_ioctl_get_dmabuf_info_args);
SAME_SIZE(ImportDmabuf, kfd_ioctl_import_dmabuf_args);
SAME_SIZE(SmiEvents, kfd_ioctl_smi_events_args);
SAME_SIZE(Svm, kfd_ioctl_svm_args);
SAME_SIZE(SetXnackMode, kfd_ioctl_set_xnack_mode_args);
SAME_SIZE(CriuOp, kfd_ioctl_criu_args);
SAME_SIZE(AvailableMemory, kfd_ioctl_get_available_memory_args);

static_assert(sizeof(CreateQueue) == sizeof(kfd_ioctl_create_queue_args) + 8);  // the 1.17 engine id
SAME(CreateQueue, ring_base, kfd_ioctl_create_queue_args, ring_base_address);
SAME(CreateQueue, write_pointer, kfd_ioctl_create_queue_args, write_pointer_address);
SAME(CreateQueue, read_pointer, kfd_ioctl_create_queue_args, read_pointer_address);
SAME(CreateQueue, doorbell_offset, kfd_ioctl_create_queue_args, doorbell_offset);
SAME(CreateQueue, ring_size, kfd_ioctl_create_queue_args, ring_size);
SAME(CreateQueue, gpu_id, kfd_ioctl_create_queue_args, gpu_id);
SAME(CreateQueue, queue_type, kfd_ioctl_create_queue_args, queue_type);
SAME(CreateQueue, queue_percentage, kfd_ioctl_create_queue_args, queue_percentage);
SAME(CreateQueue, queue_priority, kfd_ioctl_create_queue_args, queue_priority);
SAME(CreateQueue, queue_id, kfd_ioctl_create_queue_args, queue_id);
SAME(CreateQueue, eop_buffer, kfd_ioctl_create_queue_args, eop_buffer_address);
SAME(CreateQueue, ctx_save_restore, kfd_ioctl_create_queue_args, ctx_save_restore_address);
SAME(CreateQueue, ctx_save_restore_size, kfd_ioctl_create_queue_args, ctx_save_restore_size);
SAME(CreateQueue, ctl_stack_size, kfd_ioctl_create_queue_args, ctl_stack_size);
SAME(UpdateQueue, queue_id, kfd_ioctl_update_queue_args, queue_id);
SAME(UpdateQueue, ring_size, kfd_ioctl_update_queue_args, ring_size);
SAME(CreateEvent, event_trigger_data, kfd_ioctl_create_event_args, event_trigger_data);
SAME(CreateEvent, event_type, kfd_ioctl_create_event_args, event_type);
SAME(CreateEvent, auto_reset, kfd_ioctl_create_event_args, auto_reset);
SAME(CreateEvent, event_id, kfd_ioctl_create_event_args, event_id);
SAME(CreateEvent, event_slot_index, kfd_ioctl_create_event_args, event_slot_index);
SAME(WaitEvents, num_events, kfd_ioctl_wait_events_args, num_events);
SAME(WaitEvents, wait_for_all, kfd_ioctl_wait_events_args, wait_for_all);
SAME(WaitEvents, timeout_ms, kfd_ioctl_wait_events_args, timeout);
SAME(WaitEvents, wait_result, kfd_ioctl_wait_events_args, wait_result);
SAME(EventData, event_id, kfd_event_data, event_id);
SAME(MemoryException, va, kfd_hsa_memory_exception_data, va);
SAME(MemoryException, gpu_id, kfd_hsa_memory_exception_data, gpu_id);
SAME(AllocMemory, va, kfd_ioctl_alloc_memory_of_gpu_args, va_addr);
SAME(AllocMemory, size, kfd_ioctl_alloc_memory_of_gpu_args, size);
SAME(AllocMemory, handle, kfd_ioctl_alloc_memory_of_gpu_args, handle);
SAME(AllocMemory, mmap_offset, kfd_ioctl_alloc_memory_of_gpu_args, mmap_offset);
SAME(AllocMemory, gpu_id, kfd_ioctl_alloc_memory_of_gpu_args, gpu_id);
SAME(AllocMemory, flags, kfd_ioctl_alloc_memory_of_gpu_args, flags);
SAME(MapMemory, n_success, kfd_ioctl_map_memory_to_gpu_args, n_success);
SAME(SetTrapHandler, gpu_id, kfd_ioctl_set_trap_handler_args, gpu_id);
SAME(GetTileConfig, gb_addr_config, kfd_ioctl_get_tile_config_args, gb_addr_config);
SAME(GetClockCounters, gpu_id, kfd_ioctl_get_clock_counters_args, gpu_id);
SAME(SetMemoryPolicy, gpu_id, kfd_ioctl_set_memory_policy_args, gpu_id);
SAME(SetCuMask, cu_mask_ptr, kfd_ioctl_set_cu_mask_args, cu_mask_ptr);
SAME(AvailableMemory, gpu_id, kfd_ioctl_get_available_memory_args, gpu_id);

#undef SAME_SIZE
#undef SAME

static_assert(kAllocVram == KFD_IOC_ALLOC_MEM_FLAGS_VRAM);
static_assert(kAllocGtt == KFD_IOC_ALLOC_MEM_FLAGS_GTT);
static_assert(kAllocUserptr == KFD_IOC_ALLOC_MEM_FLAGS_USERPTR);
static_assert(kAllocDoorbell == KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL);
static_assert(kAllocMmioRemap == KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP);
static_assert(kAllocWritable == static_cast<uint32_t>(KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE));
static_assert(kAllocExecutable == KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE);
static_assert(kAllocPublic == KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC);
static_assert(kAllocNoSubstitute == KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE);
static_assert(kAllocAqlQueueMem == KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM);
static_assert(kAllocCoherent == KFD_IOC_ALLOC_MEM_FLAGS_COHERENT);
static_assert(kAllocUncached == KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED);
static_assert(kEventSignal == KFD_IOC_EVENT_SIGNAL);
static_assert(kEventHwException == KFD_IOC_EVENT_HW_EXCEPTION);
static_assert(kEventDebug == KFD_IOC_EVENT_DEBUG_EVENT);
static_assert(kEventMemory == KFD_IOC_EVENT_MEMORY);
static_assert(kSignalEventLimit == KFD_SIGNAL_EVENT_LIMIT);
static_assert(kWaitComplete == KFD_IOC_WAIT_RESULT_COMPLETE);
static_assert(kWaitTimeout == KFD_IOC_WAIT_RESULT_TIMEOUT);
static_assert(kWaitFail == KFD_IOC_WAIT_RESULT_FAIL);

}  // namespace vgpu::uapi
