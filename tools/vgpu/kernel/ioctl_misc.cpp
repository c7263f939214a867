// Requests around the edges: tiling, shared virtual memory, dma-buf, debugger, monitoring.
#include <errno.h>

#include <algorithm>

#include "tools/vgpu/kernel/ioctl.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

int ioctl_get_tile_config(Call& call) {
  auto& args = call.as<uapi::GetTileConfig>();
  const Gpu* gpu = call.kernel.machine().find_gpu(args.gpu_id);
  if (gpu == nullptr) return -EINVAL;
  // From gfx9 on the tables exist and hold zeros; only the address configuration says something.
  constexpr uint32_t kTileModes = 32, kMacroTileModes = 16;
  const uint32_t zeros[kTileModes] = {};
  args.num_tile_configs = std::min(args.num_tile_configs, kTileModes);
  args.num_macro_tile_configs = std::min(args.num_macro_tile_configs, kMacroTileModes);
  if (!copy_to_user(args.tile_config_ptr, zeros, args.num_tile_configs * sizeof(uint32_t)) ||
      !copy_to_user(args.macro_tile_config_ptr, zeros, args.num_macro_tile_configs * sizeof(uint32_t))) {
    return -EFAULT;
  }
  args.gb_addr_config = static_cast<uint32_t>(gpu->card().info("gb_addr_config"));
  args.num_banks = 0;
  args.num_ranks = 0;
  return 0;
}

// What a driver answers whose GPUs do not offer shared virtual memory (capability bit 27 is clear on every node).
int ioctl_svm(Call&) { return -EPERM; }

// The first debugger interface was taken out of the kernel; its numbers were kept.
int ioctl_old_debugger(Call&) { return -EPERM; }

// Nobody but a debugger that attached with ptrace may ask, and the model has no such relation.
int ioctl_dbg_trap(Call&) { return -EPERM; }

int ioctl_get_dmabuf_info(Call& call) { return call.refuse(-EINVAL, "no dma-buf of a simulated GPU exists"); }
int ioctl_import_dmabuf(Call& call) { return call.refuse(-EINVAL, "no dma-buf of a simulated GPU exists"); }
int ioctl_export_dmabuf(Call& call) { return call.refuse(-EINVAL, "buffers cannot be exported"); }
int ioctl_smi_events(Call& call) { return call.refuse(-ENODEV, "no event stream"); }
int ioctl_criu_op(Call& call) { return call.refuse(-EINVAL, "no checkpoints"); }

}  // namespace vgpu
