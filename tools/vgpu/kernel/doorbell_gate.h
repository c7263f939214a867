// How a sleeping GPU thread learns that the client stored to a doorbell. While the thread works it looks at the
// doorbells itself; before it sleeps it arms the client's mappings, so that the first store to them wakes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tools/vgpu/kernel/options.h"

namespace vgpu {

class DoorbellGate {
 public:
  /// The way that was asked for, or the best one that works here. Never null.
  static std::unique_ptr<DoorbellGate> create(DoorbellTrap wanted);
  virtual ~DoorbellGate();

  /// The client mapped, or lost, doorbell pages there. Any thread. Adding wakes the GPU thread.
  void add_mapping(void* address, size_t bytes);
  /// Whether there were any in the range.
  bool forget_range(uint64_t address, uint64_t bytes);

  // The GPU thread: arm(), look once more for work, wait(), disarm().
  void arm();
  void disarm();
  /// Returns after a store to an armed page, a kick, or timeout_us (negative: none).
  void wait(int64_t timeout_us);

  /// Wakes the GPU thread. Any thread; safe in a signal handler.
  void kick();

 protected:
  struct Range {
    uint64_t address, bytes;
  };

  DoorbellGate();
  virtual bool watch(const Range& range) = 0;
  virtual void unwatch(const Range& range) = 0;
  virtual void arm_range(const Range& range) = 0;
  virtual void disarm_range(const Range& range) = 0;
  virtual int poll_fd() const { return -1; }
  /// Takes notice of stores. True when one waits to be let in.
  virtual bool drain() { return false; }
  virtual int64_t longest_sleep_us() const { return -1; }

  int kick_fd_ = -1;

 private:
  void let_in_locked();

  std::mutex mutex_;
  std::vector<Range> ranges_;
  bool armed_ = false;
};

}  // namespace vgpu
