#include "tests/bench/bench_kernels.h"

#include <hip/hip_runtime.h>

namespace bench {
namespace {

__global__ void one(uint32_t* cell) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *cell = *cell + 1;
}

__global__ void five(uint32_t* cell, uint32_t a, uint64_t b, uint32_t c, uint32_t* other) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *cell = *other + a + static_cast<uint32_t>(b) + c;
}

__global__ void hidden(uint32_t* cell) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *cell = *cell + gridDim.x * blockDim.x;
}

}  // namespace

const void* const kOne = reinterpret_cast<const void*>(&one);
const void* const kFive = reinterpret_cast<const void*>(&five);
const void* const kHidden = reinterpret_cast<const void*>(&hidden);

void launch_one(uint32_t* cell, hipStream_t stream) { one<<<1, 64, 0, stream>>>(cell); }
void launch_five(uint32_t* cell, hipStream_t stream) { five<<<1, 64, 0, stream>>>(cell, 1, 2, 3, cell); }
void launch_hidden(uint32_t* cell, hipStream_t stream) { hidden<<<1, 64, 0, stream>>>(cell); }

}  // namespace bench
