// A dispatch while it runs, and one of its work-groups while it is resident on a compute unit.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/shader/engine.h"
#include "tools/vgpu/shader/shader_target.h"
#include "tools/vgpu/shader/wave.h"

namespace vgpu {

/// What instructions may ask of the machine around the wave. Answers come at once; interrupts are delivered after
/// the wave's turn.
class WaveHost {
 public:
  virtual ~WaveHost() = default;
  virtual const GpuConfig& config() const = 0;
  virtual void interrupt(const Wave& wave, uint32_t data) = 0;  ///< s_sendmsg MSG_INTERRUPT
  virtual void invalidate_instructions() = 0;                   ///< after this wave's turn
  virtual uint64_t gpu_clock() = 0;                             ///< constant rate
  virtual uint64_t cycles() = 0;                                ///< shader clock: moves with executed instructions
};

/// Register allocation of each wave of a dispatch, from rsrc1 and rsrc3.
struct WaveShape {
  uint32_t vgpr_rows = 0;  ///< rows of Wave::v
  uint32_t vgpr_count = 0, acc_base = 0, acc_count = 0, sgpr_count = 0;
  uint32_t simd_vgprs = 0;  ///< 64-lane registers that a wave takes from a SIMD
};

struct DispatchState {
  Dispatch dispatch;
  uint64_t id = 0;
  const ShaderTarget* target = nullptr;
  WaveShape shape;
  std::array<uint32_t, 3> group_counts{};
  uint64_t group_total = 0;
  uint64_t next_group = 0;  ///< linear number of the next group to launch
  uint32_t live_groups = 0;
  uint32_t waves_per_group = 0;  ///< of a full group
  bool suspended = false;        ///< off the compute units: nothing of it runs or is launched
  bool stopped = false;          ///< a wave failed: no wave of it runs any more
  bool trapped = false;          ///< some wave halted in or for want of a trap handler
  bool reported = false;         ///< the sink knows why it does not end
};

struct AlignedFree {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using AlignedArray = std::unique_ptr<T[], AlignedFree>;

struct WorkGroup {
  DispatchState* dispatch = nullptr;
  WaveHost* host = nullptr;
  uint64_t number = 0;  ///< linear, x fastest
  std::array<uint32_t, 3> id{};
  std::array<uint32_t, 3> size{};  ///< work-items; smaller than the dispatch's at the edge of the grid
  uint32_t cu = 0;
  bool resident = true;  ///< false: suspended, or waits for a compute unit since
  uint32_t live_waves = 0;
  uint32_t at_barrier = 0;
  std::vector<Wave> waves;
  std::vector<uint32_t> scratch_slots;  ///< of this group's waves; empty without scratch
  AlignedArray<std::byte> lds;
  AlignedArray<uint32_t> vgprs;
};

}  // namespace vgpu
