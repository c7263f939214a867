// Where compute unit number n of a GPU is: units are counted through arrays, arrays through engines.
#pragma once

#include <algorithm>

#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/shader/engine.h"

namespace vgpu {

struct CuPlace {
  uint32_t engine = 0;
  uint32_t array = 0;  ///< of the engine
  uint32_t unit = 0;   ///< of the array
};

inline CuPlace cu_place(const GpuConfig& config, uint32_t cu) {
  const auto share = [](uint32_t of, uint32_t among) { return std::max((of + among - 1) / among, 1u); };
  const uint32_t arrays = std::max(config.arrays_per_engine, 1u);
  const uint32_t per_engine = share(config.cu_count, std::max(config.shader_engines, 1u));
  const uint32_t per_array = share(per_engine, arrays);
  const uint32_t in_engine = cu % per_engine;
  return {.engine = cu / per_engine, .array = in_engine / per_array, .unit = in_engine % per_array};
}

/// Engines beyond the mask's are those of further XCCs, which have the same masks.
inline bool cu_enabled(const GpuConfig& config, const CuMask& mask, uint32_t cu) {
  const CuPlace place = cu_place(config, cu);
  return (mask[place.engine % mask.size()] >> (place.array * 16 + place.unit) & 1) != 0;
}

}  // namespace vgpu
