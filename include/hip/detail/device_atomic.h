// Atomics: relaxed, of agent scope, and with _system of system scope; each returns the old value.
#ifndef BAREHIP_HIP_DETAIL_DEVICE_ATOMIC_H
#define BAREHIP_HIP_DETAIL_DEVICE_ATOMIC_H

#include <hip/detail/device_convert.h>

#define BAREHIP_ATOMIC_SCOPED(suffix, name, T, operation, scope)                    \
  BAREHIP_DEVICE_FN T name##suffix(T* address, T value) {                           \
    return operation(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope); \
  }
#define BAREHIP_ATOMIC(name, T, operation)           \
  BAREHIP_ATOMIC_SCOPED(, name, T, operation, AGENT) \
  BAREHIP_ATOMIC_SCOPED(_system, name, T, operation, SYSTEM)
#define BAREHIP_ATOMIC_INTEGERS(name, operation) \
  BAREHIP_ATOMIC(name, int, operation)           \
  BAREHIP_ATOMIC(name, unsigned int, operation)  \
  BAREHIP_ATOMIC(name, unsigned long, operation) \
  BAREHIP_ATOMIC(name, unsigned long long, operation)
#define BAREHIP_ATOMIC_FLOATS(name, operation) \
  BAREHIP_ATOMIC(name, float, operation)       \
  BAREHIP_ATOMIC(name, double, operation)

BAREHIP_ATOMIC_INTEGERS(atomicAdd, __hip_atomic_fetch_add)
BAREHIP_ATOMIC_FLOATS(atomicAdd, __hip_atomic_fetch_add)
BAREHIP_ATOMIC_INTEGERS(atomicSub, __hip_atomic_fetch_sub)
BAREHIP_ATOMIC_FLOATS(atomicSub, __hip_atomic_fetch_sub)
BAREHIP_ATOMIC_INTEGERS(atomicExch, __hip_atomic_exchange)
BAREHIP_ATOMIC_FLOATS(atomicExch, __hip_atomic_exchange)
BAREHIP_ATOMIC_INTEGERS(atomicMin, __hip_atomic_fetch_min)
BAREHIP_ATOMIC(atomicMin, long long, __hip_atomic_fetch_min)
BAREHIP_ATOMIC_FLOATS(atomicMin, __hip_atomic_fetch_min)
BAREHIP_ATOMIC_INTEGERS(atomicMax, __hip_atomic_fetch_max)
BAREHIP_ATOMIC(atomicMax, long long, __hip_atomic_fetch_max)
BAREHIP_ATOMIC_FLOATS(atomicMax, __hip_atomic_fetch_max)
BAREHIP_ATOMIC_INTEGERS(atomicAnd, __hip_atomic_fetch_and)
BAREHIP_ATOMIC_INTEGERS(atomicOr, __hip_atomic_fetch_or)
BAREHIP_ATOMIC_INTEGERS(atomicXor, __hip_atomic_fetch_xor)

#undef BAREHIP_ATOMIC_FLOATS
#undef BAREHIP_ATOMIC_INTEGERS
#undef BAREHIP_ATOMIC
#undef BAREHIP_ATOMIC_SCOPED

#define BAREHIP_ATOMIC_CAS(suffix, T, scope)                                                           \
  BAREHIP_DEVICE_FN T atomicCAS##suffix(T* address, T compare, T value) {                              \
    __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                         __HIP_MEMORY_SCOPE_##scope);                                  \
    return compare;                                                                                    \
  }
#define BAREHIP_ATOMIC_CAS_BOTH(T) \
  BAREHIP_ATOMIC_CAS(, T, AGENT)   \
  BAREHIP_ATOMIC_CAS(_system, T, SYSTEM)
BAREHIP_ATOMIC_CAS_BOTH(int)
BAREHIP_ATOMIC_CAS_BOTH(unsigned int)
BAREHIP_ATOMIC_CAS_BOTH(unsigned long)
BAREHIP_ATOMIC_CAS_BOTH(unsigned long long)
BAREHIP_ATOMIC_CAS_BOTH(float)
BAREHIP_ATOMIC_CAS_BOTH(double)
#undef BAREHIP_ATOMIC_CAS_BOTH
#undef BAREHIP_ATOMIC_CAS

BAREHIP_DEVICE_FN void atomicAddNoRet(float* address, float value) { (void)atomicAdd(address, value); }

/// Counts up to `limit`, then starts at 0 again.
BAREHIP_DEVICE_FN unsigned int atomicInc(unsigned int* address, unsigned int limit) {
  unsigned int old = __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (!__hip_atomic_compare_exchange_weak(address, &old, old >= limit ? 0 : old + 1, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
  }
  return old;
}
/// Counts down; from 0 or above `limit` it starts at `limit` again.
BAREHIP_DEVICE_FN unsigned int atomicDec(unsigned int* address, unsigned int limit) {
  unsigned int old = __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (!__hip_atomic_compare_exchange_weak(address, &old, old == 0 || old > limit ? limit : old - 1, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
  }
  return old;
}

#define BAREHIP_ATOMIC_ALIAS(T)                                                                  \
  BAREHIP_DEVICE_FN T unsafeAtomicAdd(T* address, T value) { return atomicAdd(address, value); } \
  BAREHIP_DEVICE_FN T unsafeAtomicMin(T* address, T value) { return atomicMin(address, value); } \
  BAREHIP_DEVICE_FN T unsafeAtomicMax(T* address, T value) { return atomicMax(address, value); } \
  BAREHIP_DEVICE_FN T safeAtomicAdd(T* address, T value) { return atomicAdd(address, value); }   \
  BAREHIP_DEVICE_FN T safeAtomicMin(T* address, T value) { return atomicMin(address, value); }   \
  BAREHIP_DEVICE_FN T safeAtomicMax(T* address, T value) { return atomicMax(address, value); }
BAREHIP_ATOMIC_ALIAS(float)
BAREHIP_ATOMIC_ALIAS(double)
#undef BAREHIP_ATOMIC_ALIAS

#endif
