// What the machine's device nodes look like from outside: which exist, who may open them. Both doors answer from this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/vgpu/kernel/machine.h"

namespace vgpu {

struct DeviceNode {
  std::string name;       ///< below /dev: "kfd", "dri/renderD128"
  int render_minor = -1;  ///< -1: /dev/kfd
  int open_error = 0;     ///< 0, EACCES or EPERM
  uint32_t mode = 0;      ///< st_mode
  uint32_t gid = 0;
  uint32_t major = 0, minor = 0;
};

/// The nodes that exist.
std::vector<DeviceNode> device_nodes(const Machine& machine);

/// By its name below /dev; null when it does not exist.
const DeviceNode* find_node(const std::vector<DeviceNode>& nodes, std::string_view name);

/// True for a file of the topology ("nodes/1/properties") that the device cgroup keeps from being read: EPERM.
bool unreadable(const Machine& machine, std::string_view topology_path);

}  // namespace vgpu
