// Memory as HIP hands it out: device, pinned host, registered host; and what a pointer is.
//
// A pointer is found by address in one ordered table of allocations (a reader lock, no allocation). All functions may
// be called from any thread. Freeing waits for all work of the device first, as hipFree is specified to do.
#pragma once

#include <cstddef>
#include <cstdint>

#include <barehip/error.h>

namespace barehip::runtime {

/// Values of hipMemoryType as of HIP 6 (the skin translates for 5.x layouts).
enum class MemoryType : uint8_t { kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3 };

struct PointerInfo {
  MemoryType type = MemoryType::kUnregistered;
  int device = -1;
  void* base = nullptr;            ///< start of the allocation, in the address space of the pointer asked about
  size_t bytes = 0;                ///< of the allocation
  void* device_pointer = nullptr;  ///< what a kernel uses for the address that was asked about
  void* host_pointer = nullptr;    ///< what the host uses for it; null for device memory
  unsigned flags = 0;              ///< hipHostMalloc flags
};

/// hipMalloc on the current device. 0 bytes: a null pointer and success. Aligned to 4096 at least; 256 is what HIP
/// promises. Errors: kOutOfMemory; the device's sticky error.
Result<void*> device_allocate(size_t bytes);
/// hipFree: null succeeds. kInvalidArgument when it is not the start of a live device allocation.
Result<void> device_free(void* pointer);

/// hipHostMalloc / hipMallocHost: pinned, mapped into every GPU at the same address. `flags` as hipHostMalloc;
/// an unknown flag is kInvalidArgument.
Result<void*> host_allocate(size_t bytes, unsigned flags);
Result<void> host_free(void* pointer);

/// hipHostRegister: pins the pages of a range that the program owns. kAlreadyRegistered, kInvalidArgument.
Result<void> host_register(void* pointer, size_t bytes, unsigned flags);
/// hipHostUnregister: the start of a registered range. kNotRegistered.
Result<void> host_unregister(void* pointer);

/// hipHostGetDevicePointer and hipHostGetFlags.
Result<void*> host_device_pointer(void* host_pointer);
Result<unsigned> host_flags(void* host_pointer);

/// What a pointer is. Plain host memory is kUnregistered, not an error.
Result<PointerInfo> pointer_info(const void* pointer);

/// hipMallocPitch: row length rounded up to 256 bytes (pitch); width * height bytes or more behind the pointer.
struct PitchedAllocation {
  void* pointer = nullptr;
  size_t pitch_bytes = 0;
};
Result<PitchedAllocation> device_allocate_pitched(size_t width_bytes, size_t height);

}  // namespace barehip::runtime
