#include <algorithm>
#include <climits>

#include <barehip/device.h>

#include "runtime/core/properties.h"

namespace barehip::runtime {
namespace {

using Value = int64_t (*)(const DeviceProperties&, const GpuProperties&);

struct Row {
  int attribute;  ///< number of the hipDeviceAttribute_t constant
  Value value;
};

#define BAREHIP_ATTRIBUTE(number, expression)                                  \
  Row {                                                                        \
    number, [](const DeviceProperties& p, const GpuProperties& g) -> int64_t { \
      (void)p, (void)g;                                                        \
      return expression;                                                       \
    }                                                                          \
  }

// Sorted by number. Constants that are not here are 0: the GPU, or barehip, does not have what they ask about.
constexpr Row kRows[] = {
    BAREHIP_ATTRIBUTE(0, p.ecc_enabled),                                       // EccEnabled
    BAREHIP_ATTRIBUTE(2, p.async_engine_count),                                // AsyncEngineCount
    BAREHIP_ATTRIBUTE(3, 1),                                                   // CanMapHostMemory
    BAREHIP_ATTRIBUTE(4, 1),                                                   // CanUseHostPointerForRegisteredMem
    BAREHIP_ATTRIBUTE(5, p.clock_khz),                                         // ClockRate
    BAREHIP_ATTRIBUTE(8, 1),                                                   // ConcurrentKernels
    BAREHIP_ATTRIBUTE(9, p.concurrent_managed_access),                         // ConcurrentManagedAccess
    BAREHIP_ATTRIBUTE(10, p.cooperative_launch),                               // CooperativeLaunch
    BAREHIP_ATTRIBUTE(12, p.async_engine_count > 0),                           // DeviceOverlap
    BAREHIP_ATTRIBUTE(14, 1),                                                  // GlobalL1CacheSupported
    BAREHIP_ATTRIBUTE(15, g.host_atomics),                                     // HostNativeAtomicSupported
    BAREHIP_ATTRIBUTE(16, p.integrated),                                       // Integrated
    BAREHIP_ATTRIBUTE(19, p.l2_bytes),                                         // L2CacheSize
    BAREHIP_ATTRIBUTE(20, 1),                                                  // LocalL1CacheSupported
    BAREHIP_ATTRIBUTE(23, p.compute_major),                                    // ComputeCapabilityMajor
    BAREHIP_ATTRIBUTE(25, p.max_threads_per_cu / std::max(p.warp_size, 1u)),   // MaxBlocksPerMultiProcessor
    BAREHIP_ATTRIBUTE(26, p.max_block_dim[0]),                                 // MaxBlockDimX
    BAREHIP_ATTRIBUTE(27, p.max_block_dim[1]),                                 // MaxBlockDimY
    BAREHIP_ATTRIBUTE(28, p.max_block_dim[2]),                                 // MaxBlockDimZ
    BAREHIP_ATTRIBUTE(29, p.max_grid_dim[0]),                                  // MaxGridDimX
    BAREHIP_ATTRIBUTE(30, p.max_grid_dim[1]),                                  // MaxGridDimY
    BAREHIP_ATTRIBUTE(31, p.max_grid_dim[2]),                                  // MaxGridDimZ
    BAREHIP_ATTRIBUTE(55, p.max_block_dim[0]),                                 // MaxThreadsDim
    BAREHIP_ATTRIBUTE(56, p.max_threads_per_block),                            // MaxThreadsPerBlock
    BAREHIP_ATTRIBUTE(57, p.max_threads_per_cu),                               // MaxThreadsPerMultiProcessor
    BAREHIP_ATTRIBUTE(58, INT_MAX),                                            // MaxPitch
    BAREHIP_ATTRIBUTE(59, p.memory_bus_bits),                                  // MemoryBusWidth
    BAREHIP_ATTRIBUTE(60, p.memory_clock_khz),                                 // MemoryClockRate
    BAREHIP_ATTRIBUTE(61, p.compute_minor),                                    // ComputeCapabilityMinor
    BAREHIP_ATTRIBUTE(63, p.cu_count),                                         // MultiprocessorCount
    BAREHIP_ATTRIBUTE(65, p.pageable_memory_access),                           // PageableMemoryAccess
    BAREHIP_ATTRIBUTE(67, p.pci_bus),                                          // PciBusId
    BAREHIP_ATTRIBUTE(68, p.pci_device),                                       // PciDeviceId
    BAREHIP_ATTRIBUTE(69, p.pci_domain),                                       // PciDomainId
    BAREHIP_ATTRIBUTE(71, p.registers_per_block),                              // MaxRegistersPerBlock
    BAREHIP_ATTRIBUTE(72, p.registers_per_block),                              // MaxRegistersPerMultiprocessor
    BAREHIP_ATTRIBUTE(74, p.lds_bytes_per_block),                              // MaxSharedMemoryPerBlock
    BAREHIP_ATTRIBUTE(76, p.lds_bytes_per_cu),                                 // SharedMemPerMultiprocessor
    BAREHIP_ATTRIBUTE(78, 1),                                                  // StreamPrioritiesSupported
    BAREHIP_ATTRIBUTE(80, 256),                                                // TextureAlignment
    BAREHIP_ATTRIBUTE(82, 256),                                                // TexturePitchAlignment
    BAREHIP_ATTRIBUTE(83, std::min<uint64_t>(p.total_global_bytes, INT_MAX)),  // TotalConstantMemory
    BAREHIP_ATTRIBUTE(84, p.total_global_bytes),                               // TotalGlobalMem
    BAREHIP_ATTRIBUTE(85, 1),                                                  // UnifiedAddressing
    BAREHIP_ATTRIBUTE(87, p.warp_size),                                        // WarpSize
    BAREHIP_ATTRIBUTE(90, 1),                                                  // HostRegisterSupported
    BAREHIP_ATTRIBUTE(10000, p.wall_clock_khz),                                // ClockInstructionRate
    BAREHIP_ATTRIBUTE(10002, p.lds_bytes_per_cu),                              // MaxSharedMemoryPerMultiprocessor
    BAREHIP_ATTRIBUTE(10011, p.large_bar),                                     // IsLargeBar
    BAREHIP_ATTRIBUTE(10012, p.asic_revision),                                 // AsicRevision
    BAREHIP_ATTRIBUTE(10015, p.cu_count),                                      // PhysicalMultiProcessorCount
    BAREHIP_ATTRIBUTE(10017, p.wall_clock_khz),                                // WallClockRate
    BAREHIP_ATTRIBUTE(10018, g.num_xcc),                                       // NumberOfXccs
    BAREHIP_ATTRIBUTE(10020, g.device_id),                                     // PciChipId
};
#undef BAREHIP_ATTRIBUTE

constexpr bool is_defined(int attribute) {
  return (attribute >= 0 && attribute <= 99) || (attribute >= 10000 && attribute <= 10022);
}

}  // namespace

Result<int> attribute_value(const DeviceProperties& properties, const GpuProperties& gpu, int attribute) {
  if (!is_defined(attribute))
    return fail(ErrorCode::kInvalidArgument, "device attribute",
                "no attribute has number " + std::to_string(attribute));
  const auto* row = std::lower_bound(std::begin(kRows), std::end(kRows), attribute,
                                     [](const Row& r, int number) { return r.attribute < number; });
  if (row == std::end(kRows) || row->attribute != attribute) return 0;
  // HIP's answer is an int: what does not fit is its largest.
  return static_cast<int>(std::min<int64_t>(row->value(properties, gpu), INT_MAX));
}

}  // namespace barehip::runtime
