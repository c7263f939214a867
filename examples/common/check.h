// What every example needs: stop at the first HIP error, and say at the end whether the result was right.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define HIP_CHECK(call)                                                                                           \
  do {                                                                                                            \
    const hipError_t error_ = (call);                                                                             \
    if (error_ != hipSuccess) {                                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n  returned %s (%s)\n", __FILE__, __LINE__, #call, hipGetErrorName(error_), \
                   hipGetErrorString(error_));                                                                    \
      std::exit(1);                                                                                               \
    }                                                                                                             \
  } while (0)

/// The example's last line and exit code. `wrong` counts results that differ from what the host computed.
inline int verdict(size_t wrong) {
  if (wrong) {
    std::printf("FAILED: %zu wrong results\n", wrong);
    return 1;
  }
  std::printf("PASSED\n");
  return 0;
}
