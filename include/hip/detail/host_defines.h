// Macros that the other headers use to be one text for C, host C++ and HIP.
#ifndef BAREHIP_HIP_DETAIL_HOST_DEFINES_H
#define BAREHIP_HIP_DETAIL_HOST_DEFINES_H

#ifdef __cplusplus
#define HIP_API_BEGIN \
  extern "C" {        \
  _Pragma("GCC visibility push(default)")
#define HIP_API_END             \
  _Pragma("GCC visibility pop") \
  }
#define HIP_DEFAULT_ARG(value) = value
#else
#define HIP_API_BEGIN
#define HIP_API_END
#define HIP_DEFAULT_ARG(value)
#endif

#if defined(__clang__) && defined(__HIP__)
#ifndef __host__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#endif
#ifndef __managed__
#define __managed__ __attribute__((managed))
#endif
#ifndef __launch_bounds__
/// The second argument, wished for waves per execution unit, is optional.
#define BAREHIP_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define BAREHIP_BOUNDS_2(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define BAREHIP_BOUNDS_PICK(a, b, chosen, ...) chosen
#define __launch_bounds__(...) BAREHIP_BOUNDS_PICK(__VA_ARGS__, BAREHIP_BOUNDS_2, BAREHIP_BOUNDS_1, 0)(__VA_ARGS__)
#endif
#define HIP_HOST_DEVICE __attribute__((host)) __attribute__((device))
#define HIP_DEVICE_INLINE static __attribute__((device)) inline __attribute__((always_inline))
#else
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#define HIP_HOST_DEVICE
#endif

#if defined(__clang__) && defined(__HIP__)
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#endif

#ifndef __align__
#define __align__(bytes) __attribute__((aligned(bytes)))
#endif

#endif
