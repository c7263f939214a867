// Requests around the edges: tiling, the old debugger, monitoring.
#include <errno.h>

#include <algorithm>

#include "tools/vgpu/kernel/ioctl.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

int ioctl_get_tile_config(Call& call) {
  auto& args = call.as<uapi::GetTileConfig>();
  const ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  // From gfx9 on the tables exist and hold zeros; only the address configuration says something.
  constexpr uint32_t kTileModes = 32, kMacroTileModes = 16;
  const uint32_t zeros[kTileModes] = {};
  args.num_tile_configs = std::min(args.num_tile_configs, kTileModes);
  args.num_macro_tile_configs = std::min(args.num_macro_tile_configs, kMacroTileModes);
  if (!copy_to_user(args.tile_config_ptr, zeros, args.num_tile_configs * sizeof(uint32_t)) ||
      !copy_to_user(args.macro_tile_config_ptr, zeros, args.num_macro_tile_configs * sizeof(uint32_t))) {
    return -EFAULT;
  }
  args.gb_addr_config = static_cast<uint32_t>(device->gpu->card().info("gb_addr_config"));
  args.num_banks = 0;
  args.num_ranks = 0;
  return 0;
}

// The first debugger interface was taken out of the kernel; its numbers were kept.
int ioctl_old_debugger(Call&) { return -EPERM; }

int ioctl_smi_events(Call& call) {
  auto& args = call.as<uapi::SmiEvents>();
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  const int fd = device->smi.open();
  if (fd < 0) return fd;
  args.anon_fd = static_cast<uint32_t>(fd);
  return 0;
}

}  // namespace vgpu
