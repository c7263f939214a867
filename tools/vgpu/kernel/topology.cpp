#include "tools/vgpu/kernel/topology.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "tools/vgpu/kernel/machine.h"

namespace vgpu {

namespace {

std::string line(const char* key, uint64_t value) { return std::string(key) + " " + std::to_string(value) + "\n"; }

// The keys of a node's properties in the order in which amdkfd prints them. cwsr_size and ctl_stack_size since 6.12.
constexpr const char* kNodeKeys[] = {
    "cpu_cores_count",
    "simd_count",
    "mem_banks_count",
    "caches_count",
    "io_links_count",
    "p2p_links_count",
    "cpu_core_id_base",
    "simd_id_base",
    "max_waves_per_simd",
    "lds_size_in_kb",
    "gds_size_in_kb",
    "num_gws",
    "wave_front_size",
    "array_count",
    "simd_arrays_per_engine",
    "cu_per_simd_array",
    "simd_per_cu",
    "max_slots_scratch_cu",
    "gfx_target_version",
    "vendor_id",
    "device_id",
    "location_id",
    "domain",
    "drm_render_minor",
    "hive_id",
    "num_sdma_engines",
    "num_sdma_xgmi_engines",
    "num_sdma_queues_per_engine",
    "num_cp_queues",
    "cwsr_size",
    "ctl_stack_size",
    "max_engine_clk_fcompute",
    "local_mem_size",
    "fw_version",
    "capability",
    "debug_prop",
    "sdma_fw_version",
    "unique_id",
    "num_xcc",
    "max_engine_clk_ccompute",
};
// These follow num_cp_queues only for a GPU node.
constexpr const char* kGpuOnlyKeys[] = {
    "max_engine_clk_fcompute", "local_mem_size", "fw_version", "capability", "debug_prop",
    "sdma_fw_version",         "unique_id",      "num_xcc"};

std::string properties(const std::map<std::string, uint64_t>& values, bool gpu) {
  std::string text;
  for (const char* key : kNodeKeys) {
    if (!gpu && std::find_if(std::begin(kGpuOnlyKeys), std::end(kGpuOnlyKeys), [&](const char* only) {
                  return std::string_view(only) == key;
                }) != std::end(kGpuOnlyKeys)) {
      continue;
    }
    const auto found = values.find(key);
    text += line(key, found == values.end() ? 0 : found->second);
  }
  return text;
}

struct Link {
  uint64_t from, to, flags;
  const Card* card;
};

std::string link_properties(const Link& link) {
  return line("type", 2) + line("version_major", 0) + line("version_minor", 0) + line("node_from", link.from) +
         line("node_to", link.to) + line("weight", 20) + line("min_latency", 0) + line("max_latency", 0) +
         line("min_bandwidth", link.card->link_min_bandwidth) + line("max_bandwidth", link.card->link_max_bandwidth) +
         line("recommended_transfer_size", 0) + line("recommended_sdma_engine_id_mask", link.card->link_sdma_mask) +
         line("flags", link.flags);
}

std::string bank_properties(uint64_t heap_type, uint64_t bytes, uint64_t width, uint64_t clock) {
  return line("heap_type", heap_type) + line("size_in_bytes", bytes) + line("flags", 0) + line("width", width) +
         line("mem_clk_max", clock);
}

std::string cache_properties(const CardCache& cache, uint64_t processor_id) {
  std::string siblings;
  for (uint32_t i = 0; i < cache.cus_per_instance; ++i) siblings += i == 0 ? "1" : ",1";
  return line("processor_id_low", processor_id) + line("level", cache.level) + line("size", cache.size_kb) +
         line("cache_line_size", cache.line_size) + line("cache_lines_per_tag", 1) + line("association", 0) +
         line("latency", 0) + line("type", cache.type) + "sibling_map " + siblings + "\n";
}

uint64_t simd_id_base(uint32_t index) { return 0x80000000u + 0x1000u * (index + 1); }

// Link flags (facts): 1 enabled, 4 no 32-bit atomics, 8 no 64-bit atomics.
uint64_t link_flags(const Gpu& gpu, uint64_t usual) {
  return gpu.config.hostile.no_pcie_atomics ? usual | 4 | 8 : usual;
}

bool cpu_sees_vram(const Gpu& gpu) { return !gpu.config.hostile.small_bar; }

void add_gpu_node(FileTree& tree, const Gpu& gpu) {
  const uint64_t node = gpu.index + 1;
  const std::string folder = "nodes/" + std::to_string(node) + "/";
  const Card& card = gpu.card();
  std::map<std::string, uint64_t> values = card.node;
  values["mem_banks_count"] = 1;
  values["io_links_count"] = 1;
  values["simd_id_base"] = simd_id_base(gpu.index);
  values["location_id"] = 0x300 + 0x100 * gpu.index;
  values["drm_render_minor"] = gpu.render_minor;
  values["unique_id"] = 0x7670750000000000ull + gpu.gpu_id;
  values["max_engine_clk_ccompute"] = 2400;
  tree.add(folder + "gpu_id", std::to_string(gpu.gpu_id) + "\n");
  tree.add(folder + "name", card.node_name + "\n");
  tree.add(folder + "properties", properties(values, true));
  const uint64_t heap = cpu_sees_vram(gpu) ? 1 : 2;
  tree.add(folder + "mem_banks/0/properties",
           bank_properties(heap, gpu.options.vram_bytes, card.bus_width, card.mem_clk_max));
  uint64_t number = 0;
  for (const CardCache& cache : card.caches) {
    for (uint32_t i = 0; i < cache.count; ++i) {
      const uint64_t first_cu = std::min<uint64_t>(uint64_t{i} * cache.cus_per_instance, card.cu_count() - 1);
      tree.add(folder + "caches/" + std::to_string(number++) + "/properties",
               cache_properties(cache, simd_id_base(gpu.index) + first_cu));
    }
  }
  tree.add(folder + "io_links/0/properties", link_properties({node, 0, link_flags(gpu, 1), &card}));
  tree.add_folder(folder + "p2p_links");
}

void add_cpu_node(FileTree& tree, const std::vector<Gpu>& gpus) {
  struct sysinfo memory{};
  sysinfo(&memory);
  uint64_t links = 0;
  for (const Gpu& gpu : gpus) {
    if (!cpu_sees_vram(gpu)) continue;
    tree.add("nodes/0/io_links/" + std::to_string(links++) + "/properties",
             link_properties({0, gpu.index + 1, link_flags(gpu, 3), &gpu.card()}));
  }
  if (links == 0) tree.add_folder("nodes/0/io_links");
  std::map<std::string, uint64_t> values;
  values["cpu_cores_count"] = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  values["mem_banks_count"] = 1;
  values["io_links_count"] = links;
  values["max_engine_clk_ccompute"] = 2400;
  tree.add("nodes/0/gpu_id", "0\n");
  tree.add("nodes/0/name", "\n");
  tree.add("nodes/0/properties", properties(values, false));
  tree.add("nodes/0/mem_banks/0/properties", bank_properties(0, uint64_t{memory.totalram} * memory.mem_unit, 0, 0));
  tree.add_folder("nodes/0/caches");
  tree.add_folder("nodes/0/p2p_links");
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

FileTree make_topology(const std::vector<Gpu>& gpus) {
  FileTree tree;
  tree.add("generation_id", "2\n");
  tree.add("system_properties", line("platform_oem", 0) + line("platform_id", 0) + line("platform_rev", 0));
  add_cpu_node(tree, gpus);
  for (const Gpu& gpu : gpus) add_gpu_node(tree, gpu);
  return tree;
}

}  // namespace vgpu
