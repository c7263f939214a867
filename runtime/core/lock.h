// The runtime's only mutex: it counts, so that a test can say that a path takes none.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace barehip::runtime {

/// Locks that this thread has taken so far (exclusive and shared). Cost: a thread-local load.
inline thread_local constinit uint64_t t_locks_taken = 0;

class Mutex {
 public:
  void lock() {
    ++t_locks_taken;
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class SharedMutex {
 public:
  void lock() {
    ++t_locks_taken;
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    ++t_locks_taken;
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

}  // namespace barehip::runtime
