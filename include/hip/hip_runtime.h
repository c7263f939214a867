// HIP in one include: the host API, and for the HIP compiler the device-side language.
#ifndef BAREHIP_HIP_HIP_RUNTIME_H
#define BAREHIP_HIP_HIP_RUNTIME_H

#if defined(__clang__) && defined(__HIP__) && defined(__cplusplus)
// clang's own part of HIP: math functions, std::complex and friends for the device. The driver includes it first when
// it found a ROCm installation; without one it comes from here.
#include <__clang_hip_runtime_wrapper.h>
#endif

#include <hip/hip_runtime_api.h>

#if defined(__clang__) && defined(__HIP__) && defined(__cplusplus)
#include <hip/detail/device_atomic.h>
#include <hip/detail/device_convert.h>
#include <hip/detail/device_coordinates.h>
#include <hip/detail/device_integer.h>
#include <hip/detail/device_sync.h>
#include <hip/detail/device_warp.h>
#include <hip/detail/launch.h>
#endif

#endif
