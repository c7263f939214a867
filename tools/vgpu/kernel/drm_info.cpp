// AMDGPU_INFO: what a render node tells about its GPU.
#include <amdgpu_drm.h>
#include <errno.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tools/vgpu/kernel/drm.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr uint32_t kGbAddrConfig = 0x263e;  // register offset in dwords
constexpr uint64_t kSmallBar = 256u << 20;

/// The kernel copies as much as the caller has room for.
template <class T>
int answer(const drm_amdgpu_info& request, const T& data) {
  return copy_to_user(request.return_pointer, &data, std::min<size_t>(sizeof data, request.return_size)) ? 0 : -EFAULT;
}

template <class T, T kValue>
int constant(DrmCall& call, const drm_amdgpu_info& request) {
  (void)call;
  return answer(request, kValue);
}

uint64_t visible_vram(const Gpu& gpu) {
  const uint64_t vram = gpu.options.vram_bytes;
  return gpu.config.hostile.small_bar ? std::min(vram, kSmallBar) : vram;
}

PageStore& store_of(DrmCall& call, uint32_t index) {
  call.kernel.machine().collect();
  return *call.kernel.machine().stores[index];
}
PageStore& system_store(DrmCall& call) { return store_of(call, Backing::kSystemStore); }
PageStore& vram_store(DrmCall& call) { return store_of(call, 1 + call.gpu().index); }

int device_info(DrmCall& call, const drm_amdgpu_info& request) {
  drm_amdgpu_info_device info{};
  drm_device_info(call.gpu(), &info, sizeof info);
  return answer(request, info);
}

int read_register(DrmCall& call, const drm_amdgpu_info& request) {
  const auto& registers = request.read_mmr_reg;
  if (registers.count == 0 || registers.count > 128) return -EINVAL;
  if (registers.dword_offset != kGbAddrConfig || registers.count != 1)
    return call.refuse(-EINVAL, "register " + std::to_string(registers.dword_offset));
  return answer(request, static_cast<uint32_t>(call.gpu().card().info("gb_addr_config")));
}

int memory(DrmCall& call, const drm_amdgpu_info& request) {
  drm_amdgpu_memory_info info{};
  PageStore& vram = vram_store(call);
  PageStore& system = system_store(call);
  const auto fill = [](drm_amdgpu_heap_info& heap, uint64_t total, uint64_t used) {
    heap.total_heap_size = heap.usable_heap_size = total;
    heap.heap_usage = used;
    heap.max_allocation = total / 4 * 3;
  };
  fill(info.vram, vram.capacity(), vram.used());
  fill(info.cpu_accessible_vram, visible_vram(call.gpu()), std::min(vram.used(), visible_vram(call.gpu())));
  fill(info.gtt, system.capacity(), system.used());
  return answer(request, info);
}

int vram_and_gtt(DrmCall& call, const drm_amdgpu_info& request) {
  return answer(request, drm_amdgpu_info_vram_gtt{.vram_size = call.gpu().options.vram_bytes,
                                                  .vram_cpu_accessible_size = visible_vram(call.gpu()),
                                                  .gtt_size = system_store(call).capacity()});
}

int timestamp(DrmCall& call, const drm_amdgpu_info& request) {
  return answer(request, gpu_clock_now(call.gpu().config));
}
int vram_usage(DrmCall& call, const drm_amdgpu_info& request) { return answer(request, vram_store(call).used()); }
int visible_usage(DrmCall& call, const drm_amdgpu_info& request) {
  return answer(request, std::min(vram_store(call).used(), visible_vram(call.gpu())));
}
int gtt_usage(DrmCall& call, const drm_amdgpu_info& request) { return answer(request, system_store(call).used()); }

/// Major and minor version of a part, as "9.4.2" has it.
void version_of(const Card& card, const char* block, uint32_t& major_version, uint32_t& minor_version) {
  const auto found = card.ip_versions.find(block);
  if (found == card.ip_versions.end()) return;
  char* rest = nullptr;
  major_version = static_cast<uint32_t>(std::strtoul(found->second.c_str(), &rest, 10));
  if (*rest == '.') minor_version = static_cast<uint32_t>(std::strtoul(rest + 1, nullptr, 10));
}

