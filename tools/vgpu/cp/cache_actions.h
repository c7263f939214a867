// Cache maintenance as packets ask for it, in the one form that the shader cores and the cache model understand.
#pragma once

#include <cstdint>

namespace vgpu {

struct GpuContext;

struct CacheActions {
  bool instruction = false;  ///< invalidate
  bool scalar = false;
  bool vector = false;
  bool l2_write_back = false;
  bool l2_invalidate = false;
};

CacheActions actions_from_coher(uint32_t coher_cntl);                     ///< gfx9 ACQUIRE_MEM
CacheActions actions_from_gcr(uint32_t gcr_cntl);                         ///< gfx11 ACQUIRE_MEM, SDMA GCR_REQ
CacheActions actions_from_release(const GpuContext& gpu, uint16_t bits);  ///< RELEASE_MEM dword 1 [24:12]

/// The range that a packet names is a hint, a larger one is always right: everything is acted on.
void apply_cache_actions(GpuContext& gpu, const CacheActions& actions);

}  // namespace vgpu
