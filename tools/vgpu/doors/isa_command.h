// `vgpu isa`: how much of a target's instruction set the model knows and executes.
#pragma once

#include <string>

namespace vgpu {

/// Prints the figures of one target, or of all when it is empty. Returns the process' exit status: 2 for a target that
/// does not exist.
int print_isa(const std::string& gpu, bool json);

}  // namespace vgpu
