// Events.
#ifndef BAREHIP_HIP_DETAIL_API_EVENT_H
#define BAREHIP_HIP_DETAIL_API_EVENT_H

#include <hip/detail/types.h>

HIP_API_BEGIN

hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream HIP_DEFAULT_ARG(0));
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream HIP_DEFAULT_ARG(0),
                                   unsigned int flags HIP_DEFAULT_ARG(0));
hipError_t hipEventSynchronize(hipEvent_t event);

HIP_API_END

#endif
