// C++ conveniences over the C API: typed pointers instead of void**, kernels and variables instead of addresses.
#ifndef BAREHIP_HIP_DETAIL_API_TEMPLATES_H
#define BAREHIP_HIP_DETAIL_API_TEMPLATES_H

#include <hip/detail/api_cooperative.h>
#include <hip/detail/api_execution.h>
#include <hip/detail/api_managed.h>
#include <hip/detail/api_memory.h>
#include <hip/detail/api_memory_2d.h>
#include <hip/detail/api_mempool.h>
#include <hip/detail/api_occupancy.h>

template <class T>
static inline hipError_t hipMalloc(T** pointer, size_t bytes) {
  return hipMalloc((void**)pointer, bytes);
}
template <class T>
static inline hipError_t hipHostMalloc(T** pointer, size_t bytes, unsigned int flags = hipHostMallocDefault) {
  return hipHostMalloc((void**)pointer, bytes, flags);
}
template <class T>
static inline hipError_t hipHostAlloc(T** pointer, size_t bytes, unsigned int flags = hipHostAllocDefault) {
  return hipHostAlloc((void**)pointer, bytes, flags);
}
template <class T>
static inline hipError_t hipMallocHost(T** pointer, size_t bytes) {
  return hipMallocHost((void**)pointer, bytes);
}
template <class T>
static inline hipError_t hipMallocManaged(T** pointer, size_t bytes, unsigned int flags = hipMemAttachGlobal) {
  return hipMallocManaged((void**)pointer, bytes, flags);
}
template <class T>
static inline hipError_t hipMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return hipMallocPitch((void**)pointer, pitch, width, height);
}
template <class T>
static inline hipError_t hipMallocAsync(T** pointer, size_t bytes, hipStream_t stream) {
  return hipMallocAsync((void**)pointer, bytes, stream);
}

template <class T>
static inline hipError_t hipGetSymbolAddress(void** address, const T& symbol) {
  return hipGetSymbolAddress(address, (const void*)&symbol);
}
template <class T>
static inline hipError_t hipGetSymbolSize(size_t* bytes, const T& symbol) {
  return hipGetSymbolSize(bytes, (const void*)&symbol);
}
template <class T>
static inline hipError_t hipMemcpyToSymbol(const T& symbol, const void* source, size_t bytes, size_t offset = 0,
                                           hipMemcpyKind kind = hipMemcpyHostToDevice) {
  return hipMemcpyToSymbol((const void*)&symbol, source, bytes, offset, kind);
}
template <class T>
static inline hipError_t hipMemcpyToSymbolAsync(const T& symbol, const void* source, size_t bytes, size_t offset,
                                                hipMemcpyKind kind, hipStream_t stream = 0) {
  return hipMemcpyToSymbolAsync((const void*)&symbol, source, bytes, offset, kind, stream);
}
template <class T>
static inline hipError_t hipMemcpyFromSymbol(void* destination, const T& symbol, size_t bytes, size_t offset = 0,
                                             hipMemcpyKind kind = hipMemcpyDeviceToHost) {
  return hipMemcpyFromSymbol(destination, (const void*)&symbol, bytes, offset, kind);
}
template <class T>
static inline hipError_t hipMemcpyFromSymbolAsync(void* destination, const T& symbol, size_t bytes, size_t offset,
                                                  hipMemcpyKind kind, hipStream_t stream = 0) {
  return hipMemcpyFromSymbolAsync(destination, (const void*)&symbol, bytes, offset, kind, stream);
}

template <class F>
static inline hipError_t hipLaunchCooperativeKernel(F function, dim3 grid, dim3 block, void** arguments,
                                                    unsigned int shared_bytes, hipStream_t stream) {
  return hipLaunchCooperativeKernel((const void*)function, grid, block, arguments, shared_bytes, stream);
}
template <class F>
static inline hipError_t hipFuncSetAttribute(F function, hipFuncAttribute attribute, int value) {
  return hipFuncSetAttribute((const void*)function, attribute, value);
}
template <class F>
static inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, F function) {
  return hipFuncGetAttributes(attributes, (const void*)function);
}
template <class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, F function,
                                                           size_t dynamic_shared_bytes = 0, int block_limit = 0) {
  return hipOccupancyMaxPotentialBlockSize(grid, block, (const void*)function, dynamic_shared_bytes, block_limit);
}
template <class F>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F function, int block_size,
                                                                      size_t dynamic_shared_bytes) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)function, block_size, dynamic_shared_bytes);
}

#endif
