// User-mode queues. AqlQueue carries AQL packets to the compute command processor, SdmaQueue copy-engine
// packets.
//
// Memory ordering of the AQL ring, once for all (HSA platform system architecture 1.2, 2.8.3 and 2.9):
//   reserve   atomic add on write_dispatch_id (the command processor reads it when it maps the queue again)
//   wait      until index - read_index() < size(): the slot was consumed. This says nothing about completion
//   of the
//             packet that was there: its kernel arguments are free only when its completion was seen.
//   fill      bytes 4..63 of the slot, plain stores
//   publish   one 32-bit release store of header and setup: from here the packet may be read
//   doorbell  store fence, then one 8-byte store of the last published index
// Many threads may publish to one queue; each rings for its own packets.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <barehip/error.h>
#include <barehip/memory.h>

namespace barehip {

class Device;
class Signal;
namespace kfd {
struct AqlQueueImpl;
struct SdmaQueueImpl;
}  // namespace kfd

enum class QueuePriority : uint32_t { kLow = 0, kNormal = 7, kHigh = 11, kMaximum = 15 };

struct AqlQueueOptions {
  uint32_t packets = 4096;  ///< power of two, 64 to 131072
  QueuePriority priority = QueuePriority::kNormal;
  bool profiling = false;  ///< completion signals get timestamps; may be switched later
  /// Private memory per work-item to have before the first packet, in bytes; 0 for none. Kernels that need
  /// more make the queue stop for the handshake (served by the watcher thread).
  uint32_t scratch_bytes_per_lane = 0;
};

class AqlQueue {
 public:
  /// Errors: kInvalidArgument, kOutOfMemory, kOutOfResources (queues or doorbells used up), kDeviceLost,
  /// kSystem. Starts the watcher thread of the System when it does not run yet. Cost: some 20 syscalls.
  static Result<std::unique_ptr<AqlQueue>> create(Device& device, const AqlQueueOptions& options);
  AqlQueue(const AqlQueue&) = delete;
  AqlQueue& operator=(const AqlQueue&) = delete;
  /// Destroys the kernel's queue (which waits until it is preempted), then frees the memory. No thread may
  /// use it.
  ~AqlQueue();

  // ---- the launch path: no syscall, no allocation, no lock
  // -----------------------------------------------------------

  /// Index of the first of `count` packets that now belong to the caller. They must all be published.
  uint64_t reserve(uint32_t count = 1) { return write_index_->fetch_add(count, std::memory_order_relaxed); }
  /// What reserve() adds to and what ring() stores to, for owners that keep them at hand and take packets by rules of
  /// their own: atomically, in order, each published.
  std::atomic<uint64_t>& write_dispatch_id() { return *write_index_; }
  volatile uint64_t& doorbell() { return *doorbell_; }
  /// Index of the next packet that anybody will reserve.
  uint64_t write_index() const { return write_index_->load(std::memory_order_relaxed); }
  /// Every packet below this index has been consumed (started, not necessarily finished).
  uint64_t read_index() const { return read_index_->load(std::memory_order_acquire); }
  /// The slot of packet `index` may be written.
  bool has_room(uint64_t index) const { return index - read_index() < size_; }
  uint32_t size() const { return size_; }  ///< packets
  /// The 64-byte slot of packet `index`.
  void* slot(uint64_t index) const { return ring_ + (index & (size_ - 1)) * 64; }

  /// The single store that makes a filled packet valid. `header_and_setup`: header in bits 15:0, setup (or
  /// the second half-word of other packets) in 31:16.
  static void publish(void* slot, uint32_t header_and_setup) {
    reinterpret_cast<std::atomic<uint32_t>*>(slot)->store(header_and_setup, std::memory_order_release);
  }

  /// Tells the command processor that all packets up to and including `last_index` are published.
  void ring(uint64_t last_index) { ring(doorbell_, last_index); }
  static void ring(volatile uint64_t* doorbell, uint64_t last_index) {
    __builtin_ia32_sfence();
    *doorbell = last_index;
  }

