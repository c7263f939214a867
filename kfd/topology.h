// The KFD topology (sysfs) as the kernel prints it, before any interpretation. Keys: docs/kfd.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <barehip/device.h>
#include <barehip/error.h>

#include "kfd/key_value_file.h"
#include "kfd/os.h"

namespace barehip::kfd {

struct MemoryBank {
  uint32_t heap_type = 0;  ///< 0 system, 1 frame buffer all CPU visible, 2 frame buffer with an invisible part
  uint64_t bytes = 0;
  uint32_t width_bits = 0;
  uint32_t clock_mhz = 0;
};

struct TopologyNode {
  uint32_t id = 0;      ///< folder name
  uint32_t gpu_id = 0;  ///< 0 for a CPU node
  /// The device cgroup of this process hides the GPU: the kernel answers EPERM to every read. Nothing else is
  /// filled.
  bool denied = false;
  std::string name;
  KeyValueFile properties;
  std::vector<MemoryBank> banks;
  std::vector<CacheInfo> caches;  ///< one for each distinct level, type, size
  std::vector<NodeLink> links;    ///< io_links, then p2p_links
};

struct Topology {
  uint64_t generation = 0;
  std::vector<TopologyNode> nodes;
};

/// Reads everything, and again when the generation number changed meanwhile. Errors name file and line;
/// kNoDevice when there is no topology at all.
Result<Topology> read_topology(const barehip_os_table& os);

}  // namespace barehip::kfd
