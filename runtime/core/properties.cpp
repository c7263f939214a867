#include "runtime/core/properties.h"

#include <algorithm>
#include <cstdio>

#include <barehip/device.h>

#include "codeobj/target.h"

namespace barehip::runtime {
namespace {

std::string arch_name(const GpuProperties& gpu, const codeobj::Target* target) {
  std::string name = gpu.gfx;
  if (target && target->sramecc) name += gpu.sram_ecc ? ":sramecc+" : ":sramecc-";
  if (target && target->xnack) name += gpu.xnack ? ":xnack+" : ":xnack-";
  return name;
}

/// As stock does it: the 16 hexadecimal digits of the board's serial number as text.
void fill_uuid(const GpuProperties& gpu, DeviceProperties& out) {
  if (gpu.unique_id == 0) return;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(gpu.unique_id));
  std::copy_n(text, 16, out.uuid);
}

uint32_t l2_bytes(const GpuProperties& gpu) {
  uint32_t bytes = 0;
  for (const CacheInfo& cache : gpu.caches)
    if (cache.level == 2) bytes = std::max(bytes, cache.size_kib * 1024);
  return bytes;
}

}  // namespace

DeviceProperties make_properties(const GpuProperties& gpu) {
  const codeobj::Target* target = codeobj::find_target(gpu.gfx);
  DeviceProperties out;
  out.name = gpu.marketing_name.empty() ? "AMD GPU " + gpu.gfx : gpu.marketing_name;
  out.arch_name = arch_name(gpu, target);
  out.gfx = gpu.gfx;
  fill_uuid(gpu, out);
  out.total_global_bytes = gpu.vram_bytes;
  out.lds_bytes_per_cu = gpu.lds_bytes_per_cu;
  out.lds_bytes_per_block = target ? target->lds_bytes : gpu.lds_bytes_per_cu;
  out.warp_size = target ? target->default_wave : gpu.wave_size;
  // A block runs on one compute unit, whose SIMDs each hold total_vgprs registers for 64 lanes.
  if (target) out.registers_per_block = uint32_t{target->total_vgprs} * target->simds_per_cu * 64;
  out.max_threads_per_cu = gpu.max_waves_per_cu * out.warp_size;
  out.cu_count = gpu.cu_count;
  out.clock_khz = gpu.max_engine_clock_mhz * 1000;
  out.memory_clock_khz = gpu.memory_clock_mhz * 1000;
  out.memory_bus_bits = gpu.memory_bus_bits;
  out.wall_clock_khz = static_cast<uint32_t>(gpu.clock_hz / 1000);
  out.l2_bytes = l2_bytes(gpu);
  out.compute_major = gpu.gfx_major;
  out.compute_minor = gpu.gfx_minor;
  out.pci_domain = gpu.pci_domain;
  out.pci_bus = gpu.pci_bus;
  out.pci_device = gpu.pci_device;
  out.async_engine_count = std::min(gpu.num_sdma_engines, 2u);
  out.asic_revision = gpu.pci_revision;
  out.integrated = gpu.is_apu;
  out.ecc_enabled = gpu.sram_ecc;
  out.large_bar = gpu.vram_host_visible;
  return out;
}

}  // namespace barehip::runtime
