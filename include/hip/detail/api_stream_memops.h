// Stream memory operations.
#ifndef BAREHIP_HIP_DETAIL_API_STREAM_MEMOPS_H
#define BAREHIP_HIP_DETAIL_API_STREAM_MEMOPS_H

#include <hip/detail/types.h>

HIP_API_BEGIN

hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count, hipStreamBatchMemOpParams* paramArray,
                               unsigned int flags);
hipError_t hipStreamWaitValue32(hipStream_t stream, void* ptr, uint32_t value, unsigned int flags,
                                uint32_t mask HIP_DEFAULT_ARG(0xFFFFFFFF));
hipError_t hipStreamWaitValue64(hipStream_t stream, void* ptr, uint64_t value, unsigned int flags,
                                uint64_t mask HIP_DEFAULT_ARG(0xFFFFFFFFFFFFFFFF));
hipError_t hipStreamWriteValue32(hipStream_t stream, void* ptr, uint32_t value, unsigned int flags);
hipError_t hipStreamWriteValue64(hipStream_t stream, void* ptr, uint64_t value, unsigned int flags);

HIP_API_END

#endif
