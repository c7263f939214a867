#include "runtime/api/device_prop.h"

#include <algorithm>
#include <cstring>

namespace barehip::runtime {

namespace {

/// What every GPU of the target table can do; hasFunnelShift, hasSurfaceFuncs and hasDynamicParallelism are CUDA's.
hipDeviceArch_t arch_of() {
  hipDeviceArch_t arch{};
  arch.hasGlobalInt32Atomics = 1;
  arch.hasGlobalFloatAtomicExch = 1;
  arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = 1;
  arch.hasFloatAtomicAdd = 1;
  arch.hasGlobalInt64Atomics = 1;
  arch.hasSharedInt64Atomics = 1;
  arch.hasDoubles = 1;
  arch.hasWarpVote = 1;
  arch.hasWarpBallot = 1;
  arch.hasWarpShuffle = 1;
  arch.hasThreadFenceSystem = 1;
  arch.has3dGrid = 1;
  return arch;
}

int as_int(uint64_t value) { return static_cast<int>(std::min<uint64_t>(value, 0x7fffffff)); }

/// The members that both layouts have under the same name.
template <class Property>
void fill_common(Property& out, const DeviceProperties& in) {
  std::memset(&out, 0, sizeof(out));
  copy_text(out.name, sizeof(out.name), in.name);
  copy_text(out.gcnArchName, sizeof(out.gcnArchName), in.arch_name);
  out.totalGlobalMem = in.total_global_bytes;
  out.sharedMemPerBlock = in.lds_bytes_per_block;
  out.regsPerBlock = as_int(in.registers_per_block);
  out.warpSize = as_int(in.warp_size);
  out.maxThreadsPerBlock = as_int(in.max_threads_per_block);
  for (int axis = 0; axis < 3; ++axis) {
    out.maxThreadsDim[axis] = as_int(in.max_block_dim[axis]);
    out.maxGridSize[axis] = as_int(in.max_grid_dim[axis]);
  }
  out.clockRate = as_int(in.clock_khz);
  out.memoryClockRate = as_int(in.memory_clock_khz);
  out.memoryBusWidth = as_int(in.memory_bus_bits);
  // Constant memory is ordinary memory; as stock does, a signed 32-bit number of bytes bounds it.
  out.totalConstMem = std::min<uint64_t>(in.total_global_bytes, 0x7fffffff);
  out.memPitch = std::min<uint64_t>(in.total_global_bytes, 0x7fffffff);
  out.textureAlignment = 256;
  out.texturePitchAlignment = 256;
  out.major = as_int(in.compute_major);
  out.minor = as_int(in.compute_minor);
  out.multiProcessorCount = as_int(in.cu_count);
  out.l2CacheSize = as_int(in.l2_bytes);
  out.maxThreadsPerMultiProcessor = as_int(in.max_threads_per_cu);
  out.maxSharedMemoryPerMultiProcessor = in.lds_bytes_per_cu;
  out.clockInstructionRate = as_int(in.wall_clock_khz);
  out.arch = arch_of();
  out.concurrentKernels = 1;
  out.pciDomainID = as_int(in.pci_domain);
  out.pciBusID = as_int(in.pci_bus);
  out.pciDeviceID = as_int(in.pci_device);
  out.canMapHostMemory = 1;
  out.integrated = in.integrated;
  out.cooperativeLaunch = in.cooperative_launch;
  out.ECCEnabled = in.ecc_enabled;
  out.isLargeBar = in.large_bar;
  out.asicRevision = as_int(in.asic_revision);
  out.concurrentManagedAccess = in.concurrent_managed_access;
  out.pageableMemoryAccess = in.pageable_memory_access;
}

}  // namespace

void copy_text(char* out, size_t room, const std::string& text) {
  const size_t bytes = std::min(text.size(), room - 1);
  std::memcpy(out, text.data(), bytes);
  out[bytes] = '\0';
}

void fill(hipDeviceProp_tR0000& out, const DeviceProperties& in) {
  fill_common(out, in);
  // "gfx90a" in decimal digits where it has such a form: 908, 1100; the letter counts as stock counts it (910 for
  // gfx90a).
  unsigned digits = 0;
  for (const char c : in.gfx.substr(std::min<size_t>(3, in.gfx.size())))
    digits = digits * 10 + static_cast<unsigned>(c >= 'a' ? c - 'a' + 10 : c - '0');
  out.gcnArch = static_cast<int>(digits);
}

void fill(hipDeviceProp_tR0600& out, const DeviceProperties& in) {
  fill_common(out, in);
  std::memcpy(out.uuid.bytes, in.uuid, sizeof(out.uuid.bytes));
  out.deviceOverlap = 1;
  out.asyncEngineCount = as_int(in.async_engine_count);
  out.unifiedAddressing = 1;
  out.streamPrioritiesSupported = 1;
  out.sharedMemPerMultiprocessor = in.lds_bytes_per_cu;
  out.sharedMemPerBlockOptin = in.lds_bytes_per_block;
  out.regsPerMultiprocessor = as_int(in.registers_per_block);
  out.canUseHostPointerForRegisteredMem = 1;
  out.hostRegisterSupported = 1;
}

}  // namespace barehip::runtime
