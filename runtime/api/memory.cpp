// Memory: allocation, registration, and what a pointer is.
#include "runtime/core/memory.h"

#include "runtime/api/entry.h"
#include "runtime/core/device.h"
#include "runtime/core/module.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

template <class Allocate>
Result<void> allocate_into(void** ptr, Allocate&& allocate) {
  if (!ptr) return invalid("allocate", "the output pointer is null");
  return store(ptr, allocate());
}

/// The value that a generation's hipMemoryType has for a kind of memory.
hipMemoryType memory_type(MemoryType type) {
  const bool old = kLibraryGeneration < 6;
  switch (type) {
    case MemoryType::kHost: return static_cast<hipMemoryType>(old ? 0 : 1);
    case MemoryType::kDevice: return static_cast<hipMemoryType>(old ? 1 : 2);
    case MemoryType::kManaged: return static_cast<hipMemoryType>(old ? 4 : 3);
    default: return static_cast<hipMemoryType>(0);
  }
}

/// One attribute, written at `data` in the type that HIP gives it.
Result<void> write_attribute(void* data, hipPointer_attribute attribute, const PointerInfo& info) {
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: *static_cast<hipMemoryType*>(data) = memory_type(info.type); return {};
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: *static_cast<void**>(data) = info.device_pointer; return {};
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER: *static_cast<void**>(data) = info.host_pointer; return {};
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(data) = info.device; return {};
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<void**>(data) = info.base; return {};
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<size_t*>(data) = info.bytes; return {};
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<int*>(data) = info.type == MemoryType::kManaged; return {};
    case HIP_POINTER_ATTRIBUTE_MAPPED: *static_cast<int*>(data) = info.device_pointer != nullptr; return {};
    default: return fail(ErrorCode::kNotSupported, "hipPointerGetAttribute", "this pointer attribute is not supported");
  }
}

/// The allocation behind a pointer; plain host memory is none.
Result<PointerInfo> allocation_of(const void* pointer) {
  Result<PointerInfo> info = pointer_info(pointer);
  if (info && info->type == MemoryType::kUnregistered)
    return fail(ErrorCode::kInvalidArgument, "pointer query", "not a pointer that HIP allocated or registered");
  return info;
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** ptr, size_t size) {
  return enter(api_id("hipMalloc"), [&] { return allocate_into(ptr, [&] { return device_allocate(size); }); });
}

hipError_t hipExtMallocWithFlags(void** ptr, size_t sizeBytes, unsigned int flags) {
  return enter(api_id("hipExtMallocWithFlags"), [&]() -> Result<void> {
    if (flags != hipDeviceMallocDefault)
      return fail(ErrorCode::kNotSupported, "hipExtMallocWithFlags", "only hipDeviceMallocDefault is supported");
    return allocate_into(ptr, [&] { return device_allocate(sizeBytes); });
  });
}

hipError_t hipFree(void* ptr) {
  return enter(api_id("hipFree"), [&] { return device_free(ptr); });
}

hipError_t hipHostMalloc(void** ptr, size_t size, unsigned int flags) {
  return enter(api_id("hipHostMalloc"), [&] { return allocate_into(ptr, [&] { return host_allocate(size, flags); }); });
}
hipError_t hipHostAlloc(void** ptr, size_t size, unsigned int flags) {
  return enter(api_id("hipHostAlloc"), [&] { return allocate_into(ptr, [&] { return host_allocate(size, flags); }); });
}
hipError_t hipMallocHost(void** ptr, size_t size) {
  return enter(api_id("hipMallocHost"), [&] { return allocate_into(ptr, [&] { return host_allocate(size, 0); }); });
}
hipError_t hipMemAllocHost(void** ptr, size_t size) {
  return enter(api_id("hipMemAllocHost"), [&] { return allocate_into(ptr, [&] { return host_allocate(size, 0); }); });
}
hipError_t hipHostFree(void* ptr) {
  return enter(api_id("hipHostFree"), [&] { return host_free(ptr); });
}
hipError_t hipFreeHost(void* ptr) {
  return enter(api_id("hipFreeHost"), [&] { return host_free(ptr); });
}

