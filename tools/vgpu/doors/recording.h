// Recordings of `vgpu run --record FILE`: one line a request or packet.
#pragma once

#include <string>

namespace vgpu {

/// Prints a recording for a person: numbered lines, errnos by name, a count of everything at the end. Returns the exit
/// status.
int show_recording(const std::string& path);

}  // namespace vgpu
