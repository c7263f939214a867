// An event inside the runtime.
#pragma once

#include <barehip/error.h>

#include "runtime/core/event.h"
#include "runtime/core/lock.h"
#include "runtime/core/shared_signal.h"

namespace barehip::runtime {

class DeviceContext;
class HwQueue;

/// The last record of an event: a marker's signal. Kept memory, as Stream's.
class EventImpl {
 public:
  struct Record {
    SignalRef signal;  ///< null: never recorded
    DeviceContext* context = nullptr;
    HwQueue* queue = nullptr;
    uint64_t index = 0;  ///< of the marker
  };

  void reset(unsigned flags) {
    std::lock_guard lock(mutex_);
    flags_ = flags;
    record_ = {};
  }
  bool timed() const { return !(flags_ & kEventDisableTiming); }
  Record record() {
    std::lock_guard lock(mutex_);
    return record_;
  }
  void set_record(Record record) {
    std::lock_guard lock(mutex_);
    record_ = std::move(record);
  }

 private:
  Mutex mutex_;
  unsigned flags_ = 0;
  Record record_;
};

/// kInvalidHandle for what is not a live event.
Result<EventImpl*> find_event(Handle handle);

}  // namespace barehip::runtime
