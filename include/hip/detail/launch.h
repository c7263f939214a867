// Ways to write a launch, and dynamic LDS.
#ifndef BAREHIP_HIP_DETAIL_LAUNCH_H
#define BAREHIP_HIP_DETAIL_LAUNCH_H

#include <hip/hip_runtime_api.h>

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(X) X
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

#define hipLaunchKernelGGLInternal(kernel, grid, block, shared, stream, ...) \
  do {                                                                       \
    kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__);            \
  } while (0)
#define hipLaunchKernelGGL(kernel, ...) hipLaunchKernelGGLInternal((kernel), __VA_ARGS__)

#endif
