#include "tools/vgpu/doors/device_nodes.h"

#include <errno.h>
#include <grp.h>
#include <sys/stat.h>

#include <algorithm>

namespace vgpu {

namespace {

constexpr uint32_t kDrmMajor = 226, kKfdMajor = 510;

// The group that distributions give GPU nodes to.
uint32_t gpu_group() {
  for (const char* name : {"render", "video"}) {
    if (const group* found = getgrnam(name); found != nullptr) return found->gr_gid;
  }
  return 0;
}

void set_access(DeviceNode& node, NodeAccess access) {
  node.mode = S_IFCHR | 0666;
  if (access == NodeAccess::kDenied) {
    node.mode = S_IFCHR | 0660;
    node.gid = gpu_group();
    node.open_error = EACCES;
  }
  if (access == NodeAccess::kCgroup) node.open_error = EPERM;
}

}  // namespace

std::vector<DeviceNode> device_nodes(const Machine& machine) {
  std::vector<DeviceNode> nodes;
  if (machine.options.kfd_node != NodeAccess::kAbsent) {
    DeviceNode kfd{.name = "kfd", .major = kKfdMajor};
    set_access(kfd, machine.options.kfd_node);
    nodes.push_back(std::move(kfd));
  }
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.options.render == NodeAccess::kAbsent) continue;
    DeviceNode node{.name = "dri/renderD" + std::to_string(gpu.render_minor),
                    .render_minor = static_cast<int>(gpu.render_minor),
                    .major = kDrmMajor,
                    .minor = gpu.render_minor};
    set_access(node, gpu.options.render);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

const DeviceNode* find_node(const std::vector<DeviceNode>& nodes, std::string_view name) {
  const auto found = std::ranges::find(nodes, name, &DeviceNode::name);
  return found == nodes.end() ? nullptr : &*found;
}

// gpu_id, name and every properties file of the node; the folders can still be listed.
bool unreadable(const Machine& machine, std::string_view topology_path) {
  while (topology_path.starts_with('/')) topology_path.remove_prefix(1);
  return std::ranges::any_of(machine.gpus, [&](const Gpu& gpu) {
    const std::string folder = "nodes/" + std::to_string(gpu_node(machine.options, gpu)) + "/";
    return gpu.options.render == NodeAccess::kCgroup && topology_path.starts_with(folder);
  });
}

}  // namespace vgpu