hipError_t hipHostRegister(void* hostPtr, size_t sizeBytes, unsigned int flags) {
  return enter(api_id("hipHostRegister"), [&] { return host_register(hostPtr, sizeBytes, flags); });
}
hipError_t hipHostUnregister(void* hostPtr) {
  return enter(api_id("hipHostUnregister"), [&] { return host_unregister(hostPtr); });
}
hipError_t hipHostGetDevicePointer(void** devPtr, void* hstPtr, unsigned int flags) {
  return enter(api_id("hipHostGetDevicePointer"), [&]() -> Result<void> {
    if (!devPtr || flags) return invalid("hipHostGetDevicePointer", "devPtr is null or flags are not 0");
    return store(devPtr, host_device_pointer(hstPtr));
  });
}
hipError_t hipHostGetFlags(unsigned int* flagsPtr, void* hostPtr) {
  return enter(api_id("hipHostGetFlags"), [&]() -> Result<void> {
    if (!flagsPtr) return invalid("hipHostGetFlags", "flagsPtr is null");
    return store(flagsPtr, host_flags(hostPtr));
  });
}

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  return enter(api_id("hipMemGetInfo"), [&]() -> Result<void> {
    if (!free && !total) return invalid("hipMemGetInfo", "free and total are null");
    const Result<MemoryInfo> info = memory_info();
    if (!info) return std::unexpected(info.error());
    if (free) *free = info->free_bytes;
    if (total) *total = info->total_bytes;
    return {};
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* pbase, size_t* psize, hipDeviceptr_t dptr) {
  return enter(api_id("hipMemGetAddressRange"), [&]() -> Result<void> {
    const Result<PointerInfo> info = allocation_of(dptr);
    if (!info) return std::unexpected(info.error());
    if (pbase) *pbase = info->base;
    if (psize) *psize = info->bytes;
    return {};
  });
}

hipError_t hipMemPtrGetInfo(void* ptr, size_t* size) {
  return enter(api_id("hipMemPtrGetInfo"), [&]() -> Result<void> {
    if (!size) return invalid("hipMemPtrGetInfo", "size is null");
    const Result<PointerInfo> info = allocation_of(ptr);
    if (!info) return std::unexpected(info.error());
    *size = info->bytes;
    return {};
  });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr) {
  return enter(api_id("hipPointerGetAttributes"), [&]() -> Result<void> {
    if (!attributes || !ptr) return invalid("hipPointerGetAttributes", "attributes or ptr is null");
    // Plain host memory was an error before 6.0 and has had a type of its own since.
    const Result<PointerInfo> info = kLibraryGeneration < 6 ? allocation_of(ptr) : pointer_info(ptr);
    if (!info) return std::unexpected(info.error());
    hipPointerAttribute_t out{};
    out.type = memory_type(info->type);
    out.device = info->device;
    out.devicePointer = info->device_pointer;
    out.hostPointer = info->host_pointer;
    out.isManaged = info->type == MemoryType::kManaged;
    out.allocationFlags = info->flags;
    *attributes = out;
    return {};
  });
}

hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t ptr) {
  return enter(api_id("hipPointerGetAttribute"), [&]() -> Result<void> {
    if (!data || !ptr) return invalid("hipPointerGetAttribute", "data or ptr is null");
    const Result<PointerInfo> info = allocation_of(ptr);
    if (!info) return std::unexpected(info.error());
    return write_attribute(data, attribute, *info);
  });
}

hipError_t hipGetSymbolAddress(void** devPtr, const void* symbol_) {
  return enter(api_id("hipGetSymbolAddress"), [&]() -> Result<void> {
    if (!devPtr) return invalid("hipGetSymbolAddress", "devPtr is null");
    const Result<GlobalVariable> variable = symbol(symbol_);
    if (!variable) return std::unexpected(variable.error());
    *devPtr = variable->address;
    return {};
  });
}

hipError_t hipGetSymbolSize(size_t* size, const void* symbol_) {
  return enter(api_id("hipGetSymbolSize"), [&]() -> Result<void> {
    if (!size) return invalid("hipGetSymbolSize", "size is null");
    const Result<GlobalVariable> variable = symbol(symbol_);
    if (!variable) return std::unexpected(variable.error());
    *size = variable->bytes;
    return {};
  });
}

}  // extern "C"
