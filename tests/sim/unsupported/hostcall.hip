// Compiled without optimization: every kernel lists all hidden arguments.
#include <hip/hip_runtime.h>

#include <cstdint>

namespace {

// Indices of code object version 5 and 6, in 8-byte words.
constexpr int kHostcallBuffer = 10, kHeap = 12;

/// What device libraries do with a hidden pointer first: read what it points to, not at its very start.
template <int Index, int Word>
__device__ void use(uint64_t* out) {
  const auto* hidden = reinterpret_cast<const uint64_t*>((const void*)__builtin_amdgcn_implicitarg_ptr());
  out[0] = reinterpret_cast<const uint64_t*>(hidden[Index])[Word];
}

__global__ void uses_none(uint64_t* out) { out[0] = 1; }
__global__ void uses_hostcall(uint64_t* out) { use<kHostcallBuffer, 3>(out); }
__global__ void uses_heap(uint64_t* out) { use<kHeap, 13568>(out); }

}  // namespace

extern const void* const kUsesNone;
extern const void* const kUsesHostcall;
extern const void* const kUsesHeap;

const void* const kUsesNone = reinterpret_cast<const void*>(uses_none);
const void* const kUsesHostcall = reinterpret_cast<const void*>(uses_hostcall);
const void* const kUsesHeap = reinterpret_cast<const void*>(uses_heap);
