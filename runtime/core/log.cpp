#include "runtime/core/log.h"

#include <unistd.h>

#include <cstdio>

#include "runtime/core/environment.h"

namespace barehip::runtime {
namespace {

// Trivially destructible on purpose: API calls in a thread's own exit handlers still find it.
constexpr size_t kTextBytes = 1024;
thread_local constinit char t_last_error[kTextBytes] = "";

const char* level_name(LogLevel level) {
  constexpr const char* kNames[] = {"", "error", "warning", "info", "debug"};
  return kNames[static_cast<int>(level)];
}

}  // namespace

LogLevel log_level() { return static_cast<LogLevel>(environment().log_level); }

void log_line(LogLevel level, const std::string& text) {
  if (!log_enabled(level)) return;
  std::fprintf(stderr, "barehip[%d:%d] %s: %s\n", getpid(), gettid(), level_name(level), text.c_str());
}

void tell_user(const Error& error) {
  if (environment().silent || log_enabled(LogLevel::kError)) return;
  std::fprintf(stderr, "barehip: %s\n", error.text.c_str());
}

ErrorCode note_error(const Error& error) {
  std::snprintf(t_last_error, kTextBytes, "%s: %s", error.operation, error.text.c_str());
  if (log_enabled(LogLevel::kError)) log_line(LogLevel::kError, t_last_error);
  return error.code;
}

const char* last_error_text() { return t_last_error; }

}  // namespace barehip::runtime
