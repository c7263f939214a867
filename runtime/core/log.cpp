#include "runtime/core/log.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <new>
#include <utility>

#include <barehip/device.h>

#include "runtime/core/environment.h"

namespace barehip::runtime {
namespace {

constexpr size_t kTextBytes = 1024;

/// Made with a thread's first error: memory that is a thread's from the start is scarce, see ThreadState.
struct ErrorText {
  char* text = nullptr;
  ~ErrorText() { delete[] std::exchange(text, nullptr); }
  /// Null when there is no memory for it.
  char* get() {
    if (text == nullptr) text = new (std::nothrow) char[kTextBytes];
    return text;
  }
};
thread_local constinit ErrorText t_last_error;

constinit std::atomic<bool> g_told_of_feature{false};

const char* level_name(LogLevel level) {
  constexpr const char* kNames[] = {"", "error", "warning", "info", "debug"};
  return kNames[static_cast<int>(level)];
}

}  // namespace

constinit std::atomic<int> g_known_log_level{INT_MAX};

LogLevel log_level() {
  const int level = environment().log_level;
  g_known_log_level.store(level, std::memory_order_relaxed);
  return static_cast<LogLevel>(level);
}

void log_line(LogLevel level, const std::string& text) {
  if (!log_enabled(level)) return;
  std::fprintf(stderr, "barehip[%d:%d] %s: %s\n", getpid(), gettid(), level_name(level), text.c_str());
}

void tell_user(const Error& error) {
  if (environment().silent || log_enabled(LogLevel::kError)) return;
  std::fprintf(stderr, "barehip: %s\n", error.text.c_str());
}

ErrorCode note_error(const Error& error) {
  if (error.operation == kMissingFeature && !g_told_of_feature.exchange(true)) tell_user(error);
  char* text = t_last_error.get();
  if (text == nullptr) return error.code;
  std::snprintf(text, kTextBytes, "%s: %s", error.operation, error.text.c_str());
  if (log_enabled(LogLevel::kError)) log_line(LogLevel::kError, text);
  return error.code;
}

const char* last_error_text() { return t_last_error.text ? t_last_error.text : ""; }

}  // namespace barehip::runtime
