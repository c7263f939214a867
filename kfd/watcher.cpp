#include "kfd/watcher.h"

#include <signal.h>

#include <algorithm>
#include <array>

#include "kfd/aql_queue.h"
#include "kfd/fault_text.h"
#include "kfd/impl.h"

namespace barehip::kfd {

void Waiters::add(uint32_t event_id) {
  const std::lock_guard lock(mutex_);
  event_ids_.push_back(event_id);
}

void Waiters::remove(uint32_t event_id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(event_ids_.begin(), event_ids_.end(), event_id);
  if (found == event_ids_.end()) return;
  *found = event_ids_.back();
  event_ids_.pop_back();
}

void Waiters::wake_all(const Client& client) {
  const std::lock_guard lock(mutex_);
  for (const uint32_t id : event_ids_) {
    uapi::set_event_args args{};
    args.event_id = id;
    client.set_event(args);
  }
}

Result<std::unique_ptr<Watcher>> Watcher::start(System& system) {
  std::unique_ptr<Watcher> watcher(new Watcher(system));
  struct Wanted {
    Event Watcher::* member;
    EventKind kind;
  };
  for (const Wanted& wanted :
       {Wanted{&Watcher::queue_event_, EventKind::kSignal}, Wanted{&Watcher::memory_event_, EventKind::kMemory},
        Wanted{&Watcher::exception_event_, EventKind::kHwException}}) {
    Result<Event> event = Event::create(system, wanted.kind, true);
    if (!event) return std::unexpected(std::move(event.error()));
    (*watcher).*wanted.member = std::move(*event);
  }
  // The thread inherits the mask: the program's signal handlers never run on it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int rc = pthread_create(&watcher->thread_, nullptr, entry, watcher.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (rc != 0)
    return fail(ErrorCode::kOutOfResources, "start watcher thread", "A thread cannot be started: " + errno_text(rc),
                rc);
  watcher->started_ = true;
  pthread_setname_np(watcher->thread_, "barehip-watch");
  return watcher;
}

Watcher::~Watcher() {
  if (!started_) return;
  stop_.store(true, std::memory_order_release);
  (void)queue_event_.set();
  pthread_join(thread_, nullptr);
}

void Watcher::add(AqlQueueImpl* queue) {
  const std::lock_guard lock(mutex_);
  queues_.push_back(queue);
}

void Watcher::remove(AqlQueueImpl* queue) {
  const std::lock_guard lock(mutex_);
  std::erase(queues_, queue);
}

void* Watcher::entry(void* self) {
  static_cast<Watcher*>(self)->run();
  return nullptr;
}

// All three events reset themselves: one that is set while the thread is at work ends the next wait at once.
void Watcher::run() {
  std::array<EventWait, 3> waits{EventWait{&queue_event_}, EventWait{&memory_event_}, EventWait{&exception_event_}};
  waits[0].use_age = false;
  waits[1].kind = EventKind::kMemory;
  waits[2].kind = EventKind::kHwException;
  while (!stop_.load(std::memory_order_acquire)) {
    waits[1].fired = waits[2].fired = false;
    const Result<WaitOutcome> outcome = wait_events(system_, waits, false, kWaitForever);
    if (stop_.load(std::memory_order_acquire)) return;
    if (!outcome) {
      report_to_all(outcome.error());
      return;
    }
    if (waits[1].fired) report_memory_fault(waits[1].fault);
    if (waits[2].fired) report_hw_exception(waits[2].exception);
    const std::lock_guard lock(mutex_);
    for (AqlQueueImpl* queue : queues_) queue->service();
  }
}

Device* Watcher::find_device(uint32_t gpu_id) const {
  for (const std::unique_ptr<Device>& device : system_.devices())
    if (device->properties().gpu_id == gpu_id) return device.get();
  return nullptr;
}

void Watcher::report_memory_fault(const MemoryFault& fault) {
  Device* device = find_device(fault.gpu_id);
  if (device == nullptr) return;
  if (const char* text = device->impl().name_of_page(fault.page_address))
    return device->impl().set_error(*device, Error{ErrorCode::kNotSupported, 0, kMissingFeature, text});
  device->impl().set_error(*device, memory_fault_error(device->properties(), fault));
}

void Watcher::report_hw_exception(const HwException& exception) {
  if (exception.gpu_id == 0) return report_to_all(unnamed_exception_error());
  Device* device = find_device(exception.gpu_id);
  if (device != nullptr) device->impl().set_error(*device, hw_exception_error(device->properties(), exception));
}

void Watcher::report_to_all(const Error& error) {
  for (const std::unique_ptr<Device>& device : system_.devices()) device->impl().set_error(*device, error);
}

}  // namespace barehip::kfd
