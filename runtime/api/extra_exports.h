// Entry points that the library exports and that no public header declares: what compiled code and profilers call.
#pragma once

#include <hip/hip_runtime_api.h>

extern "C" {
#pragma GCC visibility push(default)

// clang's start-up code (the host side of a HIP object).
void** __hipRegisterFatBinary(const void* data);
void __hipUnregisterFatBinary(void** modules);
void __hipRegisterFunction(void** modules, const void* hostFunction, char* deviceFunction, const char* deviceName,
                           unsigned int threadLimit, uint3* tid, uint3* bid, dim3* blockDim, dim3* gridDim, int* wSize);
void __hipRegisterManagedVar(void* hipModule, void** pointer, void* init_value, const char* name, size_t size,
                             unsigned int align);
void __hipRegisterSurface(void** modules, void* var, char* hostVar, char* deviceVar, int type, int ext);
void __hipRegisterTexture(void** modules, void* var, char* hostVar, char* deviceVar, int type, int norm, int ext);
void __hipRegisterVar(void** modules, void* var, char* hostVar, char* deviceVar, int ext, size_t size, int constant,
                      int global);

// Conversions that gcc-compiled code of 4.x and 5.x calls.
unsigned short __gnu_f2h_ieee(float f);
float __gnu_h2f_ieee(unsigned short h);

// The 5.x forms of the device properties.
hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* prop, int device);
hipError_t hipChooseDeviceR0000(int* device, const hipDeviceProp_tR0000* prop);

// Profiler hooks.
typedef unsigned int activity_domain_t;

#pragma GCC visibility pop
}
