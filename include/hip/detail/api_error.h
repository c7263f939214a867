// Errors.
#ifndef BAREHIP_HIP_DETAIL_API_ERROR_H
#define BAREHIP_HIP_DETAIL_API_ERROR_H

#include <hip/detail/types.h>

HIP_API_BEGIN

hipError_t hipDrvGetErrorName(hipError_t hipError, const char** errorString);
hipError_t hipDrvGetErrorString(hipError_t hipError, const char** errorString);
hipError_t hipExtGetLastError(void);
const char* hipGetErrorName(hipError_t hip_error);
const char* hipGetErrorString(hipError_t hipError);
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);

HIP_API_END

#endif
