// Which nodes of the topology are connected, and how: the rules by which amdkfd makes io_links and p2p_links.
// Source: amdkfd's kfd_crat.c and kfd_topology.c of Linux 6.12, read for behaviour.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vgpu {

struct Gpu;
struct Options;

struct TopologyLink {
  uint64_t type = 2, from = 0, to = 0, weight = 20, min_bandwidth = 0, max_bandwidth = 0, sdma_mask = 0, flags = 1;
};

/// The links of one node.
struct NodeLinks {
  std::vector<TopologyLink> io, p2p;
};

/// By node number.
std::vector<NodeLinks> make_links(const Options& options, const std::vector<Gpu>& gpus);

/// The hive that a GPU is in: not 0 when another GPU of its kind is there and the kind has xGMI.
uint64_t hive_of(const std::vector<Gpu>& gpus, const Gpu& gpu);

std::string link_properties(const TopologyLink& link, bool with_sdma_mask);

}  // namespace vgpu
