// What the model tells people: fault reports, and the list of requests that were answered by a default because the
// model does not do them. Tests assert that list empty.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace vgpu {

/// Thread safe. Writes whole lines with one write(2), so that processes may share a file.
class Log {
 public:
  Log(std::string path, std::string defaults_path) : path_(std::move(path)), defaults_path_(std::move(defaults_path)) {}

  /// A report for a person, such as a fault. Goes to the log file, or to standard error.
  void report(const std::string& text);
  /// A request that the real driver would serve and the model refuses or answers with a default. Kept, and written
  /// once per distinct text where there is a file for it.
  void answered_by_default(const std::string& what);
  std::vector<std::string> defaults() const;

 private:
  static void append(const std::string& path, const std::string& line);

  const std::string path_, defaults_path_;
  mutable std::mutex mutex_;
  std::set<std::string> defaults_;
};

/// " (asked by PROGRAM[, LIBRARY])" for the request that is being answered.
std::string caller_text();

}  // namespace vgpu
