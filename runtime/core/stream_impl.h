// A stream inside the runtime. docs/fences.md says what its steps order and make visible.
#pragma once

#include <atomic>
#include <cstdint>

#include <barehip/aql.h>
#include <barehip/error.h>

#include "runtime/core/context.h"
#include "runtime/core/hw_queue.h"
#include "runtime/core/stream.h"

namespace barehip::runtime {

/// A lane of one hardware queue. Everything that a stream does ends in a packet of that queue (a copy by SDMA is
/// followed by a barrier that waits for it), so one packet index is the whole state of its progress. The memory of a
/// destroyed stream is kept and used again: a stale handle finds no stream, never a wild pointer.
class Stream {
 public:
  enum class Kind : uint8_t { kNull, kBlocking, kNonBlocking };

  Stream(DeviceContext& context, HwQueue& queue, Kind kind, int priority)
      : context_(&context), queue_(&queue), kind_(kind), priority_(priority) {}
  void reuse(HwQueue& queue, Kind kind, int priority);

  DeviceContext& context() const { return *context_; }
  HwQueue& queue() const { return *queue_; }
  Kind kind() const { return kind_; }
  int priority() const { return priority_; }

  /// Ask before reserving a packet for a dispatch. False: it needs an acquire from the agent only, and nothing before
  /// it. Cost: four loads.
  bool must_enter() const {
    return context_->epoch.load(std::memory_order_acquire) != epoch_.load(std::memory_order_relaxed) || must_join();
  }
  /// When must_enter(): makes the stream wait for what legacy order asks for, and the queue invalidate its instruction
  /// caches after code was loaded. Returns the header that the dispatch needs. Cost: the queue's lock and a few
  /// packets.
  Result<uint16_t> enter();
  /// Call after publishing packet `index` of the queue for this stream.
  void advance(uint64_t index) {
    uint64_t seen = tail_.load(std::memory_order_relaxed);
    while (seen <= index && !tail_.compare_exchange_weak(seen, index + 1, std::memory_order_acq_rel)) {
    }
    if (kind_ == Kind::kBlocking && !context_->blocking_dirty.load(std::memory_order_relaxed))
      context_->blocking_dirty.store(true, std::memory_order_release);
  }

  /// Index after the stream's last packet; 0 when there was none.
  uint64_t tail() const { return tail_.load(std::memory_order_acquire); }
  /// Everything submitted so far is known to be complete.
  bool idle() {
    const uint64_t tail = this->tail();
    return tail == 0 || queue_->complete(tail - 1);
  }
  /// Signals that are all done only when the stream's work so far is; none when it is already. One at most.
  Result<SignalRef> tail_signal();
  Result<void> synchronize();
  /// The null stream's wait for all blocking streams, and theirs for it; nothing for non-blocking ones.
  Result<void> join();
  /// Later packets start after `signal`. `same_device`: what it covers was written by this GPU's shaders.
  Result<void> wait_for(const SignalRef& signal, bool same_device);
  /// Somebody outside this GPU's shaders wrote what the stream's next kernel may read.
  void note_outside_write() { epoch_.store(0, std::memory_order_release); }

  /// Held while a copy is handed to an SDMA queue and its barrier to this stream's queue.
  Mutex copy_mutex;
  SignalRef copy_done;  ///< of the last such copy
  uint64_t copy_barrier =
      0;  ///< index of its barrier plus 1: while that is the tail, the copy's signal is the stream's state

 private:
  bool must_join() const {
    if (kind_ == Kind::kNonBlocking) return false;
    if (kind_ == Kind::kNull) return context_->blocking_dirty.load(std::memory_order_relaxed);
    const Stream* null = context_->null_stream_if_made();
    return null != nullptr && null->tail() != null_tail_.load(std::memory_order_relaxed);
  }

  DeviceContext* context_;
  HwQueue* queue_;
  Kind kind_;
  int priority_;
  std::atomic<uint64_t> tail_{0};
  std::atomic<uint64_t> epoch_{0};      ///< DeviceContext::epoch that the last dispatch acquired; 0 is never one
  std::atomic<uint64_t> null_tail_{0};  ///< the null stream's tail that this stream has waited for
};

/// The stream of a handle (see stream.h for 0, 1, 2). Cost: a few loads once the null stream is made.
Result<Stream*> find_stream(Handle handle);

}  // namespace barehip::runtime
