#include "tools/vgpu/kernel/events.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace vgpu {

namespace {

constexpr uint64_t kUnsignaled = ~uint64_t{0};

bool has_slot(uint32_t type) { return type == uapi::kEventSignal || type == uapi::kEventDebug; }

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// The slots lie in memory that GPU and client write.
uint64_t load_slot(const uint64_t* slot) {
  return std::atomic_ref<uint64_t>(*const_cast<uint64_t*>(slot)).load(std::memory_order_acquire);
}
void clear_slot(uint64_t* slot) { std::atomic_ref<uint64_t>(*slot).store(kUnsignaled, std::memory_order_release); }

}  // namespace

struct EventTable::Event {
  uint32_t id = 0, type = 0;
  bool auto_reset = false, signaled = false;
  uint64_t age = 1;
  uapi::MemoryException memory{};
  uapi::HwException hardware{};
  std::list<Waiter*> waiters;  // one entry for each place of a wait that names this event and is not activated yet
};

// One WAIT_EVENTS call.
struct EventTable::Waiter {
  struct Place {
    std::shared_ptr<Event> event;
    bool activated = false;
    bool destroyed = false;
  };
  std::vector<Place> places;
  std::atomic<uint32_t> word{0};

  void wake() {
    word.fetch_add(1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

  // 0 complete, 1 not yet, 2 failed: the numbers of the uapi.
  uint32_t state(bool all) const {
    uint32_t activated = 0;
    for (const Place& place : places) {
      if (place.destroyed) return uapi::kWaitFail;
      if (place.activated) ++activated;
    }
    const bool done = all ? activated == places.size() : activated != 0 || places.empty();
    return done ? uapi::kWaitComplete : uapi::kWaitTimeout;
  }
};

EventTable::EventTable() = default;
EventTable::~EventTable() = default;

bool EventTable::has_page() const {
  std::lock_guard lock(mutex_);
  return slots_ != nullptr;
}

void EventTable::set_usable_slots(uint32_t usable) {
  std::lock_guard lock(mutex_);
  slot_count_ = std::min(usable, uapi::kSignalEventLimit);
}

int EventTable::set_page(uint64_t* slots, uint64_t bytes, uint32_t usable) {
  std::lock_guard lock(mutex_);
  if (slots_ != nullptr) return -EINVAL;
  if (bytes < uapi::kEventPageBytes) return -EINVAL;
  std::fill_n(slots, uapi::kSignalEventLimit, kUnsignaled);
  slots_ = slots;
  slot_count_ = usable;
  return 0;
}

int EventTable::create(uint32_t type, bool auto_reset, uapi::CreateEvent& out) {
  std::lock_guard lock(mutex_);
  uint32_t id = has_slot(type) ? 1 : uapi::kFirstNonSignalEvent;
  while (events_.contains(id)) ++id;
  if (has_slot(type)) {
    if (id >= slot_count_) return -ENOSPC;
    clear_slot(&slots_[id]);
    out.event_page_offset = uapi::kMmapTypeEvents << uapi::kMmapTypeShift;
    out.event_slot_index = id;
  } else {
    if (id > uapi::kLastNonSignalEvent) return -ENOSPC;
    out.event_page_offset = 0;
  }
  auto event = std::make_shared<Event>();
  event->id = id;
  event->type = type;
  event->auto_reset = auto_reset;
  events_[id] = std::move(event);
  out.event_id = out.event_trigger_data = id;
  return 0;
}

std::shared_ptr<EventTable::Event> EventTable::find(uint32_t event_id) {
  const auto found = events_.find(event_id);
  return found == events_.end() ? nullptr : found->second;
}

int EventTable::destroy(uint32_t event_id) {
  std::lock_guard lock(mutex_);
  const auto event = find(event_id);
  if (event == nullptr) return -EINVAL;
  for (Waiter* waiter : event->waiters) {
    for (Waiter::Place& place : waiter->places) {
      if (place.event == event) place.destroyed = true;
    }
    waiter->wake();
  }
  events_.erase(event_id);
  return 0;
}

// An auto-reset event that somebody waits for wakes all of them and stays unsignaled.
void EventTable::signal_locked(Event& event) {
  event.signaled = !event.auto_reset || event.waiters.empty();
  ++event.age;
  for (Waiter* waiter : event.waiters) {
    for (Waiter::Place& place : waiter->places) {
      if (place.event.get() == &event) place.activated = true;
    }
    waiter->wake();
  }
  event.waiters.clear();
}

int EventTable::set(uint32_t event_id) {
  std::lock_guard lock(mutex_);
  const auto event = find(event_id);
  if (event == nullptr || event->type != uapi::kEventSignal) return -EINVAL;
  signal_locked(*event);
  return 0;
}

int EventTable::reset(uint32_t event_id) {
  std::lock_guard lock(mutex_);
  const auto event = find(event_id);
  if (event == nullptr || event->type != uapi::kEventSignal) return -EINVAL;
  event->signaled = false;
  return 0;
}

int EventTable::wait(std::span<uapi::EventData> data, bool all, uint32_t& timeout_ms, uint32_t& result) {
  Waiter self;
  self.places.resize(data.size());
  const bool infinite = timeout_ms == uapi::kTimeoutInfinite;
  // One tick more than asked, as the driver waits one jiffy more.
  const uint64_t deadline = now_ns() + (static_cast<uint64_t>(timeout_ms) + 1) * 1'000'000;

  std::unique_lock lock(mutex_);
  for (const uapi::EventData& each : data) {
    if (find(each.event_id) == nullptr) return -EINVAL;
  }
  for (size_t i = 0; i < data.size(); ++i) {
    Waiter::Place& place = self.places[i];
    place.event = find(data[i].event_id);
    place.activated = place.event->signaled;
    if (place.event->auto_reset) place.event->signaled = false;
    if (ages_ && place.event->type == uapi::kEventSignal && data[i].last_event_age != 0 &&
        data[i].last_event_age != place.event->age) {
      place.activated = true;
    }
    if (!place.activated) place.event->waiters.push_back(&self);
  }

  int error = 0;
  while (self.state(all) == uapi::kWaitTimeout && timeout_ms != uapi::kTimeoutImmediate) {
    const uint32_t seen = self.word.load();
    const uint64_t now = now_ns();
    if (!infinite && now >= deadline) break;
    const uint64_t left = deadline - now;
    const timespec relative{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    lock.unlock();
    const long slept =
        syscall(SYS_futex, &self.word, FUTEX_WAIT_PRIVATE, seen, infinite ? nullptr : &relative, nullptr, 0);
    const bool interrupted = slept != 0 && errno == EINTR;
    lock.lock();
    if (interrupted && self.state(all) == uapi::kWaitTimeout) {
      error = -EINTR;
      const uint64_t after = now_ns();
      if (!infinite) timeout_ms = after >= deadline ? 0 : static_cast<uint32_t>((deadline - after) / 1'000'000);
      break;
    }
  }

  result = self.state(all);
  for (size_t i = 0; i < data.size(); ++i) {
    Waiter::Place& place = self.places[i];
    std::erase(place.event->waiters, &self);
    if (place.destroyed) continue;
    // A restarted call must find again what this one consumed.
    if (error == -EINTR && place.activated && place.event->auto_reset) signal_locked(*place.event);
    if (result != uapi::kWaitComplete || !place.activated) continue;
    if (place.event->type == uapi::kEventMemory) data[i].memory = place.event->memory;
    if (place.event->type == uapi::kEventHwException) data[i].hardware = place.event->hardware;
    if (ages_ && place.event->type == uapi::kEventSignal && data[i].last_event_age != 0) {
      data[i].last_event_age = place.event->age;
    }
  }
  if (error == 0 && result == uapi::kWaitFail) error = -EIO;
  return error;
}

// Sets the event of a slot that somebody wrote to. False when the slot is unsignaled or nobody's.
bool EventTable::take_slot_locked(uint32_t id) {
  if (load_slot(&slots_[id]) == kUnsignaled) return false;
  const auto event = find(id);
  if (event == nullptr) return false;
  clear_slot(&slots_[id]);
  signal_locked(*event);
  return true;
}

void EventTable::on_signal_interrupt(uint32_t partial_id, uint32_t bits) {
  std::lock_guard lock(mutex_);
  if (slots_ == nullptr) return;
  const uint64_t step = uint64_t{1} << std::min(bits, 32u);
  for (uint64_t id = partial_id; id < uapi::kSignalEventLimit; id += step) {
    if (take_slot_locked(static_cast<uint32_t>(id))) return;
  }
  // The id names no signaled slot, so it may be cut short in a way we do not know: look at all of them.
  for (uint32_t id = 1; id < slot_count_; ++id) take_slot_locked(id);
}

void EventTable::on_memory_exception(const uapi::MemoryException& exception) {
  std::lock_guard lock(mutex_);
  for (auto& [id, event] : events_) {
    if (event->type != uapi::kEventMemory) continue;
    event->memory = exception;
    signal_locked(*event);
  }
}

void EventTable::on_hw_exception(const uapi::HwException& exception) {
  std::lock_guard lock(mutex_);
  for (auto& [id, event] : events_) {
    if (event->type != uapi::kEventHwException) continue;
    event->hardware = exception;
    signal_locked(*event);
  }
}

void EventTable::on_queue_exception(uint32_t event_id) {
  std::lock_guard lock(mutex_);
  if (const auto event = find(event_id)) signal_locked(*event);
}

void EventTable::wake_spuriously() {
  std::lock_guard lock(mutex_);
  for (auto& [id, event] : events_) {
    if (event->type == uapi::kEventSignal && !event->waiters.empty()) signal_locked(*event);
  }
}

}  // namespace vgpu
