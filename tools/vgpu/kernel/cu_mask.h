// From the bits of SET_CU_MASK to the masks of the shader engines.
#pragma once

#include <cstdint>
#include <span>

#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/shader/engine.h"

namespace vgpu {

/// The driver's symmetric order: bit after bit goes to the next engine, then the next array, then the next unit (on
/// GPUs whose units work in pairs, two bits to a pair). Bits beyond the GPU's units are ignored; units beyond the bits
/// stay off. Cost: a walk over all units.
CuMask map_cu_mask(const GpuConfig& config, std::span<const uint32_t> bits, bool in_pairs);

}  // namespace vgpu
