#include "kfd/gpu_properties.h"

#include <amdgpu_drm.h>

#include <algorithm>
#include <charconv>

#include "kfd/os_file.h"

namespace barehip::kfd {
namespace {

constexpr uint32_t kCapSramEcc = 1u << 26;
constexpr uint32_t kCapSvm = 1u << 27;
constexpr uint32_t kCapCoherentHost = 1u << 28;
constexpr uint32_t kHeapPublic = 1, kHeapPrivate = 2;

struct Field {
  const char* key;
  uint32_t GpuProperties::* member;
  bool required;
};

// Keys that go over as they are. Those that some kernel from 5.15 on lacks are not required.
constexpr Field kFields[] = {
    {"max_waves_per_simd", &GpuProperties::max_waves_per_simd, true},
    {"simd_per_cu", &GpuProperties::simd_per_cu, true},
    {"simd_arrays_per_engine", &GpuProperties::shader_arrays_per_engine, true},
    {"cu_per_simd_array", &GpuProperties::cu_per_shader_array, true},
    {"wave_front_size", &GpuProperties::wave_size, true},
    {"max_slots_scratch_cu", &GpuProperties::max_slots_scratch_cu, true},
    {"num_gws", &GpuProperties::num_gws, false},
    {"vendor_id", &GpuProperties::vendor_id, true},
    {"device_id", &GpuProperties::device_id, true},
    {"domain", &GpuProperties::pci_domain, false},
    {"drm_render_minor", &GpuProperties::drm_render_minor, true},
    {"num_sdma_engines", &GpuProperties::num_sdma_engines, true},
    {"num_sdma_xgmi_engines", &GpuProperties::num_sdma_xgmi_engines, false},
    {"num_sdma_queues_per_engine", &GpuProperties::num_sdma_queues_per_engine, false},
    {"num_cp_queues", &GpuProperties::num_cp_queues, false},
    {"max_engine_clk_fcompute", &GpuProperties::max_engine_clock_mhz, false},
    {"fw_version", &GpuProperties::fw_version, false},
    {"sdma_fw_version", &GpuProperties::sdma_fw_version, false},
    {"cwsr_size", &GpuProperties::cwsr_bytes_per_xcc, false},
    {"ctl_stack_size", &GpuProperties::ctl_stack_bytes_per_xcc, false},
    {"capability", &GpuProperties::capability, true},
    {"capability2", &GpuProperties::capability2, false},
    {"num_xcc", &GpuProperties::num_xcc, false},
};

std::string gfx_name(uint32_t major, uint32_t minor, uint32_t step) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string name = "gfx" + std::to_string(major) + std::to_string(minor);
  return step < 16 ? name + kHex[step] : name + "?";
}

std::unexpected<Error> impossible(const TopologyNode& node, const std::string& what) {
  return fail(ErrorCode::kSystem, "read topology", node.properties.path() + ": " + what);
}

void set_target(GpuProperties& p, uint32_t version) {
  p.gfx_major = version / 10000;
  p.gfx_minor = version / 100 % 100;
  p.gfx_step = version % 100;
  p.gfx = version != 0 ? gfx_name(p.gfx_major, p.gfx_minor, p.gfx_step) : std::string();
}

/// Chips of gfx9 by the external revision that amdgpu gives them, for kernels whose topology has no
/// gfx_target_version.
struct ChipRange {
  uint32_t family;
  uint32_t first, last;  ///< external_rev
  uint32_t version;
};
constexpr uint32_t kFamilyAi = 141;
constexpr ChipRange kGfx9Chips[] = {
    {kFamilyAi, 0x01, 0x13, 90000}, {kFamilyAi, 0x14, 0x27, 90004}, {kFamilyAi, 0x28, 0x31, 90006},
    {kFamilyAi, 0x32, 0x3b, 90008}, {kFamilyAi, 0x3c, 0x45, 90010},
};

Result<void> derive_identity(GpuProperties& p, const TopologyNode& node) {
  Result<uint32_t> version = node.properties.u32_or("gfx_target_version", 0);
  Result<uint32_t> location = node.properties.u32("location_id");
  if (!version) return std::unexpected(std::move(version.error()));
  if (!location) return std::unexpected(std::move(location.error()));
  set_target(p, *version);
  p.pci_bus = (*location >> 8) & 0xff;
  p.pci_device = (*location >> 3) & 0x1f;
  p.pci_function = *location & 7;
  if (*version != 0 && p.gfx_major != 9 && p.gfx_major != 11)
    return fail(
        ErrorCode::kNotSupported, "open GPU",
        "The GPU of topology node " + std::to_string(p.node_id) + " is " + p.gfx + "; barehip drives gfx9 and gfx11.");
  return {};
}

Result<void> derive_shape(GpuProperties& p, const TopologyNode& node) {
  const KeyValueFile& file = node.properties;
  Result<uint32_t> simds = file.u32("simd_count");
  Result<uint32_t> arrays = file.u32("array_count");
  Result<uint32_t> lds_kib = file.u32("lds_size_in_kb");
  Result<uint32_t> gds_kib = file.u32_or("gds_size_in_kb", 0);
  for (Result<uint32_t>* value : {&simds, &arrays, &lds_kib, &gds_kib})
    if (!*value) return std::unexpected(std::move(value->error()));
  if (p.num_xcc == 0) return impossible(node, "num_xcc is 0");
  if (p.simd_per_cu == 0 || *simds == 0 || *simds % p.simd_per_cu != 0)
    return impossible(node, "simd_count " + std::to_string(*simds) + " is no multiple of simd_per_cu " +
                                std::to_string(p.simd_per_cu));
  if (p.shader_arrays_per_engine == 0 || *arrays == 0 || *arrays % p.shader_arrays_per_engine != 0)
    return impossible(node, "array_count " + std::to_string(*arrays) + " is no multiple of simd_arrays_per_engine " +
                                std::to_string(p.shader_arrays_per_engine));
  if (p.wave_size != 32 && p.wave_size != 64) return impossible(node, "wave_front_size is neither 32 nor 64");
  p.cu_count = *simds / p.simd_per_cu;
  p.shader_engines = *arrays / p.shader_arrays_per_engine;
  p.max_waves_per_cu = p.max_waves_per_simd * p.simd_per_cu;
  p.lds_bytes_per_cu = *lds_kib * 1024;
  p.gds_bytes = *gds_kib * 1024;
  p.sram_ecc = (p.capability & kCapSramEcc) != 0;
  p.svm = (p.capability & kCapSvm) != 0;
  p.coherent_host = (p.capability & kCapCoherentHost) != 0;
  return {};
}

bool is_cpu_node(const Topology& topology, uint32_t id) {
  return std::any_of(topology.nodes.begin(), topology.nodes.end(),
                     [&](const TopologyNode& n) { return n.id == id && n.gpu_id == 0 && !n.denied; });
}

void add_memory_and_links(GpuProperties& p, const TopologyNode& node, const Topology& topology) {
  for (const MemoryBank& bank : node.banks) {
    if (bank.heap_type != kHeapPublic && bank.heap_type != kHeapPrivate) continue;
    p.vram_bytes += bank.bytes;
    p.vram_host_visible = bank.heap_type == kHeapPublic;
    p.memory_bus_bits = bank.width_bits;
    p.memory_clock_mhz = bank.clock_mhz;
  }
  p.caches = node.caches;
  p.links = node.links;
  for (const NodeLink& link : p.links)
    if (is_cpu_node(topology, link.to_node) && link.atomics32 && link.atomics64) p.host_atomics = true;
}

}  // namespace

