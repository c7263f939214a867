// Making Memory objects. Private to kfd/.
#pragma once

#include <barehip/memory.h>

#include "kfd/impl.h"

namespace barehip::kfd {

/// Friend of Memory: the pieces that allocate, register and the HDP page share.
struct MemoryAccess {
  /// KFD flags of a kind without the host's choice of GTT or USERPTR, and of options.
  static uint32_t flags_of(const Device& device, const MemoryOptions& options);

  /// ALLOC_MEMORY_OF_GPU at `va`. `mmap_offset`: the host address of USERPTR in, the offset for mmap out.
  static Result<Memory> create_object(Device& device, uint64_t va, uint64_t bytes, uint32_t flags,
                                      uint64_t& mmap_offset);

  /// MAP_MEMORY_TO_GPU for the devices of `mask` that do not have it. On failure none of them has it.
  static Result<void> map_to(Memory& memory, uint64_t mask);
  static Result<void> unmap_from(Memory& memory, uint64_t mask);
  static uint64_t all_devices(const Device& device);

  /// The page that flushes the HDP cache when written; empty when this GPU or driver has none.
  static void map_hdp_page(DeviceImpl& device_impl, Device& device);

  static void adopt_reservation(Memory& memory, Mapping& reservation) {
    memory.reserved_at_ = reservation.address();
    memory.reserved_bytes_ = reservation.bytes();
    reservation.release();
  }
  static void set_addresses(Memory& memory, uint64_t gpu, void* host, uint64_t bytes, MemoryKind kind) {
    memory.gpu_ = gpu;
    memory.host_ = host;
    memory.bytes_ = bytes;
    memory.kind_ = kind;
  }
  /// Unmaps it for the CPU and leaves the object to the kernel, which frees it with the process.
  static void abandon(Memory& memory);
};

}  // namespace barehip::kfd
