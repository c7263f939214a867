// Devices as HIP shows them: count, properties, attributes, memory information.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <barehip/error.h>

namespace barehip::runtime {

class DeviceContext;  // runtime/core/context.h: everything that belongs to one opened GPU

/// Work-items of a block, on every GPU that there is.
constexpr uint32_t kMaxThreadsPerBlock = 1024;

/// What hipGetDeviceProperties fills in, by value, in the units that the names say. Values come from the topology, from
/// AMDGPU_INFO_DEV_INFO and from the target table; a field that none of these tells is 0.
struct DeviceProperties {
  std::string name;       ///< marketing name, else "AMD GPU gfx90a"
  std::string arch_name;  ///< "gfx90a:sramecc+:xnack-" as hipDeviceProp_t.gcnArchName
  std::string gfx;        ///< "gfx90a"
  uint8_t uuid[16] = {};
  uint64_t total_global_bytes = 0;
  uint32_t lds_bytes_per_block = 0;
  uint32_t lds_bytes_per_cu = 0;
  uint32_t registers_per_block = 0;
  uint32_t warp_size = 0;
  uint32_t max_threads_per_block = kMaxThreadsPerBlock;
  /// None below max_threads_per_block: the launch path looks at the product alone.
  uint32_t max_block_dim[3] = {kMaxThreadsPerBlock, kMaxThreadsPerBlock, kMaxThreadsPerBlock};
  uint32_t max_grid_dim[3] = {2147483647u, 65536u, 65536u};
  uint32_t max_threads_per_cu = 0;
  uint32_t cu_count = 0;
  uint32_t clock_khz = 0;
  uint32_t memory_clock_khz = 0;
  uint32_t memory_bus_bits = 0;
  uint32_t wall_clock_khz = 0;  ///< rate of wall_clock64() and of event timestamps
  uint32_t l2_bytes = 0;
  uint32_t compute_major = 0;  ///< gfx90a: 9
  uint32_t compute_minor = 0;  ///< gfx90a: 0 (as stock reports it)
  uint32_t pci_domain = 0, pci_bus = 0, pci_device = 0;
  uint32_t async_engine_count = 0;
  uint32_t asic_revision = 0;
  bool integrated = false;
  bool ecc_enabled = false;
  bool large_bar = false;
  bool concurrent_managed_access = false;
  bool pageable_memory_access = false;
  bool cooperative_launch = false;
};

/// Opens the GPUs on first call. Errors: kNoDevice (with why), kNoPermission, kDeviceHidden, kNotSupported. A failure
/// is remembered: later calls answer the same without trying again.
Result<int> device_count();

/// The DeviceContext of an ordinal or of this thread's current device; opens what is needed on first use.
/// Errors: kInvalidDevice, and those of device_count(); the device's sticky error (see device_check()).
Result<DeviceContext*> device(int ordinal);
Result<DeviceContext*> current_context();

/// hipSetDevice: checks, then changes this thread's device.
Result<void> set_device(int ordinal);

/// Properties never change; the reference lives until process exit. Does not need a healthy device.
Result<const DeviceProperties*> device_properties(int ordinal);

/// hipDeviceGetAttribute, by the value of the hipDeviceAttribute_t constant. kInvalidArgument for an unknown one;
/// an attribute that HIP defines and that this GPU does not have is 0.
Result<int> device_attribute(int ordinal, int attribute);

struct MemoryInfo {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
};
/// VRAM of the current device.
Result<MemoryInfo> memory_info();

/// hipDeviceSynchronize of the current device: waits for all its streams. Returns the sticky error when work failed.
Result<void> device_synchronize();

/// hipDeviceReset of the current device: waits, frees its allocations, streams, events and modules made by the user.
Result<void> device_reset();

/// Ordinal whose PCI address is "dddd:bb:dd.f"; kInvalidDevice when none.
Result<int> device_by_pci(uint32_t domain, uint32_t bus, uint32_t dev);

/// The error that ended a device (fault, trap, queue error) and that every later call returns until exit.
/// Success while it is healthy. Cost: one load.
Result<void> device_check();

}  // namespace barehip::runtime
