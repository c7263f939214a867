// Streams of system management events (SMI_EVENTS): a descriptor that takes a mask of events by write() and gives one
// line of text an event by read().
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace vgpu {

enum class SmiEvent : uint32_t { kVmFault = 1, kThermalThrottle = 2, kGpuPreReset = 3, kGpuPostReset = 4 };

/// Of one process on one GPU. Thread safe.
class SmiStreams {
 public:
  SmiStreams() = default;
  ~SmiStreams();
  SmiStreams(const SmiStreams&) = delete;
  SmiStreams& operator=(const SmiStreams&) = delete;

  /// A new stream's descriptor, or a negative errno. Not O_CLOEXEC: neither is the driver's.
  int open();
  /// A line for each stream that asked for that event: the event's number in hex, a blank, the text.
  void raise(SmiEvent event, const std::string& text);

 private:
  struct Stream {
    int fd = -1;
    uint64_t mask = 0;
  };
  std::mutex mutex_;
  std::vector<Stream> streams_;
};

}  // namespace vgpu
