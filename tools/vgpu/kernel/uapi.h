// The kernel's side of /dev/kfd: argument structures as the driver lays them out. The distribution's own header covers
// versions up to 1.11 only, so the layouts stand here and uapi_check.cpp holds them against that header where it can.
// Sources: include/uapi/linux/kfd_ioctl.h of Linux 6.1 (checked) to 6.16 (newer members).
#pragma once

#include <cstdint>

namespace vgpu::uapi {

inline constexpr uint32_t kMajor = 1;

struct GetVersion {
  uint32_t major, minor;
};

struct CreateQueue {
  uint64_t ring_base, write_pointer, read_pointer, doorbell_offset;
  uint32_t ring_size, gpu_id, queue_type, queue_percentage, queue_priority, queue_id;
  uint64_t eop_buffer, eop_buffer_size, ctx_save_restore;
  uint32_t ctx_save_restore_size, ctl_stack_size;
  uint32_t sdma_engine_id, pad;  // since 1.17
};

struct DestroyQueue {
  uint32_t queue_id, pad;
};

struct UpdateQueue {
  uint64_t ring_base;
  uint32_t queue_id, ring_size, queue_percentage, queue_priority;
};

struct SetCuMask {
  uint32_t queue_id, num_cu_mask;
  uint64_t cu_mask_ptr;
};

struct GetQueueWaveState {
  uint64_t ctl_stack_address;
  uint32_t ctl_stack_used_size, save_area_used_size, queue_id, pad;
};

struct AllocQueueGws {
  uint32_t queue_id, num_gws, first_gws, pad;
};

struct SetMemoryPolicy {
  uint64_t alternate_aperture_base, alternate_aperture_size;
  uint32_t gpu_id, default_policy, alternate_policy, pad;
};

struct GetClockCounters {
  uint64_t gpu_clock, cpu_clock, system_clock, system_freq;
  uint32_t gpu_id, pad;
};

struct Apertures {
  uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
  uint32_t gpu_id, pad;
};

struct GetProcessApertures {
  Apertures apertures[7];
  uint32_t num_of_nodes, pad;
};

struct GetProcessAperturesNew {
  uint64_t apertures_ptr;
  uint32_t num_of_nodes, pad;
};

struct CreateEvent {
  uint64_t event_page_offset;
  uint32_t event_trigger_data, event_type, auto_reset, node_id, event_id, event_slot_index;
};

struct EventId {  // DESTROY_EVENT, SET_EVENT, RESET_EVENT
  uint32_t event_id, pad;
};

struct MemoryException {
  uint32_t not_present, read_only, no_execute, imprecise;
  uint64_t va;
  uint32_t gpu_id, error_type;
};

struct HwException {
  uint32_t reset_type, reset_cause, memory_lost, gpu_id;
};

struct EventData {
  union {
    MemoryException memory;
    HwException hardware;
    uint64_t last_event_age;
  };
  uint64_t ext;
  uint32_t event_id, pad;
};

struct WaitEvents {
  uint64_t events_ptr;
  uint32_t num_events, wait_for_all, timeout_ms, wait_result;
};

struct SetScratchBackingVa {
  uint64_t va;
  uint32_t gpu_id, pad;
};

struct GetTileConfig {
  uint64_t tile_config_ptr, macro_tile_config_ptr;
  uint32_t num_tile_configs, num_macro_tile_configs, gpu_id, gb_addr_config, num_banks, num_ranks;
};

struct SetTrapHandler {
  uint64_t tba, tma;
  uint32_t gpu_id, pad;
};

struct AcquireVm {
  uint32_t drm_fd, gpu_id;
};

struct AllocMemory {
  uint64_t va, size, handle, mmap_offset;
  uint32_t gpu_id, flags;
};

struct FreeMemory {
  uint64_t handle;
};

struct MapMemory {  // MAP and UNMAP
  uint64_t handle, device_ids_ptr;
  uint32_t n_devices, n_success;
};

struct GetDmabufInfo {
  uint64_t size, metadata_ptr;
  uint32_t metadata_size, gpu_id, flags, dmabuf_fd;
};

struct ImportDmabuf {
  uint64_t va, handle;
  uint32_t gpu_id, dmabuf_fd;
};

struct ExportDmabuf {
  uint64_t handle;
  uint32_t flags, dmabuf_fd;
};

struct SmiEvents {
  uint32_t gpu_id, anon_fd;
};

struct Svm {  // followed by nattr pairs of u32
  uint64_t start, size;
  uint32_t op, nattr;
};

struct SetXnackMode {
  int32_t mode;
};

struct CriuOp {
  uint64_t devices, bos, priv_data, priv_data_size;
  uint32_t num_devices, num_bos, num_objects, pid, op, pad;
};

struct AvailableMemory {
  uint64_t available;
  uint32_t gpu_id, pad;
};

struct RuntimeEnable {
  uint64_t r_debug;
  uint32_t mode_mask, capabilities_mask;
};

struct DbgTrap {
  uint32_t pid, op;
  uint64_t words[3];
};

// ALLOC_MEMORY_OF_GPU flags.
inline constexpr uint32_t kAllocVram = 1u << 0;
inline constexpr uint32_t kAllocGtt = 1u << 1;
inline constexpr uint32_t kAllocUserptr = 1u << 2;
inline constexpr uint32_t kAllocDoorbell = 1u << 3;
inline constexpr uint32_t kAllocMmioRemap = 1u << 4;
inline constexpr uint32_t kAllocWritable = 1u << 31;
inline constexpr uint32_t kAllocExecutable = 1u << 30;
inline constexpr uint32_t kAllocPublic = 1u << 29;
inline constexpr uint32_t kAllocNoSubstitute = 1u << 28;
inline constexpr uint32_t kAllocAqlQueueMem = 1u << 27;
inline constexpr uint32_t kAllocCoherent = 1u << 26;
inline constexpr uint32_t kAllocUncached = 1u << 25;
inline constexpr uint32_t kAllocExtCoherent = 1u << 24;

// SVM attributes.
struct SvmAttribute {
  uint32_t type, value;
};
inline constexpr uint32_t kSvmOpSet = 0, kSvmOpGet = 1;
inline constexpr uint32_t kSvmPreferredLocation = 0, kSvmPrefetchLocation = 1, kSvmAccess = 2, kSvmAccessInPlace = 3;
inline constexpr uint32_t kSvmNoAccess = 4, kSvmSetFlags = 5, kSvmClearFlags = 6, kSvmGranularity = 7;
inline constexpr uint32_t kSvmSystem = 0, kSvmNowhere = 0xffffffff;  // locations that are no GPU
inline constexpr uint32_t kSvmHostAccess = 1, kSvmCoherent = 2, kSvmGpuReadOnly = 8, kSvmGpuExecutable = 0x10;
inline constexpr uint32_t kSvmAlwaysMapped = 0x40, kSvmExtCoherent = 0x80;

// CRIU and debugger operations.
inline constexpr uint32_t kCriuProcessInfo = 0, kCriuCheckpoint = 1, kCriuUnpause = 2, kCriuRestore = 3,
                          kCriuResume = 4;
inline constexpr uint32_t kDbgEnable = 0, kDbgDisable = 1, kDbgSendRuntimeEvent = 2, kDbgSetExceptions = 3;
inline constexpr uint32_t kDbgLaunchOverride = 4, kDbgLaunchMode = 5, kDbgSuspend = 6, kDbgResume = 7;
inline constexpr uint32_t kDbgSetWatch = 8, kDbgClearWatch = 9, kDbgSetFlags = 10, kDbgQueryEvent = 11;
inline constexpr uint32_t kDbgQueryException = 12, kDbgQueueSnapshot = 13, kDbgDeviceSnapshot = 14;

// Event types.
inline constexpr uint32_t kEventSignal = 0;
inline constexpr uint32_t kEventHwException = 3;
inline constexpr uint32_t kEventDebug = 5;
inline constexpr uint32_t kEventMemory = 8;

inline constexpr uint32_t kSignalEventLimit = 4096;
inline constexpr uint64_t kEventPageBytes = kSignalEventLimit * 8;
inline constexpr uint32_t kFirstNonSignalEvent = 0x40000000;
inline constexpr uint32_t kLastNonSignalEvent = 0x7fffffff;

inline constexpr uint32_t kWaitComplete = 0;
inline constexpr uint32_t kWaitTimeout = 1;
inline constexpr uint32_t kWaitFail = 2;
inline constexpr uint32_t kTimeoutImmediate = 0;
inline constexpr uint32_t kTimeoutInfinite = 0xffffffff;

// /dev/kfd mmap offsets: type in bits 63:62, GPU in 61:46.
inline constexpr uint32_t kMmapTypeShift = 62;
inline constexpr uint64_t kMmapTypeMmio = 0;
inline constexpr uint64_t kMmapTypeReserved = 1;
inline constexpr uint64_t kMmapTypeEvents = 2;
inline constexpr uint64_t kMmapTypeDoorbell = 3;
inline constexpr uint32_t kMmapGpuShift = 46;

// Exception codes (KFD_EC_*) and their masks.
inline constexpr uint64_t exception_mask(uint32_t code) { return 1ull << (code - 1); }
inline constexpr uint32_t kEcQueueWaveMemoryViolation = 5;
inline constexpr uint32_t kEcQueuePacketFirst = 16;
inline constexpr uint32_t kEcQueuePacketLast = 23;

/// The start of a queue's context save area, written by the client.
struct SaveAreaHeader {
  uint32_t control_stack_offset, control_stack_size, wave_state_offset, wave_state_size;
  uint32_t debug_offset, debug_size;
  uint64_t err_payload_addr;
  uint32_t err_event_id, reserved;
};
static_assert(sizeof(SaveAreaHeader) == 40);

}  // namespace vgpu::uapi
