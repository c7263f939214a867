#include <hip/hip_runtime.h>

namespace {

__managed__ int g_shared_count = 41;

__global__ void count() { ++g_shared_count; }

}  // namespace

extern const void* const kManagedKernel;
int* managed_variable();

const void* const kManagedKernel = reinterpret_cast<const void*>(count);
int* managed_variable() { return &g_shared_count; }
