#include "tools/vgpu/cp/cache_actions.h"

#include "pm4/pm4.h"
#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

CacheActions actions_from_coher(uint32_t cntl) {
  using namespace barehip::pm4::coher;
  return {.instruction = (cntl & kShIcache) != 0,
          .scalar = (cntl & kShKcache) != 0,
          .vector = (cntl & (kTcl1 | kTcl1Vol)) != 0,
          .l2_write_back = (cntl & kTcWriteback) != 0,
          .l2_invalidate = (cntl & kTc) != 0};
}

CacheActions actions_from_gcr(uint32_t cntl) {
  using namespace barehip::pm4::gcr;
  constexpr uint32_t kBothLevels = kGlvInv | kGl1Inv;  // one vector cache stands for both: fresh when both are empty
  constexpr uint32_t kGliInvField = 3;                 // GLI_INV is two bits: none, all, and two kinds of range
  return {.instruction = (cntl & kGliInvField) != 0,
          .scalar = (cntl & kGlkInv) != 0,
          .vector = (cntl & kBothLevels) == kBothLevels,
          .l2_write_back = (cntl & kGl2Writeback) != 0,
          .l2_invalidate = (cntl & kGl2Inv) != 0};
}

CacheActions actions_from_release(const GpuContext& gpu, uint16_t bits) {
  namespace pm4 = barehip::pm4;
  if (gpu.caps.has(pm4::Cap::kGcr)) {
    constexpr uint16_t kBothLevels = pm4::release_gcr::kGlvInv | pm4::release_gcr::kGl1Inv;
    return {.vector = (bits & kBothLevels) == kBothLevels,
            .l2_write_back = (bits & pm4::release_gcr::kGl2Writeback) != 0,
            .l2_invalidate = (bits & pm4::release_gcr::kGl2Inv) != 0};
  }
  return {.vector = (bits & (pm4::release_coher::kTcl1 | pm4::release_coher::kTcl1Vol)) != 0,
          .l2_write_back = (bits & pm4::release_coher::kTcWriteback) != 0,
          .l2_invalidate = (bits & pm4::release_coher::kTc) != 0};
}

void apply_cache_actions(GpuContext& gpu, const CacheActions& a) {
  const bool first_level = a.instruction || a.scalar || a.vector;
  if (first_level) gpu.engine->invalidate_l1(a.instruction, a.scalar, a.vector);
  if (!gpu.caches) return;
  if (first_level) gpu.caches->invalidate_l1(-1, a.vector, a.scalar, a.instruction);
  if (a.l2_write_back) gpu.caches->write_back_l2();
  if (a.l2_invalidate) gpu.caches->invalidate_l2();
}

}  // namespace vgpu
