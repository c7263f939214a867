// The render node: as much as libdrm_amdgpu asks to open a device, and the device information.
#include <amdgpu_drm.h>
#include <drm.h>
#include <errno.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>

#include "tools/vgpu/kernel/kernel.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr uint32_t kGbAddrConfig = 0x263e;  // register offset in dwords

int answer(const drm_amdgpu_info& request, const void* data, size_t bytes) {
  return copy_to_user(request.return_pointer, data, std::min<size_t>(bytes, request.return_size)) ? 0 : -EFAULT;
}

int refuse(Machine& machine, const std::string& what, int error) {
  machine.log.answered_by_default("DRM " + what);
  return error;
}

// The driver tells the lengths, and fills what the caller has room for.
bool give_text(uint64_t pointer, __kernel_size_t& length, const char* text) {
  const size_t have = std::strlen(text);
  const size_t room = std::min<size_t>(length, have);
  length = have;
  return pointer == 0 || copy_to_user(pointer, text, room);
}

int answer_version(void* arg) {
  const auto user = reinterpret_cast<uint64_t>(arg);
  drm_version version{};
  if (!copy_from_user(&version, user, sizeof version)) return -EFAULT;
  version.version_major = 3;
  version.version_minor = 57;
  version.version_patchlevel = 0;
  if (!give_text(reinterpret_cast<uint64_t>(version.name), version.name_len, "amdgpu") ||
      !give_text(reinterpret_cast<uint64_t>(version.date), version.date_len, "20150101") ||
      !give_text(reinterpret_cast<uint64_t>(version.desc), version.desc_len, "AMD GPU")) {
    return -EFAULT;
  }
  return copy_to_user(user, &version, sizeof version) ? 0 : -EFAULT;
}

int read_register(Machine& machine, const Gpu& gpu, const drm_amdgpu_info& request) {
  const auto& registers = request.read_mmr_reg;
  if (registers.dword_offset != kGbAddrConfig || registers.count != 1) {
    return refuse(machine, "AMDGPU_INFO READ_MMR_REG " + std::to_string(registers.dword_offset), -EINVAL);
  }
  const auto value = static_cast<uint32_t>(gpu.card().info("gb_addr_config"));
  return answer(request, &value, sizeof value);
}

int memory_info(const Gpu& gpu, const drm_amdgpu_info& request) {
  drm_amdgpu_memory_info info{};
  const uint64_t vram = gpu.options.vram_bytes;
  info.vram.total_heap_size = info.vram.usable_heap_size = info.vram.max_allocation = vram;
  const uint64_t visible = gpu.config.hostile.small_bar ? std::min<uint64_t>(vram, 256u << 20) : vram;
  info.cpu_accessible_vram.total_heap_size = info.cpu_accessible_vram.usable_heap_size = visible;
  info.cpu_accessible_vram.max_allocation = visible;
  return answer(request, &info, sizeof info);
}

int amdgpu_info(Machine& machine, const Gpu& gpu, void* arg) {
  drm_amdgpu_info request{};
  if (!copy_from_user(&request, reinterpret_cast<uint64_t>(arg), sizeof request)) return -EFAULT;
  switch (request.query) {
    case AMDGPU_INFO_ACCEL_WORKING: {
      const uint32_t working = 1;
      return answer(request, &working, sizeof working);
    }
    case AMDGPU_INFO_DEV_INFO: {
      drm_amdgpu_info_device info{};
      drm_device_info(gpu, &info, sizeof info);
      return answer(request, &info, sizeof info);
    }
    case AMDGPU_INFO_READ_MMR_REG: return read_register(machine, gpu, request);
    case AMDGPU_INFO_MEMORY: return memory_info(gpu, request);
    default: return refuse(machine, "AMDGPU_INFO query " + std::to_string(request.query), -EINVAL);
  }
}

}  // namespace

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

int drm_ioctl(Machine& machine, const DrmFile& file, unsigned long request, void* arg) {
  if (_IOC_TYPE(request) != DRM_IOCTL_BASE) return -ENOTTY;
  const unsigned number = _IOC_NR(request);
  if (number == _IOC_NR(DRM_IOCTL_VERSION)) return answer_version(arg);
  if (number == DRM_COMMAND_BASE + DRM_AMDGPU_INFO) return amdgpu_info(machine, *file.gpu, arg);
  return refuse(machine, "ioctl number " + std::to_string(number), -EINVAL);
}

}  // namespace vgpu
