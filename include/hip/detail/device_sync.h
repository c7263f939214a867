// Barriers, fences, clocks and the ways to end a kernel early.
#ifndef BAREHIP_HIP_DETAIL_DEVICE_SYNC_H
#define BAREHIP_HIP_DETAIL_DEVICE_SYNC_H

#include <hip/detail/host_defines.h>

#define BAREHIP_DEVICE_FN static __attribute__((device)) inline __attribute__((unused))

BAREHIP_DEVICE_FN void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
BAREHIP_DEVICE_FN void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
BAREHIP_DEVICE_FN void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

/// All of the group's earlier LDS and global accesses are visible to the group after it.
static __attribute__((device)) inline __attribute__((unused, convergent)) void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

BAREHIP_DEVICE_FN long long __clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
BAREHIP_DEVICE_FN long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
BAREHIP_DEVICE_FN long long __clock() { return static_cast<long long>(__builtin_readcyclecounter()); }
/// Ticks of the constant-rate counter (hipDeviceAttributeWallClockRate).
BAREHIP_DEVICE_FN long long wall_clock64() { return static_cast<long long>(__builtin_readsteadycounter()); }

extern "C" __attribute__((device)) inline __attribute__((weak)) void abort() { __builtin_trap(); }

#endif
