// What differs between targets for a wave's launch and residency (LLVM's AMDGPU processor table and user guide).
#pragma once

#include <cstdint>
#include <string_view>

namespace vgpu {

enum class AccFile : uint8_t { kNone, kSeparate, kUnified };

struct ShaderTarget {
  std::string_view gfx;
  bool gfx11 = false;                ///< encodings, messages and hardware registers of RDNA3; else of gfx9
  bool packed_ids = false;           ///< work-item ids x, y, z in ten bits each of v0, else in v0, v1, v2
  bool architected_scratch = false;  ///< hardware presets FLAT_SCRATCH; no scratch wave offset SGPR
  AccFile acc = AccFile::kNone;
  uint32_t vgpr_granule32 = 0;  ///< of the descriptor's field, wave32; 0: no wave32
  uint32_t vgpr_granule64 = 0;
  uint32_t simds_per_cu = 4;
  uint32_t vgprs_per_simd = 0;  ///< 64-lane registers of one SIMD (gfx11: half of its 32-lane registers)
};

/// Null when vgpu has no shader model of that target.
const ShaderTarget* find_shader_target(std::string_view gfx);

}  // namespace vgpu