int hardware_ip(DrmCall& call, const drm_amdgpu_info& request) {
  const Card& card = call.gpu().card();
  const uint32_t type = request.query_hw_ip.type;
  if (type >= AMDGPU_HW_IP_NUM) return -EINVAL;
  drm_amdgpu_info_hw_ip info{};
  constexpr uint32_t kComputeRings = 8, kAlignment = 32;
  const char* block = type == AMDGPU_HW_IP_DMA ? "SDMA" : type <= AMDGPU_HW_IP_COMPUTE ? "GC" : nullptr;
  if (block != nullptr) {
    version_of(card, block, info.hw_ip_version_major, info.hw_ip_version_minor);
    info.ib_start_alignment = info.ib_size_alignment = kAlignment;
    info.available_rings = type == AMDGPU_HW_IP_COMPUTE ? (1u << kComputeRings) - 1
                           : type == AMDGPU_HW_IP_DMA   ? (1u << card.prop("num_sdma_engines")) - 1
                                                        : 1;
  }
  return answer(request, info);  // no video engines
}

int hardware_ip_count(DrmCall&, const drm_amdgpu_info& request) {
  const uint32_t type = request.query_hw_ip.type;
  if (type >= AMDGPU_HW_IP_NUM) return -EINVAL;
  return answer(request, uint32_t{type <= AMDGPU_HW_IP_DMA ? 1u : 0u});
}

int firmware(DrmCall& call, const drm_amdgpu_info& request) {
  const Card& card = call.gpu().card();
  drm_amdgpu_info_firmware info{};
  switch (request.query_fw.fw_type) {
    case AMDGPU_INFO_FW_GFX_MEC:
      if (request.query_fw.index > 1) return -EINVAL;
      info.ver = static_cast<uint32_t>(card.prop("fw_version"));
      break;
    case AMDGPU_INFO_FW_SDMA:
      if (request.query_fw.index >= card.prop("num_sdma_engines") + card.prop("num_sdma_xgmi_engines")) return -EINVAL;
      info.ver = static_cast<uint32_t>(card.prop("sdma_fw_version"));
      break;
    default:
      if (request.query_fw.fw_type == 0 || request.query_fw.fw_type > AMDGPU_INFO_FW_TOC) return -EINVAL;
  }
  return answer(request, info);
}

int gds(DrmCall& call, const drm_amdgpu_info& request) {
  drm_amdgpu_info_gds info{};
  info.gws_per_gfx_partition = info.gws_per_compute_partition =
      static_cast<uint32_t>(call.gpu().card().prop("num_gws"));
  return answer(request, info);
}

// What a machine says whose power management is off.
int sensor(DrmCall&, const drm_amdgpu_info&) { return -ENOENT; }
int no_such_thing(DrmCall&, const drm_amdgpu_info&) { return -EINVAL; }

struct InfoRow {
  uint32_t query;
  int (*answer)(DrmCall&, const drm_amdgpu_info&);
};

