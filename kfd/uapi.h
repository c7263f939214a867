// The KFD's user interface as barehip knows it: argument structures and command numbers made from ioctls.def,
// and the constants and pointed-to structures beside them. Checked against <linux/kfd_ioctl.h> in
// uapi_check.cpp.
#pragma once

#include <cstdint>

namespace barehip::kfd::uapi {

#define KFD_IOCTL(NAME, name, nr, direction, minor) struct name##_args {
#define KFD_FIELD(ioctl, type, field, way, format) type field;
#define KFD_IOCTL_END(name) \
  }                         \
  ;
#define KFD_REFUSED(NAME, nr, direction, bytes, minor, why)
#include "kfd/ioctls.def"

/// Direction bits of a command number (asm-generic/ioctl.h).
enum class Direction : uint32_t { Write = 1, Read = 2, ReadWrite = 3 };

constexpr uint32_t command(Direction direction, uint32_t nr, uint32_t bytes) {
  return (static_cast<uint32_t>(direction) << 30) | (bytes << 16) | (uint32_t{'K'} << 8) | nr;
}

#define KFD_IOCTL(NAME, name, nr, direction, minor) \
  inline constexpr uint32_t k##NAME = command(Direction::direction, nr, sizeof(name##_args));
#define KFD_FIELD(ioctl, type, field, way, format)
#define KFD_IOCTL_END(name)
#define KFD_REFUSED(NAME, nr, direction, bytes, minor, why)
#include "kfd/ioctls.def"

/// GET_PROCESS_APERTURES_NEW fills an array of these.
struct process_device_apertures {
  uint64_t lds_base;
  uint64_t lds_limit;
  uint64_t scratch_base;
  uint64_t scratch_limit;
  uint64_t gpuvm_base;
  uint64_t gpuvm_limit;
  uint32_t gpu_id;
  uint32_t pad;
};

struct memory_exception_failure {
  uint32_t NotPresent;
  uint32_t ReadOnly;
  uint32_t NoExecute;
  uint32_t imprecise;
};

struct memory_exception_data {
  memory_exception_failure failure;
  uint64_t va;
  uint32_t gpu_id;
  uint32_t ErrorType;
};

struct hw_exception_data {
  uint32_t reset_type;
  uint32_t reset_cause;
  uint32_t memory_lost;
  uint32_t gpu_id;
};

/// Since 1.14; older kernels ignore it.
struct signal_event_data {
  uint64_t last_event_age;
};

/// WAIT_EVENTS reads and fills an array of these.
struct event_data {
  union {
    memory_exception_data memory_exception;
    hw_exception_data hw_exception;
    signal_event_data signal_event;
  };
  uint64_t kfd_event_data_ext;
  uint32_t event_id;
  uint32_t pad;
};

/// Start of each XCC's slice of a queue's context save area. The debug and error fields are the user's to
/// fill.
struct context_save_area_header {
  uint32_t control_stack_offset;
  uint32_t control_stack_size;
  uint32_t wave_state_offset;
  uint32_t wave_state_size;
  uint32_t debug_offset;
  uint32_t debug_size;
  uint64_t err_payload_addr;
  uint32_t err_event_id;
  uint32_t reserved1;
};
static_assert(sizeof(context_save_area_header) == 40);

inline constexpr uint32_t kQueueTypeCompute = 0;
inline constexpr uint32_t kQueueTypeSdma = 1;
inline constexpr uint32_t kQueueTypeComputeAql = 2;
inline constexpr uint32_t kQueueTypeSdmaXgmi = 3;
inline constexpr uint32_t kQueueTypeSdmaByEngineId = 4;  // since 1.17

inline constexpr uint32_t kPolicyCoherent = 0;
inline constexpr uint32_t kPolicyNoncoherent = 1;

inline constexpr uint32_t kEventSignal = 0;
inline constexpr uint32_t kEventHwException = 3;
inline constexpr uint32_t kEventMemory = 8;

inline constexpr uint32_t kWaitComplete = 0;
inline constexpr uint32_t kWaitTimeout = 1;
inline constexpr uint32_t kWaitFail = 2;

inline constexpr uint32_t kMemVram = 1u << 0;
inline constexpr uint32_t kMemGtt = 1u << 1;
inline constexpr uint32_t kMemUserptr = 1u << 2;
inline constexpr uint32_t kMemDoorbell = 1u << 3;
inline constexpr uint32_t kMemMmioRemap = 1u << 4;
inline constexpr uint32_t kMemContiguous = 1u << 23;  // since 1.16
inline constexpr uint32_t kMemExtCoherent = 1u << 24;
inline constexpr uint32_t kMemUncached = 1u << 25;
inline constexpr uint32_t kMemCoherent = 1u << 26;
inline constexpr uint32_t kMemAqlQueueMem = 1u << 27;
inline constexpr uint32_t kMemNoSubstitute = 1u << 28;
inline constexpr uint32_t kMemPublic = 1u << 29;
inline constexpr uint32_t kMemExecutable = 1u << 30;
inline constexpr uint32_t kMemWritable = 1u << 31;

inline constexpr uint32_t kRuntimeEnable = 1u << 0;

/// Offsets into /dev/kfd for mmap: kind in bits 63:62, GPU in 61:46.
inline constexpr uint64_t kMmapTypeDoorbell = 3ull << 62;

inline constexpr uint64_t kDoorbellSliceBytes = 8192;  ///< of one process on one GPU, gfx9 and later
inline constexpr uint32_t kEventPageBytes = 4096 * 8;
inline constexpr int kErrnoNotSupported = 524;  ///< ENOTSUPP: the kernel's own number, not in <errno.h>

/// Exception codes: bit (code - 1) of the error payload.
enum class Exception : uint32_t {
  kWaveAbort = 1,
  kWaveTrap = 2,
  kWaveMathError = 3,
  kWaveIllegalInstruction = 4,
  kWaveMemoryViolation = 5,
  kWaveApertureViolation = 6,
  kDispatchDimInvalid = 16,
  kGroupSegmentSizeInvalid = 17,
  kDispatchCodeInvalid = 18,
  kPacketReserved = 19,
  kPacketUnsupported = 20,
  kWorkGroupSizeInvalid = 21,
  kDispatchRegisterInvalid = 22,
  kVendorUnsupported = 23,
  kPreemptionError = 30,
  kQueueNew = 31,
  kQueueDelete = 32,
  kDeviceMemoryViolation = 33,
  kDeviceRasError = 34,
  kDeviceFatalHalt = 35,
};
constexpr uint64_t exception_bit(Exception e) { return 1ull << (static_cast<uint32_t>(e) - 1); }

}  // namespace barehip::kfd::uapi
