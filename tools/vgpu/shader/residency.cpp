#include "tools/vgpu/shader/residency.h"

#include <algorithm>
#include <ranges>

#include "tools/vgpu/shader/cu_place.h"

namespace vgpu {
namespace {

constexpr uint32_t kLdsGranule = 512;
constexpr uint32_t round_up(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

bool uses_scratch(const DispatchState& d) {
  return (d.dispatch.rsrc2 & 1) != 0 && d.dispatch.scratch_base != 0 && d.dispatch.scratch_wave_bytes != 0;
}

}  // namespace

Residency::Residency(const GpuConfig& config, const ShaderTarget& target)
    : config_(config),
      whole_{config.waves_per_cu, config.lds_bytes_per_cu, target.simds_per_cu * target.vgprs_per_simd},
      free_(config.cu_count ? config.cu_count : 1, whole_) {}

Residency::Unit Residency::demand(const DispatchState& d, uint32_t waves) const {
  return {waves, round_up(d.dispatch.lds_bytes, kLdsGranule), waves * d.shape.simd_vgprs};
}

bool Residency::take_unit(const DispatchState& d, const Unit& need, uint32_t& cu) {
  for (uint32_t tries = 0; tries < free_.size(); ++tries) {
    const uint32_t candidate = (next_unit_ + tries) % static_cast<uint32_t>(free_.size());
    if (!cu_enabled(config_, d.dispatch.cus, candidate)) continue;
    Unit& unit = free_[candidate];
    if (unit.waves < need.waves || unit.lds_bytes < need.lds_bytes || unit.vgprs < need.vgprs) continue;
    unit.waves -= need.waves;
    unit.lds_bytes -= need.lds_bytes;
    unit.vgprs -= need.vgprs;
    next_unit_ = (candidate + 1) % static_cast<uint32_t>(free_.size());
    cu = candidate;
    return true;
  }
  return false;
}

bool Residency::acquire(const DispatchState& d, uint32_t waves, WorkGroup& group) {
  if (!take_unit(d, demand(d, waves), group.cu)) return false;
  if (!uses_scratch(d) || take_scratch(d, waves, group.scratch_slots)) return true;
  give_back(group.cu, demand(d, waves));
  return false;
}

bool Residency::move_in(const DispatchState& d, WorkGroup& group) {
  return take_unit(d, demand(d, static_cast<uint32_t>(group.waves.size())), group.cu);
}

void Residency::move_out(const DispatchState& d, const WorkGroup& group) {
  give_back(group.cu, demand(d, static_cast<uint32_t>(group.waves.size())));
}

void Residency::give_back(uint32_t cu, const Unit& need) {
  Unit& unit = free_[cu];
  unit.waves += need.waves;
  unit.lds_bytes += need.lds_bytes;
  unit.vgprs += need.vgprs;
}

bool Residency::take_scratch(const DispatchState& d, uint32_t waves, std::vector<uint32_t>& slots) {
  ScratchArea& area = scratch_[d.dispatch.scratch_base];
  const uint32_t limit = d.dispatch.scratch_waves;
  if (area.taken.size() < limit) area.taken.resize(limit);
  slots.clear();
  for (uint32_t slot = 0; slot < limit && slots.size() < waves; ++slot) {
    if (!area.taken[slot]) slots.push_back(slot);
  }
  if (slots.size() < waves) {
    slots.clear();
    if (area.users == 0) scratch_.erase(d.dispatch.scratch_base);
    return false;
  }
  for (const uint32_t slot : slots) area.taken[slot] = true;
  area.users += waves;
  return true;
}

void Residency::release(const DispatchState& d, const WorkGroup& group) {
  move_out(d, group);
  release_scratch(d, group);
}

void Residency::release_scratch(const DispatchState& d, const WorkGroup& group) {
  const auto area = scratch_.find(d.dispatch.scratch_base);
  if (group.scratch_slots.empty() || area == scratch_.end()) return;
  for (const uint32_t slot : group.scratch_slots) area->second.taken[slot] = false;
  area->second.users -= static_cast<uint32_t>(group.scratch_slots.size());
  if (area->second.users == 0) scratch_.erase(area);
}

bool Residency::can_ever_fit(const DispatchState& d, uint32_t waves, std::string& why) const {
  const Unit need = demand(d, waves);
  if (need.waves > whole_.waves)
    why = "the work-group has more waves than a compute unit holds";
  else if (need.lds_bytes > whole_.lds_bytes)
    why = "the work-group wants more LDS than a compute unit has";
  else if (need.vgprs > whole_.vgprs)
    why = "the work-group wants more VGPRs than a compute unit has";
  else if (std::ranges::none_of(std::views::iota(0u, static_cast<uint32_t>(free_.size())),
                                [&](uint32_t cu) { return cu_enabled(config_, d.dispatch.cus, cu); }))
    why = "its queue's mask leaves no compute unit";
  else if (uses_scratch(d) && d.dispatch.scratch_waves < waves)
    why = "the work-group has more waves than scratch slots";
  else
    return true;
  return false;
}

}  // namespace vgpu
