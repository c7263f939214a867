// One AQL user queue: the header state machine, ordering, dependencies, scratch handshake and completion of packets.
//
// The window holds the packets from the oldest that has not completed. A packet goes through it like this:
//
//   kEmpty --header is not INVALID, may start--> kRunning --waves ended / dependencies met--> kDone --> leaves the
//   window
//                                                    \--hostile out-of-order--> kHeld -->/
//
// On kDone, in this order: timestamps, release fence, header back to INVALID, read index, completion signal, interrupt.
// The read index moves over the completed prefix of the window (hostile early_read_index: over the started prefix).
#pragma once

#include <barehip/aql.h>

#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "tools/vgpu/cp/aql_dispatch.h"
#include "tools/vgpu/cp/hw_queue.h"
#include "tools/vgpu/cp/pm4_stream.h"

namespace vgpu {

class AqlQueue final : public HwQueue {
 public:
  AqlQueue(GpuContext& gpu, const QueueParams& params);

  bool step() override;
  bool waiting() const override;
  void drop_waves() override;
  void on_wave_error(const Dispatch& dispatch, const WaveError& error) override;

 private:
  enum class State : uint8_t { kEmpty, kRunning, kHeld, kDone, kFailed };

  struct Slot {
    State state = State::kEmpty;
    std::array<std::byte, barehip::aql::kPacketBytes> bytes{};  ///< copied when it started
    uint16_t header = 0;
    bool dispatched = false;  ///< has waves on the shader cores
    bool uses_scratch = false;
    bool scratch_once = false;  ///< report 0x200 when it ended
    bool profiled = false;
    uint32_t hold = 0;  ///< hostile: polls until a finished packet may complete
    ShaderEngine::DispatchId waves{};
    std::optional<Pm4Stream> commands;
    uint64_t start_tick = 0;

    template <class Packet>
    Packet as() const {
      Packet packet;
      std::memcpy(&packet, bytes.data(), sizeof(packet));
      return packet;
    }
  };

  enum class Start : uint8_t { kStarted, kBlocked, kRefused };

  void mapped(bool doorbell_lost) override;
  std::vector<ShaderEngine::DispatchId> dispatches() const override;
  uint64_t slot_va(uint64_t index) const;
  bool check_doorbell();
  bool poll_running();
  bool start_packets();
  MemResult<bool> announced(size_t position);
  std::vector<size_t> startable();
  MemResult<bool> fetch_header(size_t position);
  Start start(size_t position);
  Start start_dispatch(size_t position);
  Start start_vendor(size_t position);
  Start ask_for_scratch(size_t position, const ScratchWanted& wanted);
  Start refuse(PacketError code, const std::string& text);
  void acquire(barehip::aql::FenceScope scope);
  bool dependencies_met(const Slot& slot, bool& met);
  bool advance(size_t position, bool& progress);
  void finish(size_t position);
  MemResult<void> complete(size_t position);
  MemResult<void> publish_read_index();
  bool raise_inactive(uint64_t reason);
  bool scratch_answered();
  bool any_running() const;
  bool dispatches_running() const;
  bool run_commands(Pm4Stream& commands);
  bool all_done_before(size_t position) const;

  std::deque<Slot> window_;
  uint64_t base_ = 0;              ///< packet index of window_.front()
  uint64_t published_ = 0;         ///< what read_dispatch_id says
  uint64_t doorbell_limit_ = 0;    ///< one past the last index that a doorbell named
  uint64_t limit_ = 0;             ///< one past the last index that may be looked at
  bool looking_ = false;           ///< a doorbell or remap asked to look; ends when all below limit_ has started
  bool awaiting_scratch_ = false;  ///< queue_inactive_signal was set; nothing starts until the host stores 0
  uint64_t inactive_signal_ = 0;
  QueueView view_{};  ///< amd_queue_t as read for the packet being started
};

}  // namespace vgpu
