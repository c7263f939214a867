// What SDMA and PM4 compute queues have in common: a ring of dwords that the engine reads modulo its size, positions
// that only grow, and a write pointer that comes from the doorbell, or from memory after the queue was put on the
// hardware.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/vgpu/cp/hw_queue.h"

namespace vgpu {

class RingQueue : public HwQueue {
 protected:
  /// `unit`: bytes that one step of the write pointer stands for (SDMA 1, PM4 4).
  RingQueue(GpuContext& gpu, const QueueParams& params, const char* engine, uint32_t unit)
      : HwQueue(gpu, params), engine_(engine), unit_(unit) {}

  void mapped(bool doorbell_lost) override;
  /// Looks at the doorbell. True when the write pointer moved, or the queue halted for one that cannot be.
  bool take_write_pointer();
  /// Dwords from the current position that the client has announced.
  uint64_t announced() const { return (write_ - read_) / 4; }
  MemResult<std::vector<uint32_t>> ring_dwords(uint64_t first, uint64_t count);
  bool refuse(const std::string& text);

  uint64_t read_ = 0;     ///< bytes; start of the packet that runs next
  uint64_t write_ = 0;    ///< bytes
  bool remapped_ = true;  ///< the write pointer in memory has to be read
  bool starved_ = false;  ///< the next packet is not complete below the write pointer

 private:
  bool set_write_pointer(uint64_t value);

  const char* engine_;
  uint32_t unit_;
};

}  // namespace vgpu
