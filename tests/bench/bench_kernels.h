// Launches written as a program writes them, with <<<>>>: bench_kernels.hip is compiled by clang, so the code around
// the library's calls is what every HIP program has.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

namespace bench {

// Each constant is a kernel's host stub, for hipLaunchKernel. The argument list stands behind it.
extern const void* const kOne;     // (uint32_t* cell)
extern const void* const kFive;    // (uint32_t* cell, uint32_t, uint64_t, uint32_t, uint32_t*)
extern const void* const kHidden;  // (uint32_t* cell): reads gridDim and blockDim, so it has hidden arguments

// kernel<<<1, 64, 0, stream>>>(...)
void launch_one(uint32_t* cell, hipStream_t stream);
void launch_five(uint32_t* cell, hipStream_t stream);
void launch_hidden(uint32_t* cell, hipStream_t stream);

}  // namespace bench
