// `vgpu run`: lays the simulated machine's files, starts a program on it, and tells what was left unanswered.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tools/vgpu/kernel/options.h"

namespace vgpu {

struct RunRequest {
  std::string spec;                  ///< as parse_options takes it
  std::vector<std::string> command;  ///< program and its arguments
  bool strict_log_empty = false;     ///< a request answered by a default makes the run fail
};

/// Runs it and returns the exit status a shell would show (128 + signal); the error is a sentence for the user.
std::expected<int, std::string> run_program(const RunRequest& request);

/// Why the preload library cannot work in that program (static, 32 bit, setuid), or empty.
std::string why_not_preloadable(const std::string& program);

}  // namespace vgpu
