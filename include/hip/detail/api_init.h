// Versions and start-up.
#ifndef BAREHIP_HIP_DETAIL_API_INIT_H
#define BAREHIP_HIP_DETAIL_API_INIT_H

#include <hip/detail/types.h>

HIP_API_BEGIN

hipError_t hipDriverGetVersion(int* driverVersion);
hipError_t hipGetProcAddress(const char* symbol, void** pfn, int hipVersion, uint64_t flags,
                             hipDriverProcAddressQueryResult* symbolStatus);
hipError_t hipInit(unsigned int flags);
hipError_t hipRuntimeGetVersion(int* runtimeVersion);

/* Exported from generation 7 on (libamdhip64.so.7). */
hipError_t hipGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                  hipDriverEntryPointQueryResult* driverStatus);
hipError_t hipGetDriverEntryPoint_spt(const char* symbol, void** funcPtr, unsigned long long flags,
                                      hipDriverEntryPointQueryResult* status);

HIP_API_END

#endif
