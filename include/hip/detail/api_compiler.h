// Entry points that compiled code calls.
#ifndef BAREHIP_HIP_DETAIL_API_COMPILER_H
#define BAREHIP_HIP_DETAIL_API_COMPILER_H

#include <hip/detail/types.h>

HIP_API_BEGIN

hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem HIP_DEFAULT_ARG(0),
                            hipStream_t stream HIP_DEFAULT_ARG(0));
void __hipGetPCH(const char** pch, unsigned int* size);
hipError_t hipLaunchByPtr(const void* func);
hipError_t __hipPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem, hipStream_t* stream);
hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem HIP_DEFAULT_ARG(0),
                                      hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipSetupArgument(const void* arg, size_t size, size_t offset);

HIP_API_END

#endif
