// Runs PM4 packets of the compute micro engine (MEC): those of a PM4 compute queue's ring, of the command buffers that
// it calls, and of the command buffer behind an AQL PM4-IB packet.
//
// Layouts: facts on packets, from amdgpu's soc15d.h (gfx9) and nvd.h (gfx10 and later). What is not in the table is
// refused with its name, as is a register that only the driver may touch.
//
// Two things go on behind the packets' back, as on hardware: dispatches, and end-of-pipe events (RELEASE_MEM), which
// fire when all dispatches before them have ended, in order, while later packets run already.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pm4/pm4.h"
#include "tools/vgpu/cp/compute_registers.h"
#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

struct Pm4Done {
  uint64_t skip_dwords = 0;  ///< COND_EXEC, PRED_EXEC: what follows and must not run
};
struct Pm4Blocked {};  ///< waits for memory or for the end of dispatches: run again
struct Pm4Call {       ///< goes on in a command buffer
  uint64_t va = 0;
  uint32_t dwords = 0;
  bool chain = false;  ///< never to come back
};
struct Pm4Refusal {
  std::string text;
};
using Pm4Outcome = std::variant<Pm4Done, Pm4Blocked, Pm4Call, Pm4Refusal, MemoryFault>;

/// What packets change: registers, dispatches that run, end-of-pipe events that wait.
class Pm4State {
 public:
  Pm4State(GpuContext& gpu, const Pm4Origin& origin) : registers(gpu), origin_(origin) {}

  /// Dispatches and events that may be under way at once; more make packets wait.
  static constexpr size_t kMostDispatches = 16, kMostEvents = 64;
  bool can_dispatch() const { return running_.size() < kMostDispatches; }
  bool can_wait() const { return events_.size() < kMostEvents; }

  void start(GpuContext& gpu, Dispatch dispatch);
  void add_event(const barehip::pm4::ReleaseMem& event) { events_.push_back({event, started_}); }

  /// Fires the events that are due. `others_running`: dispatches of the queue that this state did not start still run.
  MemResult<void> settle(GpuContext& gpu, bool others_running);
  bool waves_running() const { return !running_.empty(); }
  bool idle() const { return running_.empty() && events_.empty(); }
  void drop_waves(GpuContext& gpu);
  void append_dispatches(std::vector<ShaderEngine::DispatchId>& ids) const;
  const Pm4Origin& origin() const { return origin_; }

  ComputeRegisters registers;
  uint32_t hdp_flush = 0;      ///< GPU_HDP_FLUSH_REQ; what _DONE then says
  uint64_t atomic_return = 0;  ///< of the last ATOMIC_MEM

 private:
  struct Running {
    uint64_t number = 0;
    ShaderEngine::DispatchId id{};
  };
  struct Event {
    barehip::pm4::ReleaseMem packet;
    uint64_t after = 0;  ///< waits for the dispatches up to this number
  };

  Pm4Origin origin_;
  uint64_t started_ = 0;
  std::vector<Running> running_;
  std::deque<Event> events_;
};

/// One packet. `in_buffer`: of a command buffer, which may hold other packets than a ring. `others_running`: dispatches
/// of the queue that `state` did not start run.
Pm4Outcome run_pm4_packet(GpuContext& gpu, Pm4State& state, const barehip::pm4::Packet& packet, bool in_buffer,
                          bool others_running);

/// A command buffer that runs, with what it started.
class Pm4Stream {
 public:
  Pm4Stream(GpuContext& gpu, const Pm4Origin& origin) : state_(gpu, origin) {}

  /// One packet of a ring. A call enters its command buffer.
  Pm4Outcome run_ring_packet(GpuContext& gpu, const barehip::pm4::Packet& packet);
  /// Begins a command buffer: reads it whole.
  Pm4Outcome enter(GpuContext& gpu, const Pm4Call& call);
  /// Runs on from where the command buffer stopped; done when it has ended (what it started may go on). Cost: the whole
  /// buffer, unless it blocks.
  Pm4Outcome run_buffer(GpuContext& gpu, bool others_running);

  bool in_buffer() const { return buffer_.has_value(); }
  Pm4State& state() { return state_; }
  const Pm4State& state() const { return state_; }

 private:
  struct Buffer {
    std::vector<uint32_t> dwords;
    size_t at = 0;
  };
  Pm4State state_;
  std::optional<Buffer> buffer_;
};

}  // namespace vgpu
