// Profiler hooks.
#ifndef BAREHIP_HIP_DETAIL_API_PROFILER_H
#define BAREHIP_HIP_DETAIL_API_PROFILER_H

#include <hip/detail/types.h>

HIP_API_BEGIN

const char* hipApiName(uint32_t id);
int hipGetStreamDeviceId(hipStream_t stream);
const char* hipKernelNameRef(const hipFunction_t f);
const char* hipKernelNameRefByPtr(const void* hostFunction, hipStream_t stream);
hipError_t hipProfilerStart(void);
hipError_t hipProfilerStop(void);

HIP_API_END

#endif
