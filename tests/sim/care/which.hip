// One of several modules that differ in a constant only, so that each has the same layout.
#include <hip/hip_runtime.h>

extern "C" __global__ void which(unsigned* out) { *out = WHICH; }