constexpr InfoRow kRows[] = {
    {AMDGPU_INFO_ACCEL_WORKING, constant<uint32_t, 1>},
    {AMDGPU_INFO_CRTC_FROM_ID, no_such_thing},
    {AMDGPU_INFO_HW_IP_INFO, hardware_ip},
    {AMDGPU_INFO_HW_IP_COUNT, hardware_ip_count},
    {AMDGPU_INFO_TIMESTAMP, timestamp},
    {AMDGPU_INFO_FW_VERSION, firmware},
    {AMDGPU_INFO_NUM_BYTES_MOVED, constant<uint64_t, 0>},
    {AMDGPU_INFO_VRAM_USAGE, vram_usage},
    {AMDGPU_INFO_GTT_USAGE, gtt_usage},
    {AMDGPU_INFO_GDS_CONFIG, gds},
    {AMDGPU_INFO_VRAM_GTT, vram_and_gtt},
    {AMDGPU_INFO_READ_MMR_REG, read_register},
    {AMDGPU_INFO_DEV_INFO, device_info},
    {AMDGPU_INFO_VIS_VRAM_USAGE, visible_usage},
    {AMDGPU_INFO_NUM_EVICTIONS, constant<uint64_t, 0>},
    {AMDGPU_INFO_MEMORY, memory},
    {AMDGPU_INFO_VCE_CLOCK_TABLE, no_such_thing},
    {AMDGPU_INFO_NUM_HANDLES, no_such_thing},
    {AMDGPU_INFO_SENSOR, sensor},
    {AMDGPU_INFO_NUM_VRAM_CPU_PAGE_FAULTS, constant<uint64_t, 0>},
    {AMDGPU_INFO_VRAM_LOST_COUNTER, constant<uint32_t, 0>},
    {AMDGPU_INFO_RAS_ENABLED_FEATURES, constant<uint64_t, 0>},
};

}  // namespace

int drm_amdgpu_info_query(DrmCall& call) {
  const auto& request = call.as<drm_amdgpu_info>();
  if (request.return_size == 0 || request.return_pointer == 0) return -EINVAL;
  const auto row = std::ranges::find(kRows, request.query, &InfoRow::query);
  if (row == std::end(kRows)) return call.refuse(-EINVAL, "query " + std::to_string(request.query));
  return row->answer(call, request);
}

int drm_device_info(const Gpu& gpu, void* out, size_t size) {
  const Card& card = gpu.card();
  const auto u32 = [&](const char* name) { return static_cast<uint32_t>(card.info(name)); };
  drm_amdgpu_info_device info{};
  info.device_id = u32("device_id");
  info.chip_rev = u32("chip_rev");
  info.external_rev = u32("external_rev");
  info.pci_rev = u32("pci_rev");
  info.family = u32("family");
  info.num_shader_engines = u32("num_shader_engines");
  info.num_shader_arrays_per_engine = u32("num_shader_arrays_per_engine");
  info.gpu_counter_freq = u32("gpu_counter_freq");
  info.max_engine_clock = card.info("max_engine_clock");
  info.max_memory_clock = card.info("max_memory_clock");
  info.cu_active_number = u32("cu_active_number");
  for (size_t engine = 0; engine < 4; ++engine) {
    for (size_t array = 0; array < 4; ++array) info.cu_bitmap[engine][array] = card.cu_bitmap[engine][array];
  }
  info.enabled_rb_pipes_mask = u32("enabled_rb_pipes_mask");
  info.num_rb_pipes = u32("num_rb_pipes");
  info.num_hw_gfx_contexts = u32("num_hw_gfx_contexts");
  info.ids_flags = card.info("ids_flags");
  info.virtual_address_offset = card.info("virtual_address_offset");
  info.virtual_address_max = card.info("virtual_address_max");
  info.virtual_address_alignment = u32("virtual_address_alignment");
  info.pte_fragment_size = u32("pte_fragment_size");
  info.gart_page_size = u32("gart_page_size");
  info.vram_type = u32("vram_type");
  info.vram_bit_width = u32("vram_bit_width");
  info.wave_front_size = u32("wave_front_size");
  info.num_shader_visible_vgprs = u32("num_shader_visible_vgprs");
  info.num_cu_per_sh = u32("num_cu_per_sh");
  info.num_tcc_blocks = u32("num_tcc_blocks");
  info.gs_vgt_table_depth = u32("gs_vgt_table_depth");
  info.gs_prim_buffer_depth = u32("gs_prim_buffer_depth");
  info.max_gs_waves_per_vgt = u32("max_gs_waves_per_vgt");
  info.high_va_offset = card.info("high_va_offset");
  info.high_va_max = card.info("high_va_max");
  std::memcpy(out, &info, std::min(size, sizeof info));
  return 0;
}

}  // namespace vgpu
