// Private memory ("scratch") of the waves of an AQL queue: how much, and what amd_queue_t says about it.
#pragma once

#include <cstdint>

#include <barehip/aql.h>
#include <barehip/device.h>
#include <barehip/error.h>

namespace barehip::kfd {

/// What a kernel needs.
struct ScratchNeed {
  uint32_t bytes_per_lane = 0;   ///< private_segment_size of the packet
  uint32_t wave_lanes = 64;      ///< 32 or 64
  uint32_t waves_per_group = 1;  ///< fewer slots on a shader engine than this, and a group never starts
};

/// A size and the register value that tells the hardware about it.
struct ScratchPlan {
  uint64_t bytes = 0;  ///< of the allocation; slice i of num_xcc equal ones is XCC i's
  uint32_t waves_per_engine = 0;
  uint32_t tmpring_size = 0;       ///< COMPUTE_TMPRING_SIZE
  uint32_t wave64_lane_bytes = 0;  ///< what the command processor compares packets with
};

/// The most a lane may have (field width of WAVESIZE at 64 lanes).
uint32_t max_scratch_bytes_per_lane(const GpuProperties& gpu, uint32_t wave_lanes);

/// For as many waves as fit on the GPU, or as fit into `budget_bytes`: fewer waves with scratch then run at a
/// time, but never fewer than one work-group on each shader engine. Error: kOutOfResources when one lane
/// needs too much.
Result<ScratchPlan> plan_scratch(const GpuProperties& gpu, const ScratchNeed& need, uint64_t budget_bytes);

/// Writes plan and place into the descriptor (address 0: no scratch; the constant words of the resource
/// stay).
void write_scratch(aql::AmdQueue& queue, const GpuProperties& gpu, const ScratchPlan& plan, uint64_t address);

}  // namespace barehip::kfd
