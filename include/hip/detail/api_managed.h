// Managed memory.
#ifndef BAREHIP_HIP_DETAIL_API_MANAGED_H
#define BAREHIP_HIP_DETAIL_API_MANAGED_H

#include <hip/detail/types.h>

HIP_API_BEGIN

hipError_t hipMallocManaged(void** dev_ptr, size_t size, unsigned int flags);
hipError_t hipMemAdvise(const void* dev_ptr, size_t count, hipMemoryAdvise advice, int device);
hipError_t hipMemPrefetchAsync(const void* dev_ptr, size_t count, int device, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipMemRangeGetAttribute(void* data, size_t data_size, hipMemRangeAttribute attribute, const void* dev_ptr,
                                   size_t count);
hipError_t hipMemRangeGetAttributes(void** data, size_t* data_sizes, hipMemRangeAttribute* attributes,
                                    size_t num_attributes, const void* dev_ptr, size_t count);
hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* dev_ptr, size_t length HIP_DEFAULT_ARG(0),
                                   unsigned int flags HIP_DEFAULT_ARG(hipMemAttachSingle));

/* Exported from generation 7 on (libamdhip64.so.7). */
hipError_t hipMemAdvise_v2(const void* dev_ptr, size_t count, hipMemoryAdvise advice, hipMemLocation location);
hipError_t hipMemPrefetchAsync_v2(const void* dev_ptr, size_t count, hipMemLocation location, unsigned int flags,
                                  hipStream_t stream HIP_DEFAULT_ARG(0));

HIP_API_END

#endif
