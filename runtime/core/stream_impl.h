// A stream inside the runtime. docs/fences.md says what its steps order and make visible.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include <barehip/aql.h>
#include <barehip/error.h>

#include "runtime/core/context.h"
#include "runtime/core/hw_queue.h"
#include "runtime/core/stream.h"

namespace barehip::runtime {

/// A lane of one hardware queue at a time. Everything that a stream does and nobody waits for at once ends in a packet
/// of that queue (a copy by SDMA is followed by a barrier that waits for it), so one packet index is the whole state of
/// its progress. A stream that waits for others leaves a queue that it shares: its first packet in the new one waits
/// for its last in the old one. The memory of a destroyed stream is kept and used again: a stale handle finds no
/// stream, never a wild pointer.
class Stream {
 public:
  enum class Kind : uint8_t { kNull, kBlocking, kNonBlocking };

  /// How far a stream has come.
  struct Tail {
    HwQueue* queue = nullptr;
    uint64_t end = 0;  ///< index after its last packet; 0 when there was none
    friend bool operator==(const Tail&, const Tail&) = default;
  };

  Stream(DeviceContext& context, HwQueue& queue, Kind kind, int priority);
  void reuse(HwQueue& queue, Kind kind, int priority);

  DeviceContext& context() const { return *context_; }
  HwQueue& queue() const { return queue(*context_); }
  /// For who has the stream's context at hand.
  HwQueue& queue(const DeviceContext& context) const {
    return context.queue(tail_.load(std::memory_order_acquire) >> kIndexBits);
  }
  Kind kind() const { return kind_; }
  int priority() const { return priority_; }

  /// Ask before reserving a packet for a dispatch. False: it needs an acquire from the agent only, and nothing before
  /// it; the GPU works, and this is not a child made by fork(). Cost: four loads.
  bool must_enter() const { return must_enter(*context_); }
  /// For who has the stream's context at hand.
  bool must_enter(const DeviceContext& context) const {
    // Relaxed: who launches after a write of the host's has been told of the write, and so sees the epoch.
    return context.epoch.load(std::memory_order_relaxed) != epoch_.load(std::memory_order_acquire) ||
           must_join(context);
  }
  /// What a dispatch needs that had to enter().
  struct Entry {
    HwQueue* queue = nullptr;  ///< the one to use
    uint16_t header = 0;
    uint64_t seen = 0;   ///< epoch_ before
    uint64_t epoch = 0;  ///< and when the dispatch has been published
  };
  /// When must_enter(): makes the stream wait for what legacy order asks for, and the queue invalidate its instruction
  /// caches after code was loaded. Cost: the queue's lock and a few packets.
  Result<Entry> enter();
  /// Call after publishing the dispatch. Not before: another thread's dispatch would rely on an acquire that is to
  /// come. No change where somebody wrote meanwhile.
  void entered(Entry entry) { epoch_.compare_exchange_strong(entry.seen, entry.epoch, std::memory_order_acq_rel); }
  /// Call after publishing packet `index` of `queue` for this stream.
  void advance(HwQueue& queue, uint64_t index) {
    const uint64_t word = word_of(queue, index + 1);
    // Nearly always the stream's last packet was its queue's last too.
    uint64_t seen = word - 1;
    while (!tail_.compare_exchange_weak(seen, word, std::memory_order_seq_cst)) {
      if ((seen ^ word) >> kIndexBits) [[unlikely]]
        return follow(queue, index);
      if (seen >= word) break;
    }
    if (kind_ == Kind::kBlocking) note_blocking_work();
  }

  Tail tail() const {
    const uint64_t word = tail_.load(std::memory_order_acquire);
    return {&context_->queue(word >> kIndexBits), word & kIndexMask};
  }
  /// Everything submitted so far is known to be complete.
  bool idle() const {
    const Tail tail = this->tail();
    return tail.end == 0 || tail.queue->complete(tail.end - 1);
  }
  /// Signals that are all done only when the stream's work so far is; none when it is already. One at most.
  Result<SignalRef> tail_signal() const;
  Result<void> synchronize();
  /// The null stream's wait for all blocking streams, and theirs for it; nothing for non-blocking ones.
  Result<void> join();
  /// Later packets start after `signals`, in a queue where that holds nobody up. `keep` is referenced until then.
  /// What other than this GPU's shaders writes until then: see note_outside_write().
  Result<void> wait_for(std::span<const SignalRef> signals, std::span<const SignalRef> keep = {});
  /// Somebody outside this GPU's shaders wrote what the stream's next kernel may read.
  void note_outside_write() {
    epoch_.store(kNoEpoch + outside_writes_.fetch_add(1, std::memory_order_relaxed), std::memory_order_release);
  }

  /// Held while a copy is handed to an SDMA queue and its barrier to this stream's queue.
  Mutex copy_mutex;
  SignalRef copy_done;  ///< of the last such copy
  Tail copy_barrier;    ///< while that is the tail, the copy's signal is the stream's state
  /// Held while the stream moves to another queue.
  Mutex wait_mutex;

 private:
  static constexpr unsigned kIndexBits = HwQueue::kIndexBits;
  static constexpr uint64_t kIndexMask = (uint64_t{1} << kIndexBits) - 1;
  static uint64_t word_of(const HwQueue& queue, uint64_t end) { return queue.number_above_index + end; }

  bool must_join(const DeviceContext& context) const {
    if (kind_ == Kind::kNull) [[likely]]
      return context.blocking_work.load(std::memory_order_acquire) != 0;
    if (kind_ == Kind::kNonBlocking) return false;
    const Stream* null = context.null_stream_if_made();
    return null != nullptr && null->tail_.load(std::memory_order_acquire) != null_tail_.load(std::memory_order_acquire);
  }
  /// After the tail, sequentially consistent as join_blocking() is: it sees the tail, or this sees that it has begun.
  void note_blocking_work() {
    if (!(context_->blocking_work.load(std::memory_order_seq_cst) & DeviceContext::kBlockingDirty))
      context_->blocking_work.fetch_or(DeviceContext::kBlockingDirty, std::memory_order_seq_cst);
  }
  Result<void> join_blocking();
  Result<void> join_null();
  Result<void> wait_for(const DeviceContext::BlockingTails& tails, HwQueue& own);
  Result<void> move(HwQueue& to, std::span<const SignalRef> signals, std::span<const SignalRef> keep);
  void follow(HwQueue& queue, uint64_t index);

  DeviceContext* context_;
  Kind kind_;
  int priority_;
  std::atomic<uint64_t> tail_;  ///< queue number and the index after the last packet, in one word
  static constexpr uint64_t kNoEpoch = uint64_t{1} << 63;  ///< none from here on; each write outside has its own
  std::atomic<uint64_t> outside_writes_{0};
  std::atomic<uint64_t> epoch_{kNoEpoch};  ///< DeviceContext::epoch that a published dispatch acquires
  std::atomic<uint64_t> null_tail_{0};     ///< the null stream's tail word that a published packet waits for
};

/// The stream of a handle (see stream.h for 0, 1, 2). Cost: a few loads once the null stream is made.
Result<Stream*> find_stream(Handle handle);

}  // namespace barehip::runtime
