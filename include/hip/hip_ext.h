// Launches with events around them (C++ only).
#ifndef BAREHIP_HIP_HIP_EXT_H
#define BAREHIP_HIP_HIP_EXT_H

#include <hip/hip_runtime.h>

#if defined(__cplusplus) && defined(__HIP__)

/// Launches `kernel` between the two events (either may be null).
template <typename... Args, typename F = void (*)(Args...)>
inline void hipExtLaunchKernelGGL(F kernel, const dim3& grid, const dim3& block, uint32_t shared_bytes,
                                  hipStream_t stream, hipEvent_t start, hipEvent_t stop, uint32_t flags, Args... args) {
  void* pointers[sizeof...(Args) + 1] = {(void*)&args...};
  (void)hipExtLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers, shared_bytes, stream, start,
                           stop, static_cast<int>(flags));
}

#endif

#endif
