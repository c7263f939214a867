#include "kfd/topology.h"

#include <algorithm>
#include <cerrno>

#include "kfd/os_file.h"

namespace barehip::kfd {
namespace {

constexpr int kSnapshotTries = 8;

Result<KeyValueFile> read_key_values(const barehip_os_table& os, const std::string& path) {
  Result<std::string> text = read_whole_file(os, path);
  if (!text) return std::unexpected(std::move(text.error()));
  return KeyValueFile::parse(path, *text, {"sibling_map"});
}

Result<uint64_t> read_number(const barehip_os_table& os, const std::string& path) {
  Result<std::string> text = read_whole_file(os, path);
  if (!text) return std::unexpected(std::move(text.error()));
  return parse_number_file(path, *text);
}

/// Fields of one file, copied into place; the first failure is kept.
class Reader {
 public:
  explicit Reader(const KeyValueFile& file) : file_(file) {}
  void need(const char* key, uint32_t& out) { take(file_.u32(key), out); }
  void need(const char* key, uint64_t& out) { take(file_.u64(key), out); }
  void maybe(const char* key, uint32_t& out) { take(file_.u32_or(key, out), out); }
  Result<void> done() { return std::move(result_); }

 private:
  template <class T>
  void take(Result<T> value, T& out) {
    if (value)
      out = *value;
    else if (result_)
      result_ = std::unexpected(std::move(value.error()));
  }
  const KeyValueFile& file_;
  Result<void> result_;
};

Result<void> parse_entry(const KeyValueFile& file, std::vector<MemoryBank>& banks) {
  MemoryBank bank;
  Reader reader(file);
  reader.need("heap_type", bank.heap_type);
  reader.need("size_in_bytes", bank.bytes);
  reader.maybe("width", bank.width_bits);
  reader.maybe("mem_clk_max", bank.clock_mhz);
  banks.push_back(bank);
  return reader.done();
}

Result<void> parse_entry(const KeyValueFile& file, std::vector<CacheInfo>& caches) {
  CacheInfo cache;
  Reader reader(file);
  reader.need("level", cache.level);
  reader.need("size", cache.size_kib);
  reader.need("type", cache.type);
  reader.maybe("cache_line_size", cache.line_bytes);
  const bool known = std::any_of(caches.begin(), caches.end(), [&](const CacheInfo& c) {
    return c.level == cache.level && c.type == cache.type && c.size_kib == cache.size_kib;
  });
  if (!known) caches.push_back(cache);
  return reader.done();
}

Result<void> parse_entry(const KeyValueFile& file, std::vector<NodeLink>& links) {
  constexpr uint32_t kNoAtomics32 = 4, kNoAtomics64 = 8, kNoPeerToPeer = 0x10;
  NodeLink link;
  uint32_t flags = 0;
  Reader reader(file);
  reader.need("type", link.type);
  reader.need("node_to", link.to_node);
  reader.need("weight", link.weight);
  reader.maybe("min_bandwidth", link.min_bandwidth_mbps);
  reader.maybe("max_bandwidth", link.max_bandwidth_mbps);
  reader.need("flags", flags);
  link.atomics32 = (flags & kNoAtomics32) == 0;
  link.atomics64 = (flags & kNoAtomics64) == 0;
  link.peer_to_peer = (flags & kNoPeerToPeer) == 0;
  links.push_back(link);
  return reader.done();
}

/// All `folder`/N/properties. A folder that is not there (older kernels have no p2p_links) means none.
template <class T>
Result<void> read_entries(const barehip_os_table& os, const std::string& folder, std::vector<T>& out) {
  Result<std::vector<uint32_t>> numbers = list_numbered(os, folder);
  if (!numbers) {
    if (numbers.error().sys_errno == ENOENT) return {};
    return std::unexpected(std::move(numbers.error()));
  }
  for (const uint32_t number : *numbers) {
    Result<KeyValueFile> file = read_key_values(os, folder + "/" + std::to_string(number) + "/properties");
    if (!file) return std::unexpected(std::move(file.error()));
    if (Result<void> parsed = parse_entry(*file, out); !parsed) return parsed;
  }
  return {};
}

Result<TopologyNode> read_node(const barehip_os_table& os, const std::string& folder, uint32_t id) {
  TopologyNode node;
  node.id = id;
  Result<uint64_t> gpu_id = read_number(os, folder + "/gpu_id");
  if (!gpu_id) {
    if (gpu_id.error().sys_errno != EPERM) return std::unexpected(std::move(gpu_id.error()));
    node.denied = true;
    return node;
  }
  if (*gpu_id > UINT32_MAX)
    return fail(ErrorCode::kSystem, "read topology", folder + "/gpu_id:1: the number has more than 32 bits");
  node.gpu_id = static_cast<uint32_t>(*gpu_id);

  Result<KeyValueFile> properties = read_key_values(os, folder + "/properties");
  if (!properties) return std::unexpected(std::move(properties.error()));
  node.properties = std::move(*properties);
  if (node.gpu_id == 0) return node;  // of CPU nodes nothing more is used

  Result<std::string> name = read_whole_file(os, folder + "/name");
  if (!name) return std::unexpected(std::move(name.error()));
  while (!name->empty() && name->back() == '\n') name->pop_back();
  node.name = std::move(*name);
  Result<void> done = read_entries(os, folder + "/mem_banks", node.banks);
  if (done) done = read_entries(os, folder + "/caches", node.caches);
  if (done) done = read_entries(os, folder + "/io_links", node.links);
  if (done) done = read_entries(os, folder + "/p2p_links", node.links);
  if (!done) return std::unexpected(std::move(done.error()));
  return node;
}

Result<Topology> read_snapshot(const barehip_os_table& os) {
  const std::string root = os.topology_root;
  Topology topology;
  Result<uint64_t> generation = read_number(os, root + "/generation_id");
  if (!generation) return std::unexpected(std::move(generation.error()));
  topology.generation = *generation;
  Result<std::vector<uint32_t>> ids = list_numbered(os, root + "/nodes");
  if (!ids) return std::unexpected(std::move(ids.error()));
  for (const uint32_t id : *ids) {
    Result<TopologyNode> node = read_node(os, root + "/nodes/" + std::to_string(id), id);
    if (!node) return std::unexpected(std::move(node.error()));
    topology.nodes.push_back(std::move(*node));
  }
  return topology;
}

}  // namespace

Result<Topology> read_topology(const barehip_os_table& os) {
  const std::string generation_file = std::string(os.topology_root) + "/generation_id";
  for (int attempt = 0; attempt < kSnapshotTries; ++attempt) {
    Result<Topology> topology = read_snapshot(os);
    Result<uint64_t> after = read_number(os, generation_file);
    if (!after) return std::unexpected(std::move(after.error()));
    // A node that goes away while it is read makes errors that are none.
    if (!topology && attempt + 1 < kSnapshotTries && topology.error().sys_errno == ENOENT) continue;
    if (!topology || topology->generation == *after) return topology;
  }
  return fail(
      ErrorCode::kSystem, "read topology",
      generation_file + " changed during each of " + std::to_string(kSnapshotTries) + " readings; GPUs come and go.");
}

}  // namespace barehip::kfd
