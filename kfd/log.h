// Warnings that have no caller to return to (destructors, the watcher thread).
#pragma once

#include <string_view>

namespace barehip::kfd {

/// One line "barehip: text" on standard error, in one write.
void log_warning(std::string_view text);

}  // namespace barehip::kfd
