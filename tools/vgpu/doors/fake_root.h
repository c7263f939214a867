// The files that programs look at around a GPU, laid under a folder of our own: the topology, /sys/module/amdgpu, the
// render node's sysfs entries, /proc/modules. The launcher writes them, the preload library redirects to them.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "tools/vgpu/kernel/machine.h"

namespace vgpu {

/// True for paths that exist only under the fake root while a program runs on the simulated machine.
bool belongs_to_fake_root(std::string_view path);

/// True for paths that lie under the fake root only where this system does not have them itself: the caches of CPUs,
/// without which the thunk of 5.2.3 gives up, and which many virtual machines do not show.
bool may_belong_to_fake_root(std::string_view path);

/// Writes everything under `root`, which exists. The error is a sentence for the user.
std::expected<void, std::string> write_fake_root(const Machine& machine, const std::string& root);

// Environment variables between launcher and preload library.
inline constexpr char kEnvSpec[] = "VGPU_SPEC";
inline constexpr char kEnvRoot[] = "VGPU_ROOT";
inline constexpr char kDefaultsFile[] = "/defaults";
inline constexpr char kStoresFolder[] = "/stores";

}  // namespace vgpu
