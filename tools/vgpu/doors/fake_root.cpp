#include "tools/vgpu/doors/fake_root.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace vgpu {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefixes[] = {
    "/sys/devices/virtual/kfd", "/sys/class/kfd", "/sys/class/drm", "/sys/module/amdgpu",
    "/sys/dev/char/226:",       "/proc/modules",  "/dev/kfd",       "/dev/dri",
};
constexpr std::string_view kCpuPrefix = "/sys/devices/system/node/node0/cpu";
constexpr char kTopology[] = "/sys/devices/virtual/kfd/kfd/topology/";

class Writer {
 public:
  explicit Writer(const std::string& root) : root_(root) {}

  void file(const std::string& path, std::string_view content) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream out(root_ + path, std::ios::binary);
    out << content;
    if (!out.flush())
      throw fs::filesystem_error("cannot write", root_ + path, std::make_error_code(std::errc::io_error));
  }
  void folder(const std::string& path) { fs::create_directories(root_ + path); }
  void link(const std::string& path, const std::string& target) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    fs::create_symlink(target, root_ + path);
  }

 private:
  const std::string& root_;
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

// What libdrm reads to recognise a render node and its PCI device.
void write_render_node(Writer& out, const Gpu& gpu) {
  const std::string node = "renderD" + std::to_string(gpu.render_minor);
  const std::string device = "/sys/dev/char/226:" + std::to_string(gpu.render_minor) + "/device/";
  char slot[32];
  snprintf(slot, sizeof slot, "0000:%02x:00.0", 3 + gpu.index);  // location_id of the topology
  out.folder(device + "drm/" + node);
  out.file(device + "uevent", std::string("DRIVER=amdgpu\nPCI_SLOT_NAME=") + slot + "\n");
  out.file(device + "vendor", hex(gpu.card().prop("vendor_id")));
  out.file(device + "device", hex(gpu.card().prop("device_id")));
  out.file(device + "subsystem_vendor", hex(gpu.card().prop("vendor_id")));
  out.file(device + "subsystem_device", hex(gpu.card().prop("device_id")));
  out.file(device + "revision", hex(gpu.card().info("pci_rev")));
  out.link(device + "subsystem", "../../../../bus/pci");
  out.link("/sys/class/drm/" + node, "../../dev/char/226:" + std::to_string(gpu.render_minor));
  out.file("/dev/dri/" + node, "");
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
    out.file("/dev/kfd", "");
    write_module(out);
    write_cpu_caches(out);
    for (const Gpu& gpu : machine.gpus) write_render_node(out, gpu);
    return {};
  } catch (const std::exception& error) {
    return std::unexpected(std::string("cannot lay the simulated machine's files: ") + error.what());
  }
}

}  // namespace vgpu
