// One SDMA user queue: a ring of dwords, positions in bytes that only grow (kfd facts 5.4 and 7.4).
//
// A packet is read when all its dwords are below the write pointer; where the ring ends inside it, it goes on at the
// ring's start, as the engine reads dwords modulo the ring. The read pointer in memory moves when the packet ended
// (hostile early_read_index: when it starts).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/vgpu/cp/ring_queue.h"
#include "tools/vgpu/cp/sdma_packets.h"

namespace vgpu {

class SdmaQueue final : public RingQueue {
 public:
  SdmaQueue(GpuContext& gpu, const QueueParams& params) : RingQueue(gpu, params, "SDMA", 1) {}

  bool step() override;
  bool waiting() const override { return remapped_ || (buffer_ || (read_ != write_ && !starved_)); }
  void drop_waves() override {}

 private:
  /// A command buffer that an INDIRECT packet called, and how far it has run.
  struct Buffer {
    SdmaCall call;
    uint64_t at = 0;  ///< dwords
  };

  bool run_one();
  bool fetch();
  bool apply(const SdmaOutcome& outcome);
  bool finish(uint64_t dwords);
  bool publish(uint64_t position);
  MemResult<std::vector<uint32_t>> read_dwords(uint64_t first, uint64_t count);
  uint64_t available() const;  ///< dwords from the current packet to the end of what may be read

  std::optional<Buffer> buffer_;
  std::vector<uint32_t> dwords_;  ///< of the packet that runs; empty: none is fetched
  uint64_t moved_bytes_ = 0;      ///< its progress
};

}  // namespace vgpu
