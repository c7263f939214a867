// One SDMA queue: copies and fills that wait for signals before and complete a signal after.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <barehip/device.h>
#include <barehip/queue.h>

#include "pm4/caps.h"
#include "runtime/core/lock.h"
#include "runtime/core/shared_signal.h"

namespace barehip::runtime {

/// `rows` rows of row_bytes, each row's start a pitch behind the last one's. One row is a plain copy.
struct Transfer {
  uint64_t dst = 0;
  uint64_t src = 0;  ///< copies only
  uint64_t row_bytes = 0;
  uint64_t rows = 1;
  uint64_t dst_pitch = 0;
  uint64_t src_pitch = 0;
  bool is_fill = false;
  uint32_t pattern = 0;  ///< fills only: byte i of the destination gets byte (i mod 4) of it, counted from dst
};

class CopyEngine {
 public:
  /// `engine`: which SDMA engine to ask for, or -1. Errors: as SdmaQueue::create; kNotSupported for a target whose
  /// packets are not known.
  static Result<std::unique_ptr<CopyEngine>> create(Device& device, int engine);

  /// Queues the transfer behind `after` (each must reach 0 first) and, at its end, takes `done` to 0 and wakes its
  /// waiters. The signals must stay referenced until `done` is seen. Threads: takes the engine's lock. Cost: packets
  /// only, unless the ring is full. Errors: sticky.
  Result<void> submit(const Transfer& transfer, std::span<const SignalRef> after, const SignalRef& done);

 private:
  CopyEngine(std::unique_ptr<SdmaQueue> queue, const pm4::PacketCaps& caps) : queue_(std::move(queue)), caps_(caps) {}

  template <class Packet>
  Result<void> emit(const Packet& packet);
  Result<void*> room(uint32_t bytes);
  Result<void> emit_begin(std::span<const SignalRef> after);
  Result<void> emit_copy_row(uint64_t dst, uint64_t src, uint64_t bytes);
  Result<void> emit_fill_row(uint64_t dst, uint32_t pattern, uint64_t bytes);
  Result<void> emit_end(const SignalRef& done);

  Mutex mutex_;
  SignalRef last_;  ///< completion of the last submission: what to sleep on when the ring is full
  std::unique_ptr<SdmaQueue> queue_;
  const pm4::PacketCaps& caps_;
};

}  // namespace barehip::runtime
