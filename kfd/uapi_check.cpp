// Our picture of the KFD interface against the kernel's own header, as far as the installed one goes. Nothing
// here runs.
#include <linux/kfd_ioctl.h>

#include <cstddef>

#include "kfd/uapi.h"

namespace barehip::kfd::uapi {
namespace {

#define SAME_FIELD(ours, theirs, field)                            \
  static_assert(offsetof(ours, field) == offsetof(theirs, field)); \
  static_assert(sizeof(ours::field) == sizeof(theirs::field));

// What came after Linux 6.1 is checked where the installed header has it.
#if KFD_IOCTL_MINOR_VERSION < 12
using kfd_ioctl_export_dmabuf_args = export_dmabuf_args;
#endif
#if KFD_IOCTL_MINOR_VERSION < 13
using kfd_ioctl_runtime_enable_args = runtime_enable_args;
#endif

// Sizes: equal for all but CREATE_QUEUE, which grew in 1.17.
#if KFD_IOCTL_MINOR_VERSION < 17
constexpr bool size_matches(uint32_t nr, size_t ours, size_t theirs) {
  return nr == 0x02 ? ours > theirs : ours == theirs;
}
#else
constexpr bool size_matches(uint32_t, size_t ours, size_t theirs) { return ours == theirs; }
#endif

#define KFD_IOCTL(NAME, name, nr, direction, minor) \
  static_assert(size_matches(nr, sizeof(name##_args), sizeof(kfd_ioctl_##name##_args)), #NAME);
#define KFD_FIELD(ioctl, type, field, way, format) FIELD_##format(ioctl, field)
#if KFD_IOCTL_MINOR_VERSION < 17
#define KFD_FIELD_SINCE(ioctl, type, field, way, format, minor) static_assert((minor) == 17);
#endif
#define KFD_IOCTL_END(name)
#define KFD_REFUSED(NAME, nr, direction, bytes, minor, why)
// Padding words have other names in the kernel's header, or none.
#define FIELD_Pad(ioctl, field)
#define FIELD_Hex(ioctl, field) SAME_FIELD(ioctl##_args, kfd_ioctl_##ioctl##_args, field)
#define FIELD_Dec(ioctl, field) SAME_FIELD(ioctl##_args, kfd_ioctl_##ioctl##_args, field)
#define FIELD_Flags(ioctl, field) SAME_FIELD(ioctl##_args, kfd_ioctl_##ioctl##_args, field)
#include "kfd/ioctls.def"

// Command numbers.
static_assert(kGET_VERSION == AMDKFD_IOC_GET_VERSION);
static_assert((kCREATE_QUEUE & 0xc000ffffu) == (AMDKFD_IOC_CREATE_QUEUE & 0xc000ffffu));
static_assert(kDESTROY_QUEUE == AMDKFD_IOC_DESTROY_QUEUE);
static_assert(kSET_MEMORY_POLICY == AMDKFD_IOC_SET_MEMORY_POLICY);
static_assert(kGET_CLOCK_COUNTERS == AMDKFD_IOC_GET_CLOCK_COUNTERS);
static_assert(kUPDATE_QUEUE == AMDKFD_IOC_UPDATE_QUEUE);
static_assert(kCREATE_EVENT == AMDKFD_IOC_CREATE_EVENT);
static_assert(kDESTROY_EVENT == AMDKFD_IOC_DESTROY_EVENT);
static_assert(kSET_EVENT == AMDKFD_IOC_SET_EVENT);
static_assert(kWAIT_EVENTS == AMDKFD_IOC_WAIT_EVENTS);
static_assert(kSET_TRAP_HANDLER == AMDKFD_IOC_SET_TRAP_HANDLER);
static_assert(kGET_PROCESS_APERTURES_NEW == AMDKFD_IOC_GET_PROCESS_APERTURES_NEW);
static_assert(kACQUIRE_VM == AMDKFD_IOC_ACQUIRE_VM);
static_assert(kALLOC_MEMORY_OF_GPU == AMDKFD_IOC_ALLOC_MEMORY_OF_GPU);
static_assert(kFREE_MEMORY_OF_GPU == AMDKFD_IOC_FREE_MEMORY_OF_GPU);
static_assert(kMAP_MEMORY_TO_GPU == AMDKFD_IOC_MAP_MEMORY_TO_GPU);
static_assert(kUNMAP_MEMORY_FROM_GPU == AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU);
static_assert(kSET_CU_MASK == AMDKFD_IOC_SET_CU_MASK);
static_assert(kALLOC_QUEUE_GWS == AMDKFD_IOC_ALLOC_QUEUE_GWS);
static_assert(kSET_XNACK_MODE == AMDKFD_IOC_SET_XNACK_MODE);
static_assert(kAVAILABLE_MEMORY == AMDKFD_IOC_AVAILABLE_MEMORY);
#ifdef AMDKFD_IOC_EXPORT_DMABUF
static_assert(kEXPORT_DMABUF == AMDKFD_IOC_EXPORT_DMABUF);
#endif
#ifdef AMDKFD_IOC_RUNTIME_ENABLE
static_assert(kRUNTIME_ENABLE == AMDKFD_IOC_RUNTIME_ENABLE);
#endif

// What arguments point to.
static_assert(sizeof(process_device_apertures) == sizeof(kfd_process_device_apertures));
SAME_FIELD(process_device_apertures, kfd_process_device_apertures, lds_base)
SAME_FIELD(process_device_apertures, kfd_process_device_apertures, lds_limit)
SAME_FIELD(process_device_apertures, kfd_process_device_apertures, scratch_base)
SAME_FIELD(process_device_apertures, kfd_process_device_apertures, scratch_limit)
SAME_FIELD(process_device_apertures, kfd_process_device_apertures, gpuvm_base)
SAME_FIELD(process_device_apertures, kfd_process_device_apertures, gpuvm_limit)
SAME_FIELD(process_device_apertures, kfd_process_device_apertures, gpu_id)
static_assert(sizeof(memory_exception_data) == sizeof(kfd_hsa_memory_exception_data));
SAME_FIELD(memory_exception_data, kfd_hsa_memory_exception_data, failure)
SAME_FIELD(memory_exception_data, kfd_hsa_memory_exception_data, va)
SAME_FIELD(memory_exception_data, kfd_hsa_memory_exception_data, gpu_id)
SAME_FIELD(memory_exception_data, kfd_hsa_memory_exception_data, ErrorType)
SAME_FIELD(memory_exception_failure, kfd_memory_exception_failure, NotPresent)
SAME_FIELD(memory_exception_failure, kfd_memory_exception_failure, ReadOnly)
SAME_FIELD(memory_exception_failure, kfd_memory_exception_failure, NoExecute)
SAME_FIELD(memory_exception_failure, kfd_memory_exception_failure, imprecise)
static_assert(sizeof(hw_exception_data) == sizeof(kfd_hsa_hw_exception_data));
SAME_FIELD(hw_exception_data, kfd_hsa_hw_exception_data, reset_type)
SAME_FIELD(hw_exception_data, kfd_hsa_hw_exception_data, reset_cause)
SAME_FIELD(hw_exception_data, kfd_hsa_hw_exception_data, memory_lost)
SAME_FIELD(hw_exception_data, kfd_hsa_hw_exception_data, gpu_id)
static_assert(sizeof(event_data) == sizeof(kfd_event_data));
SAME_FIELD(event_data, kfd_event_data, kfd_event_data_ext)
SAME_FIELD(event_data, kfd_event_data, event_id)

// Constants.
static_assert(kQueueTypeCompute == KFD_IOC_QUEUE_TYPE_COMPUTE && kQueueTypeSdma == KFD_IOC_QUEUE_TYPE_SDMA);
static_assert(kQueueTypeComputeAql == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL);
static_assert(kQueueTypeSdmaXgmi == KFD_IOC_QUEUE_TYPE_SDMA_XGMI);
static_assert(kPolicyCoherent == KFD_IOC_CACHE_POLICY_COHERENT);
static_assert(kPolicyNoncoherent == KFD_IOC_CACHE_POLICY_NONCOHERENT);
static_assert(kEventSignal == KFD_IOC_EVENT_SIGNAL && kEventMemory == KFD_IOC_EVENT_MEMORY);
static_assert(kEventHwException == KFD_IOC_EVENT_HW_EXCEPTION);
static_assert(kWaitComplete == KFD_IOC_WAIT_RESULT_COMPLETE && kWaitTimeout == KFD_IOC_WAIT_RESULT_TIMEOUT);
static_assert(kWaitFail == KFD_IOC_WAIT_RESULT_FAIL);
static_assert(kMemVram == KFD_IOC_ALLOC_MEM_FLAGS_VRAM && kMemGtt == KFD_IOC_ALLOC_MEM_FLAGS_GTT);
static_assert(kMemUserptr == KFD_IOC_ALLOC_MEM_FLAGS_USERPTR);
static_assert(kMemDoorbell == KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL);
static_assert(kMemMmioRemap == KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP);
static_assert(kMemUncached == KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED);
static_assert(kMemCoherent == KFD_IOC_ALLOC_MEM_FLAGS_COHERENT);
static_assert(kMemAqlQueueMem == KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM);
static_assert(kMemNoSubstitute == KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE);
static_assert(kMemPublic == KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC);
static_assert(kMemExecutable == KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE);
static_assert(kMemWritable == static_cast<uint32_t>(KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE));

}  // namespace
}  // namespace barehip::kfd::uapi
