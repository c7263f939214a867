// KFD events: what a host thread sleeps on. Signals (signal.h) are built on the SIGNAL kind.
#pragma once

#include <cstdint>
#include <span>

#include <barehip/error.h>

namespace barehip {

class System;

enum class EventKind : uint32_t {  // KFD_IOC_EVENT_*
  kSignal = 0,
  kHwException = 3,
  kMemory = 8,
};

/// Move-only owner of one kernel event. A SIGNAL event has a slot in the event page: whoever writes its id
/// there and raises an interrupt (packets do it for signals) sets it.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  /// Errors: kOutOfResources (the 4096 slots are used up), kInvalidHandle (forked child). Cost: one ioctl.
  static Result<Event> create(System& system, EventKind kind, bool auto_reset);

  explicit operator bool() const { return id_ != 0; }
  uint32_t id() const { return id_; }
  /// GPU (and host) address of the slot in the event page; 0 for kinds other than kSignal.
  uint64_t mailbox() const { return mailbox_; }

  /// Sets the event from the host and wakes its waiters. Cost: one ioctl.
  Result<void> set() const;

 private:
  System* system_ = nullptr;
  uint32_t id_ = 0;
  uint64_t mailbox_ = 0;
};

/// What a wait on a kMemory event tells.
struct MemoryFault {
  uint32_t gpu_id = 0;
  uint64_t page_address = 0;  ///< start of the 4096-byte page
  bool not_present = false;
  bool write = false;  ///< the access was a write to a read-only page
  bool no_execute = false;
  bool imprecise = false;
  uint32_t error_type = 0;  ///< 0 page fault, 1 ECC in SRAM, 2 poisoned memory consumed
};

/// What a wait on a kHwException event tells.
struct HwException {
  uint32_t gpu_id = 0;
  uint32_t reset_type = 0;   ///< 0 whole GPU
  uint32_t reset_cause = 0;  ///< 0 hang, 1 ECC
  bool memory_lost = false;
};

/// One event of a wait. `age` makes a wait free of lost wake-ups on KFD 1.14 and later: start with 1, keep
/// the value between waits, and test the condition between reading an age and waiting with it. Older kernels
/// ignore it.
struct EventWait {
  const Event* event = nullptr;
  uint64_t age = 1;
  EventKind kind = EventKind::kSignal;
  bool use_age = true;
  bool fired = false;       ///< kMemory and kHwException: this event ended the wait, and its data is filled
  MemoryFault fault{};      ///< of kMemory
  HwException exception{};  ///< of kHwException; gpu_id is 0 where the driver does not tell the GPU (before KFD 1.13)
};

enum class WaitOutcome : uint8_t { kComplete, kTimeout };

inline constexpr uint32_t kWaitForever = 0xffffffffu;

/// Sleeps until one (or all) of the events is set. Wake-ups without cause happen: test your condition in a
/// loop. Restarts after signals with the time that is left. Errors: kInvalidHandle (an event was destroyed,
/// or forked child). Cost: one ioctl; allocates when more than 8 events are waited for.
Result<WaitOutcome> wait_events(System& system, std::span<EventWait> waits, bool all, uint32_t timeout_ms);

}  // namespace barehip
