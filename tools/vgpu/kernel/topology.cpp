#include "tools/vgpu/kernel/topology.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "tools/vgpu/kernel/machine.h"
#include "tools/vgpu/kernel/topology_links.h"

namespace vgpu {

std::string property_line(const char* key, uint64_t value) {
  return std::string(key) + " " + std::to_string(value) + "\n";
}

uint32_t gpu_node(const Options& options, const Gpu& gpu) { return options.cpu_nodes + gpu.index; }

namespace {

constexpr uint32_t kP2pLinksMinor = 10;  // Linux 6.0
constexpr uint32_t kSdmaMaskMinor = 17;  // Linux 6.12

struct NodeKey {
  const char* name;
  bool gpu_only = false;
  uint32_t min_minor = 0;  ///< KFD 1.x of the first kernel that prints it
};

// The keys of a node's properties in the order in which amdkfd prints them.
constexpr NodeKey kNodeKeys[] = {
    {"cpu_cores_count"},
    {"simd_count"},
    {"mem_banks_count"},
    {"caches_count"},
    {"io_links_count"},
    {"p2p_links_count", false, kP2pLinksMinor},
    {"cpu_core_id_base"},
    {"simd_id_base"},
    {"max_waves_per_simd"},
    {"lds_size_in_kb"},
    {"gds_size_in_kb"},
    {"num_gws"},
    {"wave_front_size"},
    {"array_count"},
    {"simd_arrays_per_engine"},
    {"cu_per_simd_array"},
    {"simd_per_cu"},
    {"max_slots_scratch_cu"},
    {"gfx_target_version"},
    {"vendor_id"},
    {"device_id"},
    {"location_id"},
    {"domain"},
    {"drm_render_minor"},
    {"hive_id"},
    {"num_sdma_engines"},
    {"num_sdma_xgmi_engines"},
    {"num_sdma_queues_per_engine"},
    {"num_cp_queues"},
    {"cwsr_size", false, 17},
    {"ctl_stack_size", false, 17},
    {"max_engine_clk_fcompute", true},
    {"local_mem_size", true},
    {"fw_version", true},
    {"capability", true},
    {"debug_prop", true, 13},
    {"sdma_fw_version", true},
    {"unique_id", true},
    {"num_xcc", true, 13},
    {"max_engine_clk_ccompute"},
};

using Values = std::map<std::string, uint64_t>;

std::string properties(const Values& values, bool gpu, uint32_t kfd_minor) {
  std::string text;
  for (const NodeKey& key : kNodeKeys) {
    if ((key.gpu_only && !gpu) || key.min_minor > kfd_minor) continue;
    const auto found = values.find(key.name);
    text += property_line(key.name, found == values.end() ? 0 : found->second);
  }
  return text;
}

std::string bank_properties(uint64_t heap_type, uint64_t bytes, uint64_t width, uint64_t clock) {
  return property_line("heap_type", heap_type) + property_line("size_in_bytes", bytes) + property_line("flags", 0) +
         property_line("width", width) + property_line("mem_clk_max", clock);
}

std::string cache_properties(const CardCache& cache, uint64_t processor_id) {
  std::string siblings;
  for (uint32_t i = 0; i < cache.cus_per_instance; ++i) siblings += i == 0 ? "1" : ",1";
  return property_line("processor_id_low", processor_id) + property_line("level", cache.level) +
         property_line("size", cache.size_kb) + property_line("cache_line_size", cache.line_size) +
         property_line("cache_lines_per_tag", 1) + property_line("association", 0) + property_line("latency", 0) +
         property_line("type", cache.type) + "sibling_map " + siblings + "\n";
}

uint64_t simd_id_base(uint32_t index) { return 0x80000000u + 0x1000u * (index + 1); }

void add_links(FileTree& tree, const std::string& folder, const NodeLinks& links, uint32_t kfd_minor) {
  const auto add = [&](const std::string& name, const std::vector<TopologyLink>& each) {
    if (each.empty()) tree.add_folder(folder + name);
    for (size_t i = 0; i < each.size(); ++i) {
      tree.add(folder + name + "/" + std::to_string(i) + "/properties",
               link_properties(each[i], kfd_minor >= kSdmaMaskMinor));
    }
  };
  add("io_links", links.io);
  if (kfd_minor >= kP2pLinksMinor) add("p2p_links", links.p2p);
}

uint64_t capability_of(const Options& options, const Card& card) {
  constexpr uint64_t kSvm = 1u << 27;
  const uint64_t capability = card.prop("capability");
  return options.svm ? capability : capability & ~kSvm;
}

void add_caches(FileTree& tree, const std::string& folder, const Gpu& gpu) {
  uint64_t number = 0;
  for (const CardCache& cache : gpu.card().caches) {
    for (uint32_t i = 0; i < cache.count; ++i) {
      const uint64_t first_cu = std::min<uint64_t>(uint64_t{i} * cache.cus_per_instance, gpu.card().cu_count() - 1);
      tree.add(folder + "caches/" + std::to_string(number++) + "/properties",
               cache_properties(cache, simd_id_base(gpu.index) + first_cu));
    }
  }
}

void add_gpu_node(FileTree& tree, const Options& options, const std::vector<Gpu>& gpus, const Gpu& gpu,
                  const NodeLinks& links) {
  const std::string folder = "nodes/" + std::to_string(gpu_node(options, gpu)) + "/";
  const Card& card = gpu.card();
  Values values = card.node;
  values["mem_banks_count"] = 1;
  values["io_links_count"] = links.io.size();
  values["p2p_links_count"] = links.p2p.size();
  values["simd_id_base"] = simd_id_base(gpu.index);
  values["location_id"] = 0x300 + 0x100 * gpu.index;
  values["drm_render_minor"] = gpu.render_minor;
  values["hive_id"] = hive_of(gpus, gpu);
  values["capability"] = capability_of(options, card);
  values["unique_id"] = 0x7670750000000000ull + gpu.gpu_id;
  values["max_engine_clk_ccompute"] = 2400;
  tree.add(folder + "gpu_id", std::to_string(gpu.gpu_id) + "\n");
  tree.add(folder + "name", card.node_name + "\n");
  tree.add(folder + "properties", properties(values, true, options.kfd_minor));
  const uint64_t heap = gpu.config.hostile.small_bar ? 2 : 1;
  tree.add(folder + "mem_banks/0/properties",
           bank_properties(heap, gpu.options.vram_bytes, card.bus_width, card.mem_clk_max));
  add_caches(tree, folder, gpu);
  add_links(tree, folder, links, options.kfd_minor);
}

void add_cpu_node(FileTree& tree, const Options& options, uint32_t node, const NodeLinks& links) {
  struct sysinfo memory{};
  sysinfo(&memory);
  const auto cpus = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  const uint64_t each = std::max<uint64_t>(1, cpus / options.cpu_nodes);
  const std::string folder = "nodes/" + std::to_string(node) + "/";
  Values values;
  values["cpu_cores_count"] = each;
  values["cpu_core_id_base"] = std::min(node * each, cpus - 1);
  values["mem_banks_count"] = 1;
  values["io_links_count"] = links.io.size();
  values["p2p_links_count"] = links.p2p.size();
  values["max_engine_clk_ccompute"] = 2400;
  tree.add(folder + "gpu_id", "0\n");
  tree.add(folder + "name", "\n");
  tree.add(folder + "properties", properties(values, false, options.kfd_minor));
  const uint64_t bytes = uint64_t{memory.totalram} * memory.mem_unit / options.cpu_nodes & ~uint64_t{4095};
  tree.add(folder + "mem_banks/0/properties", bank_properties(0, bytes, 0, 0));
  tree.add_folder(folder + "caches");
  add_links(tree, folder, links, options.kfd_minor);
}

std::string_view without_slashes(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

}  // namespace

const std::string* FileTree::file(std::string_view path) const {
  const auto found = files_.find(without_slashes(path));
  return found == files_.end() ? nullptr : &found->second;
}

std::vector<std::string> FileTree::list(std::string_view path) const {
  std::string prefix(without_slashes(path));
  if (!prefix.empty()) prefix += '/';
  std::set<std::string> names;
  const auto take = [&](const std::string& full) {
    if (!full.starts_with(prefix) || full.size() == prefix.size()) return;
    names.insert(full.substr(prefix.size(), full.find('/', prefix.size()) - prefix.size()));
  };
  for (const auto& [name, content] : files_) take(name);
  for (const std::string& name : folders_) take(name);
  return {names.begin(), names.end()};
}

bool FileTree::is_folder(std::string_view path) const {
  const std::string_view bare = without_slashes(path);
  return bare.empty() || !list(bare).empty() || std::find(folders_.begin(), folders_.end(), bare) != folders_.end();
}

FileTree make_topology(const Options& options, const std::vector<Gpu>& gpus) {
  FileTree tree;
  const std::vector<NodeLinks> links = make_links(options, gpus);
  tree.add("generation_id", std::to_string(1 + gpus.size()) + "\n");  // the driver counts each change
  tree.add("system_properties",
           property_line("platform_oem", 0) + property_line("platform_id", 0) + property_line("platform_rev", 0));
  for (uint32_t node = 0; node < options.cpu_nodes; ++node) add_cpu_node(tree, options, node, links[node]);
  for (const Gpu& gpu : gpus) add_gpu_node(tree, options, gpus, gpu, links[gpu_node(options, gpu)]);
  return tree;
}

}  // namespace vgpu
