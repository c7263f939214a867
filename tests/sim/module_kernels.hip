// A module that the tests load themselves.
#include <hip/hip_runtime.h>

__device__ unsigned int module_value = 42;

extern "C" __global__ void module_add(unsigned int* out, unsigned int a, unsigned short b) {
  out[threadIdx.x] = module_value + a + b + threadIdx.x;
}

extern "C" __global__ void module_nothing() {}
