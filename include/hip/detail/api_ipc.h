// Sharing between processes.
#ifndef BAREHIP_HIP_DETAIL_API_IPC_H
#define BAREHIP_HIP_DETAIL_API_IPC_H

#include <hip/detail/types.h>

HIP_API_BEGIN

hipError_t hipIpcCloseMemHandle(void* devPtr);
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event);
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* devPtr);
hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle);
hipError_t hipIpcOpenMemHandle(void** devPtr, hipIpcMemHandle_t handle, unsigned int flags);

HIP_API_END

#endif
