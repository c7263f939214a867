#include "kfd/clock.h"

namespace barehip::kfd {
namespace {

__extension__ typedef __int128 Wide;  // holds ticks times nanoseconds

// GET_CLOCK_COUNTERS reads its clocks one after the other; half a second apart, a microsecond between the
// readings costs two parts in a million.
constexpr uint64_t kEnoughNs = 500'000'000;

}  // namespace

void Clock::start(const ClockSample& first, uint64_t nominal_hz) {
  const std::lock_guard lock(mutex_);
  anchor_ = newest_ = first;
  nominal_hz_ = nominal_hz;
}

void Clock::add(const ClockSample& sample) {
  const std::lock_guard lock(mutex_);
  if (sample.gpu_ticks > newest_.gpu_ticks) newest_ = sample;
}

bool Clock::wants_sample(uint64_t ticks) const {
  const std::lock_guard lock(mutex_);
  return ticks > newest_.gpu_ticks;
}

uint64_t Clock::to_ns(uint64_t ticks) const {
  const std::lock_guard lock(mutex_);
  const Wide distance = static_cast<Wide>(ticks) - anchor_.gpu_ticks;
  const uint64_t span_ns = newest_.boottime_ns - anchor_.boottime_ns;
  const uint64_t span_ticks = newest_.gpu_ticks - anchor_.gpu_ticks;
  const bool measured = span_ticks != 0 && (span_ns >= kEnoughNs || nominal_hz_ == 0);
  if (!measured && nominal_hz_ == 0) return anchor_.boottime_ns;
  const Wide ns = measured ? distance * static_cast<Wide>(span_ns) / static_cast<Wide>(span_ticks)
                           : distance * 1'000'000'000 / static_cast<Wide>(nominal_hz_);
  return static_cast<uint64_t>(static_cast<Wide>(anchor_.boottime_ns) + ns);
}

}  // namespace barehip::kfd
