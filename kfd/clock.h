// GPU ticks to nanoseconds from pairs of samples.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <barehip/device.h>

namespace barehip::kfd {

/// The line through an anchor sample and the newest one. Until the two are far enough apart for their
/// quotient to be better than the nominal frequency, the nominal one is used. Thread safe.
class Clock {
 public:
  /// Forgets everything and starts from `first`.
  void start(const ClockSample& first, uint64_t nominal_hz);
  void add(const ClockSample& sample);
  /// The newest sample is older than these ticks, so another one would make the result better.
  bool wants_sample(uint64_t ticks) const;
  uint64_t to_ns(uint64_t ticks) const;

 private:
  mutable std::mutex mutex_;
  ClockSample anchor_{};
  ClockSample newest_{};
  uint64_t nominal_hz_ = 0;
};

}  // namespace barehip::kfd
