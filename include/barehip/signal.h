// Completion signals: 64-byte amd_signal_t blocks (AMD's HSA ABI, amd_hsa_signal.h) that packets decrement,
// pooled, most of them with a kernel event so that a host thread can sleep on them.
#pragma once

#include <atomic>
#include <cstdint>

#include <barehip/error.h>

namespace barehip {

class Device;
class SignalPool;
class System;

enum class WaitCondition : uint8_t { kEqual, kNotEqual, kLess, kGreaterEqual };

inline constexpr uint64_t kForeverNs = UINT64_MAX;

/// How long a wait spins before it sleeps. The default suits a kernel of some microseconds.
inline constexpr uint64_t kDefaultSpinNs = 20'000;

/// Move-only owner of one pooled signal. The block is host memory that every GPU has mapped, at the same
/// address. Value operations are lock free and need no syscall. The GPU decrements with an atomic, so the
/// host must use atomics too.
class Signal {
 public:
  Signal() = default;
  Signal(Signal&& other) noexcept;
  Signal& operator=(Signal&& other) noexcept;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  /// Returns the block to the pool: no packet may still name it.
  ~Signal();

  explicit operator bool() const { return block_ != nullptr; }
  /// What a packet's completion_signal or dep_signal field holds.
  uint64_t handle() const { return reinterpret_cast<uint64_t>(block_); }
  /// GPU address of the 64-bit value (for SDMA fences and polls).
  uint64_t value_address() const { return handle() + 8; }
  /// Event page slot and event id for SDMA (FENCE of id to the slot, then TRAP with the id); 0 when it has no
  /// event.
  uint64_t mailbox() const { return word(0x10); }
  uint32_t event_id() const { return static_cast<uint32_t>(word(0x18)); }

  int64_t load() const { return value().load(std::memory_order_acquire); }
  void store(int64_t v) { value().store(v, std::memory_order_release); }
  int64_t exchange(int64_t v) { return value().exchange(v, std::memory_order_acq_rel); }
  int64_t fetch_sub(int64_t v) { return value().fetch_sub(v, std::memory_order_acq_rel); }

  /// GPU ticks written by the completing packet; only when the queue's profiling bit was set (queue.h).
  uint64_t start_ticks() const { return word(0x20); }
  uint64_t end_ticks() const { return word(0x28); }
  void clear_ticks() {
    reinterpret_cast<std::atomic<uint64_t>*>(block_ + 4)->store(0, std::memory_order_relaxed);
    reinterpret_cast<std::atomic<uint64_t>*>(block_ + 5)->store(0, std::memory_order_relaxed);
  }

  /// Waits until the value meets the condition, and returns the value seen. Spins for `spin_ns`, then sleeps
  /// in the kernel. Ends early with the error of `device` (a fatal error there means that the value will not
  /// come), and with kTimeout after `timeout_ns`. Any number of threads may wait for one signal. Cost: no
  /// syscall while spinning, one or two ioctls to sleep.
  Result<int64_t> wait(WaitCondition condition, int64_t reference, const Device* device,
                       uint64_t timeout_ns = kForeverNs, uint64_t spin_ns = kDefaultSpinNs) const;

  /// Sets the value from the host and wakes who waits. Cost: one ioctl when it has an event.
  void store_and_wake(int64_t v);

 private:
  friend class SignalPool;

  std::atomic<int64_t>& value() const { return *reinterpret_cast<std::atomic<int64_t>*>(block_ + 1); }
  uint64_t word(uint32_t byte_offset) const {
    return reinterpret_cast<const std::atomic<uint64_t>*>(block_ + byte_offset / 8)->load(std::memory_order_relaxed);
  }

  uint64_t* block_ = nullptr;  ///< amd_signal_t
  SignalPool* pool_ = nullptr;
  uint32_t index_ = 0;
};

/// All signals of one System. Grows by pages and never shrinks; thread safe. Blocks are reused last in, first
/// out, so a steady program takes them without a syscall.
class SignalPool {
 public:
  /// A signal with the given value and no timestamps. `interrupt` asks for an event to sleep on; when the
  /// kernel is out of events the signal comes without one and waiting for it naps instead of sleeping.
  /// Errors: kOutOfMemory, kInvalidHandle (forked child). Cost: no syscall when the pool has a free one.
  Result<Signal> acquire(int64_t initial, bool interrupt = true);

  struct Impl;
  explicit SignalPool(System& system);
  ~SignalPool();
  SignalPool(const SignalPool&) = delete;
  SignalPool& operator=(const SignalPool&) = delete;
  Impl& impl() const { return *impl_; }

 private:
  friend class Signal;
  void release(uint64_t* block, uint32_t index);
  Impl* impl_;
};

}  // namespace barehip
