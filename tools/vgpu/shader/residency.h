// How much fits on the GPU at once: waves, LDS and registers per compute unit, scratch slots per scratch area.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {

class Residency {
 public:
  Residency(const GpuConfig& config, const ShaderTarget& target);

  /// Takes a compute unit and scratch slots for one group with `waves` waves; false when it must wait. Fills
  /// group.cu and group.scratch_slots.
  bool acquire(const DispatchState& dispatch, uint32_t waves, WorkGroup& group);
  void release(const DispatchState& dispatch, const WorkGroup& group);
  void release_scratch(const DispatchState& dispatch, const WorkGroup& group);
  /// Gives the group's place on its compute unit back, not its scratch slots. move_in() finds it another one, or false.
  void move_out(const DispatchState& dispatch, const WorkGroup& group);
  bool move_in(const DispatchState& dispatch, WorkGroup& group);
  /// False: such a group can never be resident, however empty the GPU is. `why` says what is short.
  bool can_ever_fit(const DispatchState& dispatch, uint32_t waves, std::string& why) const;

 private:
  struct Unit {
    uint32_t waves = 0;
    uint32_t lds_bytes = 0;
    uint32_t vgprs = 0;
  };
  struct ScratchArea {
    uint32_t users = 0;  ///< slots in use
    std::vector<bool> taken;
  };
  Unit demand(const DispatchState& dispatch, uint32_t waves) const;
  void give_back(uint32_t cu, const Unit& need);
  bool take_unit(const DispatchState& dispatch, const Unit& need, uint32_t& cu);
  bool take_scratch(const DispatchState& dispatch, uint32_t waves, std::vector<uint32_t>& slots);

  const GpuConfig& config_;
  Unit whole_;  ///< an empty unit
  std::vector<Unit> free_;
  uint32_t next_unit_ = 0;
  std::map<uint64_t, ScratchArea> scratch_;  ///< by base address: dispatches of one queue share an area
};

}  // namespace vgpu
