#include "tools/vgpu/kernel/cu_mask.h"

#include <array>

#include "tools/vgpu/shader/cu_place.h"

namespace vgpu {

CuMask map_cu_mask(const GpuConfig& config, std::span<const uint32_t> bits, bool in_pairs) {
  constexpr uint32_t kArrays = 2, kUnits = 16;
  CuMask out{};
  const auto engines = std::min<uint32_t>(std::max(config.shader_engines, 1u), out.size());
  std::array<std::array<uint32_t, kArrays>, std::tuple_size_v<CuMask>> units{};
  for (uint32_t cu = 0; cu < config.cu_count; ++cu) {
    const CuPlace place = cu_place(config, cu);
    if (place.engine < engines) ++units[place.engine][place.array % kArrays];
  }
  const uint32_t step = in_pairs ? 2 : 1, group = in_pairs ? 3 : 1;
  uint32_t bit = 0;
  for (uint32_t unit = 0; unit < kUnits; unit += step) {
    for (uint32_t array = 0; array < kArrays; ++array) {
      for (uint32_t engine = 0; engine < engines; ++engine) {
        if (units[engine][array] <= unit) continue;
        if (bit >= bits.size() * 32) return out;
        if (bits[bit / 32] & group << bit % 32) out[engine] |= group << (unit + array * kUnits);
        bit += step;
      }
    }
  }
  return out;
}

}  // namespace vgpu
