// Launch state: from the registers of a dispatch to the first instruction of each wave.
#pragma once

#include <memory>
#include <string>

#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {

/// Derives group counts and the register allocation. False with `why`: hardware could not launch it at all.
bool prepare_dispatch(const GpuConfig& config, const ShaderTarget& target, DispatchState& state, std::string& why);

/// Waves in group number `linear` (x fastest); groups at the edge of the grid may have fewer work-items.
uint32_t waves_in_group(const DispatchState& state, uint64_t linear);

/// Makes the waves of group `linear`, whose place and scratch slots `group` already holds.
void launch_group(const GpuConfig& config, DispatchState& state, uint64_t linear, WorkGroup& group);

}  // namespace vgpu