Result<GpuProperties> properties_from_node(const TopologyNode& node, const Topology& topology) {
  GpuProperties p;
  p.node_id = node.id;
  p.gpu_id = node.gpu_id;
  p.asic_name = node.name;
  for (const Field& field : kFields) {
    const Result<uint32_t> value =
        field.required ? node.properties.u32(field.key) : node.properties.u32_or(field.key, p.*field.member);
    if (!value) return std::unexpected(value.error());
    p.*field.member = *value;
  }
  struct Wide {
    const char* key;
    uint64_t GpuProperties::* member;
  };
  for (const Wide& field : {Wide{"unique_id", &GpuProperties::unique_id}, Wide{"hive_id", &GpuProperties::hive_id},
                            Wide{"debug_prop", &GpuProperties::debug_prop}}) {
    const Result<uint64_t> value = node.properties.u64_or(field.key, 0);
    if (!value) return std::unexpected(value.error());
    p.*field.member = *value;
  }
  if (Result<void> identity = derive_identity(p, node); !identity) return std::unexpected(std::move(identity.error()));
  if (Result<void> shape = derive_shape(p, node); !shape) return std::unexpected(std::move(shape.error()));
  add_memory_and_links(p, node, topology);
  if (p.drm_render_minor < 128 || p.drm_render_minor > 255)
    return impossible(node,
                      "drm_render_minor " + std::to_string(p.drm_render_minor) + " is not a render node (128 to 255)");
  return p;
}

