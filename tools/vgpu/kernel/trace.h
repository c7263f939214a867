// The record of what a client asks and of what the queues run: one line per ioctl and per packet, the same for every
// client at both doors. Switched on by trace=FILE; tests compare these lines with those of stock programs.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace vgpu {

/// Thread safe. Costs a test of a bool when it is off.
class Trace {
 public:
  explicit Trace(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] bool on() const { return !path_.empty(); }
  void line(const std::string& text);

 private:
  const std::string path_;
  std::mutex mutex_;
};

/// "ioctl NAME field=value... -> result". `bytes` is the argument structure after the call.
std::string describe_ioctl(std::string_view name, std::span<const std::byte> bytes, int result);
/// The same for a number that the driver does not have.
std::string describe_unknown_ioctl(unsigned number, int error);

}  // namespace vgpu
