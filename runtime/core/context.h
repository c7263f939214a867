// Everything that belongs to one opened GPU: its queues, streams, copy engines and epochs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <barehip/device.h>
#include <barehip/memory.h>

#include "codeobj/target.h"
#include "runtime/core/device.h"
#include "runtime/core/lock.h"
#include "runtime/core/pointer_map.h"
#include "runtime/core/shared_signal.h"

namespace barehip::runtime {

class CopyEngine;
class Function;
class HwQueue;
class Staging;
class Stream;

enum class CopyDirection : uint8_t { kToDevice, kToHost };

class DeviceContext {
 public:
  DeviceContext(Device& device, int ordinal, SignalCache& signals);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  Device& device() const { return device_; }
  int ordinal() const { return ordinal_; }
  SignalCache& signals() const { return signals_; }
  const DeviceProperties& properties() const { return properties_; }
  /// What code must suit: processor with this process's xnack and the board's sramecc.
  const codeobj::TargetId& target() const { return target_; }

  /// The sticky error of the GPU, or success. Cost: one load.
  Result<void> check() const {
    if (const Error* error = device_.error()) [[unlikely]]
      return std::unexpected(*error);
    return {};
  }

  /// Made on first use, as are the queues and engines below. Errors: as AqlQueue::create.
  Result<Stream*> null_stream();
  Stream* null_stream_if_made() const { return null_.load(std::memory_order_acquire); }
  /// A stream over one of the shared queues of its priority class. Owned by the context.
  Result<Stream*> make_stream(bool non_blocking, int priority);
  /// Keeps the memory for the next make_stream(). Work of a blocking stream that is not done stays in the null stream's
  /// order.
  void retire_stream(Stream& stream);
  /// What the null stream has to wait for: signals of the blocking streams' work in other queues, and the index behind
  /// their last packet in `own`.
  struct BlockingTails {
    std::vector<SignalRef> signals;
    uint64_t own_tail = 0;
  };
  Result<BlockingTails> collect_blocking_tails(const HwQueue& own);

  /// The queue for packets of a stream in `here` that wait for others: one that no stream shares which never waits, as
  /// it would be held up. Counts the stream there. `here` itself when it is alone in it, or the GPU has no queue left.
  HwQueue& queue_for_wait(HwQueue& here, int priority);
  /// By its number. Cost: one load.
  HwQueue& queue(size_t number) const { return *by_number_[number]; }

  Result<CopyEngine*> engine(CopyDirection direction);
  Result<Staging*> staging();

  /// Waits for everything submitted to any queue of this GPU.
  Result<void> synchronize();
  /// Whether everything that was submitted is known to be complete. Submits nothing, waits for nothing.
  bool idle();
  /// Runs the instruction-cache invalidation in `queue` when code was loaded since it last did.
  Result<void> invalidate_code(HwQueue& queue);

  /// The host (or a copy that the host waited for) wrote memory that kernels may read: each stream's next dispatch
  /// acquires from the system.
  void note_host_write() { epoch.fetch_add(1, std::memory_order_acq_rel); }
  /// Code was loaded: each queue invalidates its instruction caches before its next dispatch.
  void note_code_load() {
    code_epoch.fetch_add(1, std::memory_order_acq_rel);
    note_host_write();
  }

  /// By host stub's address: what was launched before, for launches that find it without a lock. Filled and emptied by
  /// the registry of fat binaries.
  PointerMap<const Function> kernels;

  const bool launch_blocking;  ///< HIP_LAUNCH_BLOCKING: each launch waits for its kernel

  std::atomic<uint64_t>& epoch;  ///< Device::epoch()
  std::atomic<uint64_t> code_epoch{1};
  /// kBlockingDirty: a blocking stream has work that the null stream did not wait for. Above it, in units of
  /// kNullJoining, the threads that are just making the null stream wait: until they have, no other may go past it.
  std::atomic<uint32_t> blocking_work{0};
  static constexpr uint32_t kBlockingDirty = 1, kNullJoining = 2;

 private:
  static constexpr int kPriorities = 3;
  static constexpr size_t kMaxQueues = 256;

  using QueueClass = std::vector<std::unique_ptr<HwQueue>>;
  Result<HwQueue*> add_queue(int priority);
  Result<HwQueue*> pick_queue(int priority);
  QueueClass& class_of(int priority) { return queues_[static_cast<size_t>(1 - priority)]; }
  std::vector<HwQueue*> all_queues();
  Result<void> prepare_first_queue();

  Device& device_;
  const int ordinal_;
  SignalCache& signals_;
  DeviceProperties properties_;
  codeobj::TargetId target_;

  Memory trap_handler_;
  Memory invalidate_commands_;  ///< PM4 for invalidate_code()
  uint32_t invalidate_dwords_ = 0;

  Mutex mutex_;
  bool prepared_ = false;
  std::array<QueueClass, kPriorities> queues_;
  std::array<HwQueue*, kMaxQueues> by_number_{};
  std::array<std::atomic<CopyEngine*>, 2> engines_{};
  std::array<std::unique_ptr<CopyEngine>, 2> engine_owners_;
  std::atomic<Staging*> staging_{nullptr};
  std::unique_ptr<Staging> staging_owner_;
  std::atomic<Stream*> null_{nullptr};
  std::vector<std::unique_ptr<Stream>> streams_;  ///< all, also the retired ones
  std::vector<Stream*> blocking_;
  std::vector<Stream*> retired_;
  struct Orphan {
    HwQueue* queue = nullptr;
    uint64_t index = 0;
  };
  std::vector<Orphan> orphans_;  ///< last packets of blocking streams that were destroyed before they were complete
};

}  // namespace barehip::runtime
