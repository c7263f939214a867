#include "tools/vgpu/kernel/topology_links.h"

#include <algorithm>

#include "tools/vgpu/kernel/machine.h"

namespace vgpu {

namespace {

constexpr uint64_t kHyperTransport = 1, kPcie = 2;
constexpr uint64_t kBetweenSockets = 32;  // the firmware's distance of two sockets
constexpr uint64_t kEnabled = 1, kNonCoherent = 2, kNoAtomics = 4 | 8;

bool large_bar(const Gpu& gpu) { return !gpu.config.hostile.small_bar; }

uint64_t atomics_flags(const Gpu& gpu, uint64_t type) {
  return type == kPcie && gpu.config.hostile.no_pcie_atomics ? kNoAtomics : 0;
}

uint64_t cpu_of(const Options& options, const Gpu& gpu) { return gpu.index % options.cpu_nodes; }

TopologyLink link_of(const CardLink& card, uint64_t from, uint64_t to, uint64_t flags) {
  return {card.type, from, to, card.weight, card.min_bandwidth, card.max_bandwidth, card.sdma_mask, flags};
}

void link_cpus(const Options& options, std::vector<NodeLinks>& nodes) {
  for (uint64_t from = 0; from < options.cpu_nodes; ++from) {
    for (uint64_t to = 0; to < options.cpu_nodes; ++to) {
      if (from == to) continue;
      nodes[from].io.push_back({kHyperTransport, from, to, kBetweenSockets, 0, 0, 0, kEnabled});
    }
  }
}

// Both ways between a GPU and its own CPU; the way back exists only when the CPU can use it.
void link_to_cpu(const Options& options, const Gpu& gpu, std::vector<NodeLinks>& nodes) {
  const CardLink& card = gpu.card().cpu_link;
  const uint64_t cpu = cpu_of(options, gpu), node = gpu_node(options, gpu);
  const uint64_t atomics = atomics_flags(gpu, card.type);
  nodes[node].io.push_back(link_of(card, node, cpu, kEnabled | atomics));
  if (!large_bar(gpu)) return;
  const uint64_t coherence = card.type == kPcie ? kNonCoherent : 0;
  nodes[cpu].io.push_back(link_of(card, cpu, node, kEnabled | coherence | atomics));
}

// A GPU reaches the other CPUs by way of its own.
void link_to_far_cpus(const Options& options, const Gpu& gpu, std::vector<NodeLinks>& nodes) {
  const uint64_t node = gpu_node(options, gpu);
  for (uint64_t cpu = 0; cpu < options.cpu_nodes; ++cpu) {
    if (cpu == cpu_of(options, gpu)) continue;
    TopologyLink link = nodes[node].io.front();
    link.to = cpu;
    link.weight += kBetweenSockets;
    link.min_bandwidth = link.max_bandwidth = 0;  // of the slower part, and nobody knows the CPUs' link
    nodes[node].p2p.push_back(link);
    if (!large_bar(gpu)) continue;
    std::swap(link.from, link.to);
    if (link.type == kPcie) link.flags |= kNonCoherent;
    nodes[cpu].p2p.push_back(link);
  }
}

// From `from` to `to`, which lets its memory be seen.
void link_peers(const Options& options, const Gpu& from, const Gpu& to, std::vector<NodeLinks>& nodes) {
  const uint64_t source = gpu_node(options, from), target = gpu_node(options, to);
  const uint64_t coherence_of_vega20 = from.card().gfx == "gfx906" ? kNonCoherent : 0;
  if (hive_of({from, to}, from) != 0) {
    nodes[source].io.push_back(link_of(*from.card().peer_link, source, target, kEnabled | coherence_of_vega20));
    return;
  }
  if (!large_bar(to)) return;
  const TopologyLink first = nodes[source].io.front(), second = nodes[target].io.front();
  TopologyLink link = second;
  link.from = source;
  link.to = target;
  link.weight = first.weight + second.weight;
  link.min_bandwidth = std::min(first.min_bandwidth, second.min_bandwidth);
  link.max_bandwidth = std::min(first.max_bandwidth, second.max_bandwidth);
  if (first.to != second.to) {
    link.weight += kBetweenSockets;
    link.min_bandwidth = link.max_bandwidth = 0;
  }
  link.flags = kEnabled | (link.type == kPcie ? kNonCoherent : 0) | atomics_flags(from, link.type);
  nodes[source].p2p.push_back(link);
}

}  // namespace

uint64_t hive_of(const std::vector<Gpu>& gpus, const Gpu& gpu) {
  if (!gpu.card().peer_link) return 0;
  const auto same = std::ranges::count_if(gpus, [&](const Gpu& each) { return each.card().id == gpu.card().id; });
  return same < 2 ? 0 : 0x7670750068697665ull + gpu.card().prop("device_id");
}

std::vector<NodeLinks> make_links(const Options& options, const std::vector<Gpu>& gpus) {
  std::vector<NodeLinks> nodes(options.cpu_nodes + gpus.size());
  link_cpus(options, nodes);
  for (const Gpu& gpu : gpus) link_to_cpu(options, gpu, nodes);
  for (const Gpu& gpu : gpus) link_to_far_cpus(options, gpu, nodes);
  for (const Gpu& from : gpus) {
    for (const Gpu& to : gpus) {
      if (from.index != to.index) link_peers(options, from, to, nodes);
    }
  }
  return nodes;
}

std::string link_properties(const TopologyLink& link, bool with_sdma_mask) {
  std::string text = property_line("type", link.type) + property_line("version_major", 0) +
                     property_line("version_minor", 0) + property_line("node_from", link.from) +
                     property_line("node_to", link.to) + property_line("weight", link.weight) +
                     property_line("min_latency", 0) + property_line("max_latency", 0) +
                     property_line("min_bandwidth", link.min_bandwidth) +
                     property_line("max_bandwidth", link.max_bandwidth) + property_line("recommended_transfer_size", 0);
  if (with_sdma_mask) text += property_line("recommended_sdma_engine_id_mask", link.sdma_mask);
  return text + property_line("flags", link.flags);
}

}  // namespace vgpu
