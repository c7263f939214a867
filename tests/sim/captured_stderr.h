// Standard error of this process, into a file for a while.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/catch.h"

namespace sim {

class CapturedStderr {
 public:
  CapturedStderr() {
    char name[] = "/tmp/barehip-stderr-XXXXXX";
    file_ = mkstemp(name);
    REQUIRE(file_ >= 0);
    unlink(name);
    kept_ = dup(STDERR_FILENO);
    dup2(file_, STDERR_FILENO);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;
  ~CapturedStderr() {
    restore();
    close(file_);
  }

  /// Ends the capture. 64 KiB at most.
  std::string text() {
    restore();
    std::string text(65536, '\0');
    text.resize(static_cast<size_t>(std::max<ssize_t>(pread(file_, text.data(), text.size(), 0), 0)));
    return text;
  }

 private:
  void restore() {
    if (kept_ < 0) return;
    dup2(kept_, STDERR_FILENO);
    close(kept_);
    kept_ = -1;
  }
  int file_ = -1;
  int kept_ = -1;
};

}  // namespace sim
