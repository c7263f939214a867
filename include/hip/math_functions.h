// An old name: everything is in hip_runtime.h.
#ifndef BAREHIP_HIP_MATH_FUNCTIONS_H
#define BAREHIP_HIP_MATH_FUNCTIONS_H

#include <hip/hip_runtime.h>

#endif
