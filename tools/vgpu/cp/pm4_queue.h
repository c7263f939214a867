// One PM4 compute user queue: a ring of dwords, write pointer and doorbell in dwords that only grow (kfd facts 5.4).
//
// A packet is read when all its dwords are below the write pointer. The read pointer in memory is a 32-bit dword index
// that wraps at the ring's size; it moves when a packet has started, so a client learns from it that packets were
// taken, not that their dispatches ended. A packet that waits holds it back.
#pragma once

#include <optional>
#include <vector>

#include "tools/vgpu/cp/pm4_stream.h"
#include "tools/vgpu/cp/ring_queue.h"

namespace vgpu {

class Pm4Queue final : public RingQueue {
 public:
  Pm4Queue(GpuContext& gpu, const QueueParams& params);

  bool step() override;
  bool waiting() const override;
  void drop_waves() override;
  void set_cus(const CuMask& cus) override;
  void on_wave_error(const Dispatch& dispatch, const WaveError& error) override;

 private:
  std::vector<ShaderEngine::DispatchId> dispatches() const override;
  bool run_some();
  bool run_one();
  bool skip_some();
  bool fetch(std::vector<uint32_t>& dwords);
  bool apply(const Pm4Outcome& outcome);
  bool publish();

  Pm4Stream stream_;
  uint64_t skip_dwords_ = 0;  ///< of what follows, not to be run
  uint64_t published_ = 0;    ///< bytes; what the read pointer in memory says
};

}  // namespace vgpu
