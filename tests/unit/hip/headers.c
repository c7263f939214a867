// The headers as C11: they compile, and every value and layout is HIP's.
#include <stddef.h>

#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#include "header_checks.h"

int headers_in_c(void);
int headers_in_c(void) {
  const float4 value = make_float4(1, 2, 3, 4);
  const dim3 grid = {1, 2, 3};
  return (int)(value.w + (float)grid.z);
}
