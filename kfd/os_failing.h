// A table for tests: counts the calls of each kind, and makes chosen ones fail.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "kfd/os.h"

namespace barehip::kfd {

enum class OsCall : uint8_t {
  kOpen,
  kClose,
  kIoctl,
  kMmap,
  kMunmap,
  kMadvise,
  kReadFile,
  kListDir,
  kStat,
  kClockNs,
  kGpuInfo
};
inline constexpr size_t kOsCalls = 11;

/// Wraps another table, which must outlive it. Thread safe. Calls that release something (close, munmap, and
/// ioctls that the driver never fails for a good argument) may be counted but should not be made to fail: the
/// caller has no way back.
class FailingOs {
 public:
  explicit FailingOs(const barehip_os_table& inner);
  FailingOs(const FailingOs&) = delete;
  FailingOs& operator=(const FailingOs&) = delete;

  const barehip_os_table& table() const { return table_; }

  /// The n-th call that this thread makes from now on (1 is the next) among the kinds in `kinds` (bit mask by
  /// OsCall) returns -error; 0: none. Calls of other threads are only counted.
  void fail_nth(uint64_t n, int error, uint32_t kinds);
  /// Calls of failable kinds seen since fail_nth (or the start).
  uint64_t seen() const { return seen_.load(); }
  bool failed() const { return failed_.load(); }

  uint64_t count(OsCall call) const { return counts_[static_cast<size_t>(call)].load(); }
  /// All system calls; the clock is read without one.
  uint64_t syscalls() const;

  static constexpr uint32_t mask(OsCall call) { return 1u << static_cast<uint32_t>(call); }

  /// Counts a call and says whether it shall fail: 0, or the negative errno. For this class's own functions.
  int enter(OsCall call);
  const barehip_os_table& inner() const { return inner_; }

 private:
  const barehip_os_table& inner_;
  barehip_os_table table_;
  std::array<std::atomic<uint64_t>, kOsCalls> counts_{};
  std::atomic<uint64_t> seen_{0};
  std::atomic<uint64_t> nth_{0};
  std::atomic<int> error_{0};
  std::atomic<uint32_t> kinds_{0};
  std::atomic<std::thread::id> thread_{};
  std::atomic<bool> failed_{false};
};

}  // namespace barehip::kfd
