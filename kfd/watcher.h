// The one thread that kfd/ starts, and the list of threads that wait for signals.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <barehip/error.h>
#include <barehip/event.h>

namespace barehip {
class Device;
class System;
}  // namespace barehip

namespace barehip::kfd {

struct AqlQueueImpl;
class Client;

/// Events of the threads that sleep for a signal, so that a fatal device error can wake them all. Thread
/// safe.
class Waiters {
 public:
  void add(uint32_t event_id);
  void remove(uint32_t event_id);
  /// Sets every listed event. Publish what they shall see before.
  void wake_all(const Client& client);

 private:
  std::mutex mutex_;
  std::vector<uint32_t> event_ids_;
};

/// Sleeps in WAIT_EVENTS until a queue needs its host (scratch, error), a memory fault, or a hardware
/// exception comes. Takes no signals of the process. Does nothing while the GPU works without trouble.
class Watcher {
 public:
  /// Creates the events and the thread. All or nothing.
  static Result<std::unique_ptr<Watcher>> start(System& system);
  /// Ends the thread. All queues are removed before.
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  /// The event that queue_inactive_signal and the error payload of every queue name.
  const Event& queue_event() const { return queue_event_; }

  void add(AqlQueueImpl* queue);
  /// When it returns, the thread does not touch the queue any more.
  void remove(AqlQueueImpl* queue);

 private:
  explicit Watcher(System& system) : system_(system) {}
  static void* entry(void* self);
  void run();
  void report_memory_fault(const MemoryFault& fault);
  void report_hw_exception(const HwException& exception);
  void report_to_all(const Error& error);
  Device* find_device(uint32_t gpu_id) const;

  System& system_;
  Event queue_event_;
  Event memory_event_;
  Event exception_event_;
  std::mutex mutex_;
  std::vector<AqlQueueImpl*> queues_;
  std::atomic<bool> stop_{false};
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace barehip::kfd
