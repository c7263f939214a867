// Every type and constant of the host API, without a function.
#ifndef BAREHIP_HIP_DETAIL_TYPES_H
#define BAREHIP_HIP_DETAIL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hip/detail/device_prop.h>
#include <hip/detail/errors.h>
#include <hip/detail/flags.h>
#include <hip/detail/handles.h>
#include <hip/detail/host_defines.h>
#include <hip/detail/structs.h>
#include <hip/detail/structs_external.h>
#include <hip/detail/structs_graph.h>
#include <hip/driver_types.h>
#include <hip/hip_version.h>
#include <hip/library_types.h>
#include <hip/linker_types.h>
#include <hip/surface_types.h>
#include <hip/texture_types.h>

// Generation 6 names of the device properties: the plain symbols of the library keep the 5.x layout for old programs.
#define hipDeviceProp_t hipDeviceProp_tR0600
#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#define hipChooseDevice hipChooseDeviceR0600

#define hipKernelNodeAttrID hipLaunchAttributeID
#define hipKernelNodeAttrValue hipLaunchAttributeValue
#define hipKernelNodeAttributeAccessPolicyWindow hipLaunchAttributeAccessPolicyWindow
#define hipKernelNodeAttributeCooperative hipLaunchAttributeCooperative
#define hipKernelNodeAttributePriority hipLaunchAttributePriority

// Parameter blocks of functions that only generation 7 has. Their layouts are not part of this header generation.
typedef struct HIP_LAUNCH_CONFIG_st HIP_LAUNCH_CONFIG;
typedef struct hipLaunchConfig_st hipLaunchConfig_t;
typedef struct hipMemcpyAttributes hipMemcpyAttributes;
typedef struct hipMemcpy3DBatchOp hipMemcpy3DBatchOp;
typedef struct hipMemcpy3DPeerParms hipMemcpy3DPeerParms;

#endif
