// Completion signals with a reference count: an event, a stream and packets in several queues may name the same one,
// and its block goes back to the pool only when the last of them is done with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include <barehip/error.h>
#include <barehip/signal.h>

#include "runtime/core/lock.h"

namespace barehip::runtime {

class SignalCache;

/// A signal that starts at 1 and is taken to 0 once.
struct SharedSignal {
  Signal signal;
  std::atomic<uint32_t> references{0};
  SignalCache* cache = nullptr;
  SharedSignal* next_free = nullptr;
};

/// Counted reference. Copying is an atomic add; no lock unless the last reference goes.
class SignalRef {
 public:
  SignalRef() = default;
  explicit SignalRef(SharedSignal* shared) : shared_(shared) { retain(); }
  SignalRef(const SignalRef& other) : shared_(other.shared_) { retain(); }
  SignalRef(SignalRef&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  SignalRef& operator=(SignalRef other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~SignalRef();

  explicit operator bool() const { return shared_ != nullptr; }
  Signal* operator->() const { return &shared_->signal; }
  Signal& operator*() const { return shared_->signal; }
  bool done() const { return shared_->signal.load() <= 0; }

 private:
  void retain() {
    if (shared_) shared_->references.fetch_add(1, std::memory_order_relaxed);
  }
  SharedSignal* shared_ = nullptr;
};

/// Free SharedSignals. Lives until exit. Cost of take(): one lock; a kernel event is made only when none is free.
class SignalCache {
 public:
  explicit SignalCache(SignalPool& pool) : pool_(pool) {}
  SignalCache(const SignalCache&) = delete;
  SignalCache& operator=(const SignalCache&) = delete;
  ~SignalCache();

  /// A signal of value 1 without timestamps. Errors: as SignalPool::acquire.
  Result<SignalRef> take();

 private:
  friend class SignalRef;
  void give_back(SharedSignal* shared);

  SignalPool& pool_;
  Mutex mutex_;
  SharedSignal* free_ = nullptr;
};

}  // namespace barehip::runtime
