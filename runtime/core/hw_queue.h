// One hardware AQL queue with its kernel-argument ring, and what is known of its progress.
//
// All packets carry the barrier bit, so a queue completes in order of its indices, and "packet i is complete" is
// "some packet at or behind i has signalled". What may be reused when:
//   ring slot i and kernarg slot i   when packet i - size() is complete (never when it was merely read)
//   a signal that a packet names     when that packet is complete
// The epoch: the last packet of each quarter of the ring is a marker that counts the queue's epoch signal down. So a
// full ring sleeps for a quarter and the launch path needs no other bookkeeping.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include <barehip/aql.h>
#include <barehip/device.h>
#include <barehip/queue.h>

#include "runtime/core/lock.h"
#include "runtime/core/shared_signal.h"

namespace barehip::runtime {

class HwQueue {
 public:
  static constexpr uint32_t kPackets = 2048;
  static constexpr uint32_t kQuarter = kPackets / 4;
  static constexpr uint32_t kKernargSlotBytes = 512;
  static constexpr unsigned kIndexBits = 56;  ///< of an index: at one packet each nanosecond they last two years
  static constexpr uint32_t kBigKernargBytes = 8192;  ///< also the largest kernel-argument segment that is accepted

  /// Errors: as AqlQueue::create and Memory::allocate. All or nothing.
  static Result<std::unique_ptr<HwQueue>> create(Device& device, SignalCache& signals, QueuePriority priority);
  HwQueue(const HwQueue&) = delete;
  HwQueue& operator=(const HwQueue&) = delete;

  // ---- launch path: no syscall, allocation or lock while the ring has room ---------------------------------------

  /// Takes the next packet when it may be filled at once; the caller must then publish it. False: nothing was taken;
  /// reserve() takes one with all that is due before it.
  bool try_reserve(uint64_t& index) {
    std::atomic<uint64_t>& next = *write_index_;
    index = next.load(std::memory_order_relaxed);
    return index < quick_end_.load(std::memory_order_acquire) &&
           next.compare_exchange_strong(index, index + 1, std::memory_order_relaxed);
  }
  /// Takes a packet: waits while the ring is full, and submits the quarter's marker where that is due. The caller must
  /// publish it. Error: the device's sticky error.
  Result<uint64_t> reserve();
  void* slot(uint64_t index) const { return ring_ + (index & (kPackets - 1)) * aql::kPacketBytes; }
  /// Host address (= GPU address) of the packet's kKernargSlotBytes.
  uint8_t* kernarg(uint64_t index) const { return kernarg_ + (index & (kPackets - 1)) * kKernargSlotBytes; }
  /// kBigKernargBytes for the packet, after ensure_big_kernarg().
  uint8_t* big_kernarg(uint64_t index) const {
    return big_kernarg_.load(std::memory_order_relaxed) + (index & (kPackets - 1)) * kBigKernargBytes;
  }
  /// The first call on a queue allocates them all. Error: kOutOfMemory. Cost afterwards: one load.
  Result<void> ensure_big_kernarg() {
    return big_kernarg_.load(std::memory_order_acquire) ? Result<void>{} : allocate_big_kernarg();
  }
  void publish(uint64_t index, uint32_t first_dword) {
    AqlQueue::publish(slot(index), first_dword);
    AqlQueue::ring(doorbell_, index);
  }

  /// Publishes a taken packet as one that does nothing: what it was taken for cannot be.
  void publish_nothing(uint64_t index);

  // ---- slow path: takes the queue's lock
  // -----------------------------------------------------------------------------

  /// Whether packet `index` is known to be complete. Submits nothing.
  bool complete(uint64_t index);
  /// A signal that is done only when packet `index` is complete; null when it is already. Submits a marker when none
  /// that was submitted lies at or behind `index`. The marker releases to the system and acquires from it.
  Result<SignalRef> marker(uint64_t index);
  struct Marker {
    uint64_t index = 0;
    SignalRef signal;
  };
  /// A fresh marker at the queue's end with timestamps of its own.
  Result<Marker> record();
  /// Packets behind this one start only when all `signals` are done. Keeps references to them, and to `keep`, until
  /// then. Returns the barrier's index.
  Result<uint64_t> wait_for(std::span<const SignalRef> signals, std::span<const SignalRef> keep = {});
  /// Runs a PM4 command buffer (an INDIRECT_BUFFER's target of `dwords` dwords) in the queue's order.
  Result<uint64_t> run_pm4(uint64_t address, uint32_t dwords);
  /// Blocks until packet `index` is complete. Errors: the device's sticky error.
  Result<void> wait(uint64_t index);

  AqlQueue& aql() const { return *aql_; }
  uint64_t descriptor() const { return descriptor_; }  ///< as AqlQueue::descriptor()
  Device& device() const { return aql_->device(); }

  /// Code that this queue's instruction caches may hold: see DeviceContext::code_epoch.
  std::atomic<uint64_t> code_epoch{0};

  // Guarded by the DeviceContext's lock.
  uint64_t number_above_index = 0;  ///< its number in DeviceContext::queue(), shifted by kIndexBits
  uint32_t streams = 0;             ///< live streams that use it
  bool waits = false;               ///< packets that wait for others may be in it: only streams that wait share it

 private:
  friend struct HwQueueProbe;  // of the tests that take cares out

  HwQueue(std::unique_ptr<AqlQueue> aql, Memory kernarg, Signal epoch, SignalCache& signals);

  struct Use {
    uint64_t index = 0;
    bool completes = false;  ///< the packet at index takes the signal to 0
    SignalRef signal;
  };

  Result<void> allocate_big_kernarg();
  Result<void> await_room(uint64_t index);
  void publish_quarter_marker(uint64_t index);
  void raise_quick_end(uint64_t index);
  void refresh_floor();
  void raise_floor(uint64_t floor);
  void drain_uses();
  Result<Marker> submit_marker();
  Result<uint64_t> submit_barrier(std::span<const SignalRef> signals);

  // Destruction runs upwards: the queue goes before the memory and signals that its packets name.
  SignalCache& signals_;
  Signal epoch_;  ///< starts at 0, -1 for each quarter that completed
  Memory kernarg_memory_;
  Memory big_kernarg_memory_;
  uint8_t* kernarg_ = nullptr;
  uint8_t* ring_ = nullptr;
  std::atomic<uint64_t>* write_index_ = nullptr;  ///< write_dispatch_id
  volatile uint64_t* doorbell_ = nullptr;
  uint64_t descriptor_ = 0;
  std::atomic<uint8_t*> big_kernarg_{nullptr};
  std::atomic<uint64_t> floor_{0};  ///< every packet below is complete
  /// Packets below may be filled as soon as they are taken: the ring has room for them, and the next quarter's marker
  /// is not among them.
  std::atomic<uint64_t> quick_end_{kQuarter - 1};
  Mutex mutex_;
  Marker last_marker_;
  std::deque<Use> uses_;  ///< by index
  std::unique_ptr<AqlQueue> aql_;
};

}  // namespace barehip::runtime
