#include "kfd/cwsr.h"

#include <algorithm>

#include "kfd/mapping.h"

namespace barehip::kfd {
namespace {

constexpr uint32_t kSgprBytesPerCu = 0x4000;
constexpr uint32_t kHwregBytesPerCu = 0x1000;
constexpr uint32_t kLdsBytesPerCu = 0x10000;
constexpr uint32_t kDefaultVgprBytesPerCu = 0x40000;
constexpr uint32_t kCtlStackHeaderBytes = 40, kCtlStackTailBytes = 8;
constexpr uint32_t kDebugBytesPerWave = 32;
constexpr uint32_t kDebugAlignment = 64;

struct VgprBytes {
  uint32_t major, minor, step;
  uint32_t bytes_per_cu;
};

// Targets whose vector register file is not the default's.
constexpr VgprBytes kVgprBytes[] = {
    {9, 0, 8, 0x80000}, {9, 0, 10, 0x80000}, {9, 4, 0, 0x80000},  {9, 4, 1, 0x80000},  {9, 4, 2, 0x80000},
    {9, 5, 0, 0x80000}, {11, 0, 0, 0x60000}, {11, 0, 1, 0x60000}, {11, 5, 1, 0x60000},
};

uint32_t vgpr_bytes_per_cu(const GpuProperties& gpu) {
  for (const VgprBytes& row : kVgprBytes)
    if (row.major == gpu.gfx_major && row.minor == gpu.gfx_minor && row.step == gpu.gfx_step) return row.bytes_per_cu;
  return kDefaultVgprBytesPerCu;
}

uint32_t lds_bytes_per_cu(const GpuProperties& gpu) {
  const bool gfx950 = gpu.gfx_major == 9 && gpu.gfx_minor == 5;
  return gfx950 ? gpu.lds_bytes_per_cu : kLdsBytesPerCu;
}

}  // namespace

CwsrSizes cwsr_sizes(const GpuProperties& gpu) {
  constexpr uint32_t kWavesPerCuGfx9 = 40, kWavesPerCuGfx10 = 32, kWavesPerEngineGfx9 = 512;
  const bool gfx9 = gpu.gfx_major < 10;
  const uint32_t cus = gpu.cu_count / gpu.num_xcc;
  const uint32_t waves =
      gfx9 ? std::min(cus * kWavesPerCuGfx9, gpu.shader_engines * kWavesPerEngineGfx9) : cus * kWavesPerCuGfx10;
  const uint32_t stack_bytes_per_wave = gfx9 ? 8 : 12;

  CwsrSizes sizes;
  sizes.ctl_stack_bytes = static_cast<uint32_t>(
      round_up(kCtlStackHeaderBytes + uint64_t{waves} * stack_bytes_per_wave + kCtlStackTailBytes, kPage));
  const uint64_t per_cu = uint64_t{vgpr_bytes_per_cu(gpu)} + kSgprBytesPerCu + lds_bytes_per_cu(gpu) + kHwregBytesPerCu;
  sizes.save_bytes = static_cast<uint32_t>(sizes.ctl_stack_bytes + round_up(cus * per_cu, kPage));
  sizes.debug_bytes = static_cast<uint32_t>(round_up(uint64_t{waves} * kDebugBytesPerWave, kDebugAlignment));
  if (gpu.cwsr_bytes_per_xcc != 0) sizes.save_bytes = gpu.cwsr_bytes_per_xcc;
  if (gpu.ctl_stack_bytes_per_xcc != 0) sizes.ctl_stack_bytes = gpu.ctl_stack_bytes_per_xcc;
  sizes.total_bytes = round_up((uint64_t{sizes.save_bytes} + sizes.debug_bytes) * gpu.num_xcc, kPage);
  return sizes;
}

}  // namespace barehip::kfd
