// The module that program f loads.
#include <hip/hip_runtime.h>

__device__ int modg[16];

extern "C" __global__ void modk(int* p, int value) {
  extern __shared__ int lds[];
  const int i = threadIdx.x + threadIdx.y * blockDim.x;
  lds[i & 31] = value;
  p[i] = value + modg[i & 15];
}