  // ---- state
  // -----------------------------------------------------------------------------------------------------

  Device& device() const;
  uint32_t queue_id() const;    ///< the kernel's
  uint64_t descriptor() const;  ///< address of the amd_queue_t (hidden_queue_ptr; layout in aql.h)
  /// The queue's fatal error, or null. Also a sticky error of the Device. Cost: one load.
  const Error* error() const { return error_.load(std::memory_order_acquire); }
  /// Whether completion signals get timestamps, from the next packet that the command processor reads on.
  void set_profiling(bool on);
  /// Bytes of private memory per work-item (wave64) that the queue has now.
  uint32_t scratch_bytes_per_lane() const;
  /// Restricts the queue to the compute units whose bit is set (`words` 32-bit words, bit order of
  /// SET_CU_MASK).
  Result<void> set_cu_mask(const uint32_t* mask, uint32_t words);
  /// Takes global wave sync for cooperative kernels. Error: kNotSupported (none on this GPU), kOutOfResources
  /// (in use).
  Result<void> enable_gws();

  kfd::AqlQueueImpl& impl() const { return *impl_; }

 private:
  friend struct kfd::AqlQueueImpl;
  AqlQueue();

  uint8_t* ring_ = nullptr;
  uint32_t size_ = 0;
  std::atomic<uint64_t>* write_index_ = nullptr;
  const std::atomic<uint64_t>* read_index_ = nullptr;
  volatile uint64_t* doorbell_ = nullptr;
  std::atomic<const Error*> error_{nullptr};
  std::unique_ptr<kfd::AqlQueueImpl> impl_;
};

struct SdmaQueueOptions {
  uint32_t ring_bytes = 1u << 20;  ///< power of two, at least 4096
  /// Engine to run on, or -1 for the driver's choice. A wish: it needs KFD 1.17 and gfx90a or later, and a queue that
  /// is free on that engine.
  int engine = -1;
  QueuePriority priority = QueuePriority::kMaximum;
};

/// A copy-engine queue. Indices count bytes and never wrap. One thread at a time (the owner locks).
class SdmaQueue {
 public:
  /// Errors as AqlQueue::create.
  static Result<std::unique_ptr<SdmaQueue>> create(Device& device, const SdmaQueueOptions& options);
  SdmaQueue(const SdmaQueue&) = delete;
  SdmaQueue& operator=(const SdmaQueue&) = delete;
  ~SdmaQueue();

  /// `bytes` (a multiple of 4) contiguous bytes to write packets to, or null while there is no room. When
  /// they do not fit before the ring's end, the end is filled with NOPs first. Calls add up until publish().
  void* try_reserve(uint32_t bytes);
  /// Hands everything reserved to the engine: write pointer, fence, doorbell.
  void publish();
  uint64_t reserved_bytes() const { return reserved_; }
  uint64_t written_bytes() const { return published_; }
  uint64_t consumed_bytes() const { return read_pointer_->load(std::memory_order_acquire); }
  uint32_t ring_bytes() const { return ring_bytes_; }

  Device& device() const;
  uint32_t queue_id() const;
  const Error* error() const;  ///< the Device's

 private:
  friend struct kfd::SdmaQueueImpl;
  SdmaQueue();

  uint8_t* ring_ = nullptr;
  uint32_t ring_bytes_ = 0;
  uint64_t reserved_ = 0;   ///< byte index after the last reserved byte
  uint64_t published_ = 0;  ///< byte index after the last published byte
  std::atomic<uint64_t>* write_pointer_ = nullptr;
  const std::atomic<uint64_t>* read_pointer_ = nullptr;
  volatile uint64_t* doorbell_ = nullptr;
  std::unique_ptr<kfd::SdmaQueueImpl> impl_;
};

}  // namespace barehip
