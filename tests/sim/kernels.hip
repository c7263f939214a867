#include "tests/sim/kernels.h"

#include <hip/hip_runtime.h>

namespace sim {
namespace {

__device__ uint32_t g_counter = 5;
__constant__ uint32_t g_table[kTableWords];

__global__ void vector_add(const float* a, const float* b, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}

__global__ void scale(uint32_t* data, uint32_t factor, uint32_t add, uint32_t count) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = data[i] * factor + add;
}

__global__ void increment(uint32_t* cell) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *cell = *cell + 1;
}

__global__ void coordinates(uint32_t* out) {
  const uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = block << 16 | thread;
}

__global__ void dynamic_lds(uint32_t* out, uint32_t words) {
  extern __shared__ uint32_t shared[];
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) shared[i] = blockIdx.x * words + i;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) out[blockIdx.x * words + i] = shared[words - 1 - i];
}

__global__ void static_lds(uint32_t* out) {
  __shared__ uint32_t shared[8192];
  for (uint32_t i = threadIdx.x; i < 8192; i += blockDim.x) shared[i] = i;
  __syncthreads();
  out[threadIdx.x] = shared[8191 - threadIdx.x];
}

/// `Words` words of private memory that the compiler cannot keep in registers.
template <int Words>
__device__ uint32_t private_walk(uint32_t seed, uint32_t rounds) {
  uint32_t local[Words];
  for (int i = 0; i < Words; ++i) local[i] = seed + i;
  uint32_t at = seed % Words;
  for (uint32_t i = 0; i < rounds; ++i) {
    local[at] += local[(at + 7) % Words];
    at = (at + local[at]) % Words;
  }
  return local[at];
}

__global__ void scratch(uint32_t* out, uint32_t rounds) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = private_walk<64>(i, rounds);
}

__global__ void big_scratch(uint32_t* out, uint32_t rounds) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = private_walk<2048>(i, rounds);
}

__global__ void many_arguments(Block block, uint64_t* out) {
  uint64_t wrong = 0;
  for (uint32_t i = 0; i < 150; ++i) wrong += block.words[i] != i + 1;
  if (threadIdx.x == 0) out[blockIdx.x] = wrong;
}

__global__ void mixed_arguments(uint8_t a, uint64_t b, uint16_t c, Triple t, uint64_t* out) {
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = static_cast<uint64_t>(t.x + 10 * t.y + 100 * t.z);
}

__global__ void no_arguments() {
  if (threadIdx.x == 0) ++g_counter;
}

__global__ void read_variables(uint32_t* out) {
  out[0] = g_counter;
  for (uint32_t i = 0; i < kTableWords; ++i) out[1 + i] = g_table[i];
}

__global__ void __launch_bounds__(64) bounded(uint32_t* out) { out[threadIdx.x] = threadIdx.x; }

__global__ void spin(volatile uint32_t* flag) {
  while (__hip_atomic_load(const_cast<uint32_t*>(flag), __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
    __builtin_amdgcn_s_sleep(1);
}

__global__ void store(uint32_t* to, uint32_t value) { *to = value; }
__global__ void load(const uint32_t* from, uint32_t* to) { *to = *from; }
__global__ void trap() { __builtin_trap(); }
__global__ void debug_trap(uint32_t* out) {
  __builtin_debugtrap();
  out[0] = 1;
}
__global__ void illegal() { asm volatile(".long 0xffffffff"); }
__global__ void refused() { asm volatile("ds_gws_barrier v0 gds"); }

__global__ void atomic_sum(uint32_t* sum, uint32_t count) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(sum, i);
}

__global__ void clock(uint64_t* out, uint64_t ticks) {
  const uint64_t start = wall_clock64();
  uint64_t now = start;
  while (now - start < ticks) now = wall_clock64();
  out[0] = now - start;
}

}  // namespace

const void* const kVectorAdd = reinterpret_cast<const void*>(vector_add);
const void* const kScale = reinterpret_cast<const void*>(scale);
const void* const kIncrement = reinterpret_cast<const void*>(increment);
const void* const kCoordinates = reinterpret_cast<const void*>(coordinates);
const void* const kDynamicLds = reinterpret_cast<const void*>(dynamic_lds);
const void* const kStaticLds = reinterpret_cast<const void*>(static_lds);
const void* const kScratch = reinterpret_cast<const void*>(scratch);
const void* const kBigScratch = reinterpret_cast<const void*>(big_scratch);
const void* const kManyArguments = reinterpret_cast<const void*>(many_arguments);
const void* const kMixedArguments = reinterpret_cast<const void*>(mixed_arguments);
const void* const kNoArguments = reinterpret_cast<const void*>(no_arguments);
const void* const kReadVariables = reinterpret_cast<const void*>(read_variables);
const void* const kBounded = reinterpret_cast<const void*>(bounded);
const void* const kSpin = reinterpret_cast<const void*>(spin);
const void* const kStore = reinterpret_cast<const void*>(store);
const void* const kLoad = reinterpret_cast<const void*>(load);
const void* const kTrap = reinterpret_cast<const void*>(trap);
const void* const kDebugTrap = reinterpret_cast<const void*>(debug_trap);
const void* const kIllegal = reinterpret_cast<const void*>(illegal);
const void* const kUnmodelled = reinterpret_cast<const void*>(refused);
const void* const kAtomicSum = reinterpret_cast<const void*>(atomic_sum);
const void* const kClock = reinterpret_cast<const void*>(clock);
const void* const kCounterSymbol = &g_counter;
const void* const kTableSymbol = g_table;

}  // namespace sim
