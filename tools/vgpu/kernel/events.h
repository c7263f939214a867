// Events of one process: ids, the event page, waiting. Rules: facts of amdkfd's event handling in docs/vgpu.md.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "tools/vgpu/kernel/uapi.h"

namespace vgpu {

/// Thread safe; takes no other lock. Every function returns 0 or a negative errno.
class EventTable {
 public:
  EventTable();
  ~EventTable();

  /// Since 1.14 an event's age decides about waiting; before, it is neither read nor written.
  void set_ages(bool used) { ages_ = used; }
  bool has_page() const;
  /// The event page: `slots` is the model's own view of `bytes` bytes and outlives the table. `usable` slots are handed
  /// out. -EINVAL when there is a page already, or the buffer is too small.
  int set_page(uint64_t* slots, uint64_t bytes, uint32_t usable);
  /// The client mapped that many slots of the page that the driver made.
  void set_usable_slots(uint32_t usable);
  int create(uint32_t type, bool auto_reset, uapi::CreateEvent& out);
  int destroy(uint32_t event_id);
  int set(uint32_t event_id);
  int reset(uint32_t event_id);

  /// WAIT_EVENTS. Blocks; -EINTR when a signal came (timeout_ms then holds what is left), -EIO when an event was
  /// destroyed meanwhile. `data` is the caller's array, already copied in.
  int wait(std::span<uapi::EventData> data, bool all, uint32_t& timeout_ms, uint32_t& result);

  // Called by the GPU thread.
  /// An interrupt that carries the low `bits` bits of a signal event's id, or nothing useful.
  void on_signal_interrupt(uint32_t partial_id, uint32_t bits);
  void on_memory_exception(const uapi::MemoryException& exception);
  void on_hw_exception(const uapi::HwException& exception);
  /// The event of a queue's exceptions, by id; unknown ids are ignored.
  void on_queue_exception(uint32_t event_id);
  /// Wakes everyone who waits, for no reason (spurious wake-up of hostile mode).
  void wake_spuriously();

 private:
  struct Event;
  struct Waiter;

  std::shared_ptr<Event> find(uint32_t event_id);
  void signal_locked(Event& event);
  bool take_slot_locked(uint32_t id);

  mutable std::mutex mutex_;
  std::map<uint32_t, std::shared_ptr<Event>> events_;
  uint64_t* slots_ = nullptr;
  uint32_t slot_count_ = 0;
  bool ages_ = true;
};

}  // namespace vgpu
