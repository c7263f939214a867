// Runs PM4 packets of the compute micro engine (MEC): the command buffer behind an AQL PM4-IB packet.
//
// Layouts: facts on packets, from amdgpu's soc15d.h (gfx9) and nvd.h (gfx10 and later). What is not in the table is
// refused with its opcode, as is a write to a register: only the driver may do that outside of SET_SH_REG.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

struct Pm4Done {};
struct Pm4Blocked {};  ///< waits for memory or for the end of earlier dispatches: run again
struct Pm4Refusal {
  std::string text;
};
using Pm4Outcome = std::variant<Pm4Done, Pm4Blocked, Pm4Refusal, MemoryFault>;

class Pm4Stream {
 public:
  explicit Pm4Stream(std::vector<uint32_t> dwords) : dwords_(std::move(dwords)) {}
  /// Runs on from where it stopped. `waves_running`: earlier dispatches of the queue have not ended, so end-of-pipe
  /// events block. Cost: the whole buffer, unless it blocks.
  Pm4Outcome run(GpuContext& gpu, bool waves_running);

 private:
  std::vector<uint32_t> dwords_;
  size_t at_ = 0;
};

}  // namespace vgpu
