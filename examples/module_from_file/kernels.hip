// Compiled to a file of its own; module_from_file loads it at run time.
#include <hip/hip_runtime.h>

extern "C" __device__ __constant__ int offset = 1;

extern "C" __global__ void scale(int* values, int factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * factor + offset;
}
