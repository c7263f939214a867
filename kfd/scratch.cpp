#include "kfd/scratch.h"

#include <algorithm>

#include "kfd/mapping.h"

namespace barehip::kfd {
namespace {

/// COMPUTE_TMPRING_SIZE and the constant words of the buffer resource differ by generation.
struct Layout {
  uint32_t wavesize_unit_bytes;
  uint32_t wavesize_bits;
  bool waves_per_engine;    ///< the WAVES field counts one shader engine, not one XCC
  uint32_t resource_word1;  ///< swizzle enable; the upper address bits are or-ed in
  uint32_t resource_word3;
};

constexpr uint32_t kWavesBits = 12;

// Word 3 of gfx9: DST_SEL x,y,z,w; NUM_FORMAT uint; DATA_FORMAT 32; ELEMENT_SIZE 4; INDEX_STRIDE 64;
// ADD_TID_ENABLE.
constexpr Layout kGfx9 = {1024, 13, false, 1u << 31, 0x00ea4fac};
// Word 3 of gfx11: DST_SEL x,y,z,w; FORMAT 32_UINT; ADD_TID_ENABLE; OOB_SELECT 2; the processor fills
// INDEX_STRIDE.
constexpr Layout kGfx11 = {256, 15, true, 1u << 30, 0x20814fac};

const Layout& layout_of(const GpuProperties& gpu) { return gpu.gfx_major == 9 ? kGfx9 : kGfx11; }

/// NUM_RECORDS, in bytes, has 32 bits.
constexpr uint64_t kMaxBytesPerXcc = UINT32_MAX;

}  // namespace

uint32_t max_scratch_bytes_per_lane(const GpuProperties& gpu, uint32_t wave_lanes) {
  const Layout& layout = layout_of(gpu);
  return ((1u << layout.wavesize_bits) - 1) * layout.wavesize_unit_bytes / wave_lanes;
}

Result<ScratchPlan> plan_scratch(const GpuProperties& gpu, const ScratchNeed& need, uint64_t budget_bytes) {
  const Layout& layout = layout_of(gpu);
  const uint32_t limit = max_scratch_bytes_per_lane(gpu, need.wave_lanes);
  if (need.bytes_per_lane > limit)
    return fail(ErrorCode::kOutOfResources, "allocate scratch",
                "A kernel needs " + std::to_string(need.bytes_per_lane) + " bytes of private memory per work-item; " +
                    gpu.gfx + " gives at most " + std::to_string(limit) + ".");
  // One unit at least: a packet may name no private memory and yet have a stack that grows.
  const uint64_t wave_bytes =
      round_up(uint64_t{std::max(need.bytes_per_lane, 1u)} * need.wave_lanes, layout.wavesize_unit_bytes);
  const uint32_t engines_per_xcc = std::max(gpu.shader_engines / gpu.num_xcc, 1u);
  const uint32_t engines = engines_per_xcc * gpu.num_xcc;

  const uint32_t cus_per_engine = (gpu.cu_count + engines - 1) / engines;
  uint32_t most = cus_per_engine * gpu.max_slots_scratch_cu;
  const uint32_t counted_engines = layout.waves_per_engine ? 1 : engines_per_xcc;
  most = std::min(most, ((1u << kWavesBits) - 1) / counted_engines);
  most = static_cast<uint32_t>(std::min<uint64_t>(most, kMaxBytesPerXcc / (wave_bytes * engines_per_xcc)));
  if (budget_bytes != 0) most = static_cast<uint32_t>(std::min<uint64_t>(most, budget_bytes / (wave_bytes * engines)));

  ScratchPlan plan;
  plan.waves_per_engine = std::max({most, need.waves_per_group, 1u});
  plan.bytes = round_up(wave_bytes * plan.waves_per_engine * engines, kPage);
  const uint32_t waves_field = plan.waves_per_engine * counted_engines;
  plan.tmpring_size = waves_field | static_cast<uint32_t>(wave_bytes / layout.wavesize_unit_bytes) << kWavesBits;
  plan.wave64_lane_bytes = static_cast<uint32_t>(wave_bytes / 64);
  return plan;
}

void write_scratch(aql::AmdQueue& queue, const GpuProperties& gpu, const ScratchPlan& plan, uint64_t address) {
  const Layout& layout = layout_of(gpu);
  const bool some = address != 0;
  queue.scratch_resource_descriptor[0] = static_cast<uint32_t>(address);
  queue.scratch_resource_descriptor[1] = static_cast<uint32_t>((address >> 32) & 0xffff) | layout.resource_word1;
  queue.scratch_resource_descriptor[2] = static_cast<uint32_t>(some ? plan.bytes / gpu.num_xcc : 0);
  queue.scratch_resource_descriptor[3] = layout.resource_word3;
  queue.scratch_backing_memory_location = address;
  queue.scratch_backing_memory_byte_size = some ? plan.bytes / gpu.num_xcc : 0;
  queue.scratch_wave64_lane_byte_size = some ? plan.wave64_lane_bytes : 0;
  queue.compute_tmpring_size = some ? plan.tmpring_size : 0;
}

}  // namespace barehip::kfd
