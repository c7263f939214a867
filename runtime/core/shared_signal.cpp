#include "runtime/core/shared_signal.h"

#include <memory>

namespace barehip::runtime {

SignalRef::~SignalRef() {
  if (shared_ && shared_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) shared_->cache->give_back(shared_);
}

SignalCache::~SignalCache() {
  while (free_) delete std::exchange(free_, free_->next_free);
}

Result<SignalRef> SignalCache::take() {
  {
    std::lock_guard lock(mutex_);
    if (SharedSignal* shared = free_) {
      free_ = shared->next_free;
      shared->signal.clear_ticks();
      shared->signal.store(1);
      return SignalRef(shared);
    }
  }
  auto signal = pool_.acquire(1);
  if (!signal) return std::unexpected(signal.error());
  auto shared = std::make_unique<SharedSignal>();
  shared->signal = std::move(*signal);
  shared->cache = this;
  return SignalRef(shared.release());
}

void SignalCache::give_back(SharedSignal* shared) {
  std::lock_guard lock(mutex_);
  shared->next_free = std::exchange(free_, shared);
}

}  // namespace barehip::runtime
