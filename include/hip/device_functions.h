// An old name: everything is in hip_runtime.h.
#ifndef BAREHIP_HIP_DEVICE_FUNCTIONS_H
#define BAREHIP_HIP_DEVICE_FUNCTIONS_H

#include <hip/hip_runtime.h>

#endif
