#include "tools/vgpu/doors/fake_root.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tools/vgpu/doors/device_nodes.h"

namespace vgpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefixes[] = {
    "/sys/devices/virtual/kfd", "/sys/class/kfd", "/sys/class/drm", "/sys/module/amdgpu",
    "/sys/dev/char/226:",       "/proc/modules",  "/dev/kfd",       "/dev/dri",
};
constexpr std::string_view kCpuPrefix = "/sys/devices/system/node/node0/cpu";
constexpr char kTopology[] = "/sys/devices/virtual/kfd/kfd/topology/";

// Plain system calls, each folder made once: a machine with several GPUs has thousands of files.
class Writer {
 public:
  explicit Writer(const std::string& root) : root_(root) {}

  void file(const std::string& path, std::string_view content) {
    parent(path);
    const int fd = open((root_ + path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const bool written = fd >= 0 && write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    if (fd >= 0) close(fd);
    if (!written) fail(path);
  }
  void folder(const std::string& path) {
    if (path.empty() || !made_.insert(path).second) return;
    parent(path);
    if (mkdir((root_ + path).c_str(), 0755) != 0 && errno != EEXIST) fail(path);
  }
  void link(const std::string& path, const std::string& target) {
    parent(path);
    if (symlink(target.c_str(), (root_ + path).c_str()) != 0) fail(path);
  }

 private:
  void parent(const std::string& path) { folder(path.substr(0, path.rfind('/'))); }
  [[noreturn]] void fail(const std::string& path) const {
    throw fs::filesystem_error("cannot write", root_ + path, std::error_code(errno, std::generic_category()));
  }

  const std::string& root_;
  std::set<std::string> made_;
};

std::string hex(uint64_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << value << "\n";
  return text.str();
}

void write_module(Writer& out) {
  std::ifstream modules("/proc/modules");
  std::ostringstream all;
  all << modules.rdbuf();
  out.file("/proc/modules", all.str() + "amdgpu 14000000 1 - Live 0x0000000000000000\n");
  out.file("/sys/module/amdgpu/initstate", "live\n");
  out.file("/sys/module/amdgpu/coresize", "14000000\n");
  out.file("/sys/module/amdgpu/refcnt", "1\n");
  out.folder("/sys/module/amdgpu/holders");
}

struct HardwareId {
  const char* block;
  unsigned number;  ///< of the discovery table
};
constexpr HardwareId kHardwareIds[] = {{"GC", 11}, {"SDMA", 42}, {"NBIO", 108}};

// The versions of the GPU's parts, where kernels since 6.1 show them.
void write_ip_block(Writer& out, const std::string& device, const Gpu& gpu, const char* block, unsigned number) {
  const auto found = gpu.card().ip_versions.find(block);
  if (found == gpu.card().ip_versions.end()) return;
  std::istringstream version(found->second);
  const std::string folder = device + "ip_discovery/die/0/" + std::to_string(number) + "/0/";
  for (const char* part : {"major", "minor", "revision"}) {
    std::string value;
    std::getline(version, value, '.');
    out.file(folder + part, value + "\n");
  }
}

// What libdrm reads to recognise a render node and its PCI device.
void write_render_node(Writer& out, const Gpu& gpu) {
  const std::string node = "renderD" + std::to_string(gpu.render_minor);
  const std::string device = "/sys/dev/char/226:" + std::to_string(gpu.render_minor) + "/device/";
  char slot[32];
  snprintf(slot, sizeof slot, "0000:%02x:00.0", 3 + gpu.index);  // location_id of the topology
  out.folder(device + "drm/" + node);
  // libdrm tells devices apart by the name of their primary node, and takes two without one for the same.
  out.folder(device + "drm/card" + std::to_string(gpu.index));
  out.file(device + "uevent", std::string("DRIVER=amdgpu\nPCI_SLOT_NAME=") + slot + "\n");
  out.file(device + "vendor", hex(gpu.card().prop("vendor_id")));
  out.file(device + "device", hex(gpu.card().prop("device_id")));
  out.file(device + "subsystem_vendor", hex(gpu.card().prop("vendor_id")));
  out.file(device + "subsystem_device", hex(gpu.card().prop("device_id")));
  out.file(device + "revision", hex(gpu.card().info("pci_rev")));
  out.link(device + "subsystem", "../../../../bus/pci");
  out.link("/sys/class/drm/" + node, "../../dev/char/226:" + std::to_string(gpu.render_minor));
  for (const auto& [block, number] : kHardwareIds) write_ip_block(out, device, gpu, block, number);
  out.file(device + "mem_info_vram_total", std::to_string(gpu.options.vram_bytes) + "\n");
  out.file(device + "power_dpm_force_performance_level", "auto\n");
}

// One first-level cache for each CPU, where the system shows none.
void write_cpu_caches(Writer& out) {
  const long count = sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < count; ++cpu) {
    const std::string number = std::to_string(cpu);
    if (fs::exists(std::string(kCpuPrefix) + number + "/cache/index0")) continue;
    const std::string cache = std::string(kCpuPrefix) + number + "/cache/index0/";
    char mask[32];
    snprintf(mask, sizeof mask, "%08lx\n", cpu < 32 ? 1ul << cpu : 0ul);
    out.file(cache + "shared_cpu_list", number + "\n");
    out.file(cache + "shared_cpu_map", mask);
    out.file(cache + "level", "1\n");
    out.file(cache + "type", "Data\n");
    out.file(cache + "size", "32K\n");
    out.file(cache + "coherency_line_size", "64\n");
    out.file(cache + "ways_of_associativity", "8\n");
    out.file(cache + "physical_line_partition", "1\n");
  }
}

}  // namespace

bool belongs_to_fake_root(std::string_view path) {
  for (const std::string_view prefix : kPrefixes) {
    if (!path.starts_with(prefix)) continue;
    const bool whole_name = prefix.back() == ':' || path.size() == prefix.size() || path[prefix.size()] == '/';
    if (whole_name) return true;
  }
  return false;
}

bool may_belong_to_fake_root(std::string_view path) {
  return path.starts_with(kCpuPrefix) && path.size() > kCpuPrefix.size() && path[kCpuPrefix.size()] >= '0' &&
         path[kCpuPrefix.size()] <= '9';
}

std::expected<void, std::string> write_fake_root(const Machine& machine, const std::string& root) {
  try {
    Writer out(root);
    for (const auto& [path, content] : machine.topology.files()) out.file(kTopology + path, content);
    for (const std::string& path : machine.topology.folders()) out.folder(kTopology + path);
    out.link("/sys/class/kfd/kfd", "../../devices/virtual/kfd/kfd");
    for (const DeviceNode& node : device_nodes(machine)) out.file("/dev/" + node.name, "");
    write_module(out);
    write_cpu_caches(out);
    for (const Gpu& gpu : machine.gpus) write_render_node(out, gpu);
    return {};
  } catch (const std::exception& error) {
    return std::unexpected(std::string("cannot lay the simulated machine's files: ") + error.what());
  }
}

}  // namespace vgpu
