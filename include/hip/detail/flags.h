// Flag values of the API: streams, events, host memory, registration, devices.
#ifndef BAREHIP_HIP_DETAIL_FLAGS_H
#define BAREHIP_HIP_DETAIL_FLAGS_H

#define HIP_IPC_HANDLE_SIZE 64
#define hipArrayDefault 0
#define hipArrayCubemap 4
#define hipArrayLayered 1
#define hipArraySurfaceLoadStore 2
#define hipArrayTextureGather 8
#define hipCooperativeLaunchMultiDeviceNoPostSync 2
#define hipCooperativeLaunchMultiDeviceNoPreSync 1
#define hipCpuDeviceId (-1)
#define hipDeviceLmemResizeToMax 16
#define hipDeviceMallocDefault 0
#define hipDeviceMallocContiguous 4
#define hipDeviceMallocFinegrained 1
#define hipDeviceMallocUncached 3
#define hipDeviceMapHost 8
#define hipDeviceScheduleAuto 0
#define hipDeviceScheduleBlockingSync 4
#define hipDeviceScheduleMask 7
#define hipDeviceScheduleSpin 1
#define hipDeviceScheduleYield 2
#define hipEventDefault 0
#define hipEventBlockingSync 1
#define hipEventDisableSystemFence 0x20000000
#define hipEventDisableTiming 2
#define hipEventInterprocess 4
#define hipEventRecordDefault 0
#define hipEventRecordExternal 1
#define hipEventReleaseToDevice 0x40000000
#define hipEventReleaseToSystem 0x80000000u
#define hipEventWaitDefault 0
#define hipEventWaitExternal 1
#define hipExtAnyOrderLaunch 1
#define hipExtHostRegisterCoarseGrained 8
#define hipExternalMemoryDedicated 1
#define hipGraphKernelNodePortDefault 0
#define hipGraphKernelNodePortLaunchCompletion 2
#define hipGraphKernelNodePortProgrammatic 1
#define hipHostAllocDefault 0
#define hipHostAllocPortable 1
#define hipHostAllocMapped 2
#define hipHostAllocWriteCombined 4
#define hipHostMallocDefault 0
#define hipHostMallocPortable 1
#define hipHostMallocCoherent 0x40000000
#define hipHostMallocMapped 2
#define hipHostMallocNonCoherent 0x80000000u
#define hipHostMallocNumaUser 0x20000000
#define hipHostMallocWriteCombined 4
#define hipHostRegisterDefault 0
#define hipHostRegisterPortable 1
#define hipHostRegisterIoMemory 4
#define hipHostRegisterMapped 2
#define hipHostRegisterReadOnly 8
#define hipInvalidDeviceId (-2)
#define hipIpcMemLazyEnablePeerAccess 1
#define hipMallocSignalMemory 2
#define hipMemAttachGlobal 1
#define hipMemAttachHost 2
#define hipMemAttachSingle 4
#define hipOccupancyDefault 0
#define hipOccupancyDisableCachingOverride 1
#define hipStreamDefault 0
#define hipStreamNonBlocking 1
#define hipStreamWaitValueAnd 2
#define hipStreamWaitValueEq 1
#define hipStreamWaitValueGte 0
#define hipStreamWaitValueNor 3

/// The NULL stream by name, and the stream that belongs to the calling thread.
#define hipStreamLegacy ((hipStream_t)1)
#define hipStreamPerThread ((hipStream_t)2)

/// Keys of the `extra` list of hipModuleLaunchKernel.
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x02)
#define HIP_LAUNCH_PARAM_END ((void*)0x03)

enum { HIP_SUCCESS = 0, HIP_ERROR_INVALID_VALUE, HIP_ERROR_NOT_INITIALIZED, HIP_ERROR_LAUNCH_OUT_OF_RESOURCES };

#endif
