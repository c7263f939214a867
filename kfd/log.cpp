#include "kfd/log.h"

#include <unistd.h>

#include <string>

namespace barehip::kfd {

void log_warning(std::string_view text) {
  const std::string line = "barehip: " + std::string(text) + "\n";
  // A warning that cannot be written has nowhere else to go.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace barehip::kfd