Result<void> add_dev_info(GpuProperties& p, const drm_amdgpu_info_device& info) {
  constexpr uint64_t kFusion = 1;
  p.family = info.family;
  p.pci_revision = info.pci_rev;
  p.is_apu = (info.ids_flags & kFusion) != 0;
  p.clock_hz = uint64_t{info.gpu_counter_freq} * 1000;
  if (p.gfx_major != 0) return {};
  for (const ChipRange& chip : kGfx9Chips)
    if (chip.family == info.family && info.external_rev >= chip.first && info.external_rev <= chip.last)
      set_target(p, chip.version);
  if (p.gfx_major != 0) return {};
  return fail(ErrorCode::kNotSupported, "open GPU",
              "The driver does not say what the GPU of topology node " + std::to_string(p.node_id) + " is (family " +
                  std::to_string(info.family) + ", revision " + std::to_string(info.external_rev) +
                  "); a newer kernel does.");
}

void add_apertures(GpuProperties& p, const uapi::process_device_apertures& a) {
  p.lds_aperture = a.lds_base;
  p.lds_aperture_limit = a.lds_limit;
  p.scratch_aperture = a.scratch_base;
  p.scratch_aperture_limit = a.scratch_limit;
  p.gpuvm_base = a.gpuvm_base;
  p.gpuvm_limit = a.gpuvm_limit;
}

// Lines are "device id,<tab>revision,<tab>name" in hexadecimal without a prefix; '#' begins a comment.
std::string marketing_name(const barehip_os_table& os, uint32_t device_id, uint32_t pci_revision) {
  const Result<std::string> text = read_whole_file(os, "/usr/share/libdrm/amdgpu.ids");
  if (!text) return {};
  std::string_view rest = *text;
  const auto skip_blank = [](std::string_view& s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  };
  const auto take_hex = [&](std::string_view& s, uint32_t& out) {
    skip_blank(s);
    const auto [stop, error] = std::from_chars(s.data(), s.data() + s.size(), out, 16);
    if (error != std::errc()) return false;
    s.remove_prefix(static_cast<size_t>(stop - s.data()));
    if (s.empty() || s.front() != ',') return false;
    s.remove_prefix(1);
    return true;
  };
  while (!rest.empty()) {
    const size_t newline = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(std::min(newline + 1, rest.size()));
    uint32_t id = 0, revision = 0;
    if (!take_hex(line, id) || !take_hex(line, revision)) continue;
    if (id != device_id || revision != pci_revision) continue;
    skip_blank(line);
    return std::string(line);
  }
  return {};
}

}  // namespace barehip::kfd
