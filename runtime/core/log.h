// Log lines to stderr, and the last error's full text.
#pragma once

#include <atomic>
#include <string>

#include <barehip/error.h>

namespace barehip::runtime {

enum class LogLevel : int { kNone = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

/// Level from AMD_LOG_LEVEL (0..4, default 0); read once.
LogLevel log_level();
/// What log_level() said; above all levels until it was asked. Every API call looks here.
[[gnu::visibility("hidden")]] extern constinit std::atomic<int> g_known_log_level;
inline bool log_enabled(LogLevel level) {
  return static_cast<int>(level) <= g_known_log_level.load(std::memory_order_relaxed) && level <= log_level();
}
/// One line to stderr with process and thread id. Does nothing when the level is off (the caller builds no text then).
void log_line(LogLevel level, const std::string& text);

/// One line to stderr at the default level too: for what keeps a user from the GPU altogether. Not when AMD_LOG_LEVEL
/// is 0, nor when errors are logged anyway.
void tell_user(const Error& error);

/// Keeps an error's text as this thread's last one and logs it at kError. Returns its code for convenience.
ErrorCode note_error(const Error& error);
/// This thread's last error text ("" when none; cut at 1023 bytes), for extended error calls and messages.
const char* last_error_text();

}  // namespace barehip::runtime
