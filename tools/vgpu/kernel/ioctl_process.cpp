// Version, apertures, binding to the GPUs' address spaces, clocks, policies.
#include <errno.h>
#include <time.h>

#include <algorithm>

#include "tools/vgpu/kernel/ioctl.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr uint64_t kApertureSize = 0xffffffff;
constexpr uint32_t kUncheckedNodesMinor = 11;  // Linux 6.1 takes any number of nodes
constexpr uint32_t kTooManyNodes = 1u << 20;
constexpr uint64_t kGpuVmLimit = 0x7fffffffffff;

uint64_t clock_ns(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// Of the GPU's address space the driver keeps the bottom: 16 MiB, then 16 KiB, now 64 KiB.
uint64_t gpuvm_base(uint32_t kfd_minor) { return kfd_minor <= 11 ? 0x1000000 : kfd_minor <= 13 ? 0x4000 : 0x10000; }

std::vector<const Gpu*> visible(const Machine& machine) {
  std::vector<const Gpu*> gpus;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.options.render != NodeAccess::kCgroup) gpus.push_back(&gpu);
  }
  return gpus;
}

uapi::Apertures apertures_of(const Gpu& gpu, uint32_t kfd_minor) {
  return {.lds_base = gpu.config.shared_aperture,
          .lds_limit = gpu.config.shared_aperture | kApertureSize,
          .scratch_base = gpu.config.private_aperture,
          .scratch_limit = gpu.config.private_aperture | kApertureSize,
          .gpuvm_base = gpuvm_base(kfd_minor),
          .gpuvm_limit = kGpuVmLimit,
          .gpu_id = gpu.gpu_id,
          .pad = 0};
}

}  // namespace

int ioctl_get_version(Call& call) {
  call.as<uapi::GetVersion>() = {uapi::kMajor, call.kernel.machine().options.kfd_minor};
  return 0;
}

int ioctl_get_process_apertures(Call& call) {
  auto& args = call.as<uapi::GetProcessApertures>();
  args = {};
  for (const Gpu* gpu : visible(call.kernel.machine())) {
    if (args.num_of_nodes == std::size(args.apertures)) break;
    args.apertures[args.num_of_nodes++] = apertures_of(*gpu, call.kernel.machine().options.kfd_minor);
  }
  return 0;
}

int ioctl_get_process_apertures_new(Call& call) {
  auto& args = call.as<uapi::GetProcessAperturesNew>();
  const Machine& machine = call.kernel.machine();
  const auto gpus = visible(machine);
  if (args.num_of_nodes == 0) {
    args.num_of_nodes = static_cast<uint32_t>(gpus.size());
    return 0;
  }
  // More than the topology has: later kernels refuse it, earlier ones only run out of memory.
  if (machine.options.kfd_minor > kUncheckedNodesMinor) {
    if (args.num_of_nodes > machine.gpus.size() + machine.options.cpu_nodes) return -EINVAL;
  } else if (args.num_of_nodes > kTooManyNodes) {
    return -ENOMEM;
  }
  std::vector<uapi::Apertures> all;
  for (const Gpu* gpu : gpus) all.push_back(apertures_of(*gpu, machine.options.kfd_minor));
  all.resize(std::min<size_t>(all.size(), args.num_of_nodes));
  if (!copy_to_user(args.apertures_ptr, all.data(), all.size() * sizeof(uapi::Apertures))) return -EFAULT;
  args.num_of_nodes = static_cast<uint32_t>(all.size());
  return 0;
}

int ioctl_acquire_vm(Call& call) {
  const auto& args = call.as<uapi::AcquireVm>();
  const auto file = call.kernel.drm_file(static_cast<int>(args.drm_fd));
  if (file == nullptr) return -EINVAL;
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr || file->gpu != device->gpu) return -EINVAL;
  // A file that another process made its own stays that process's.
  if (file->compute_pid != 0 && file->compute_pid != call.process.pid) return -EINVAL;
  if (device->vm_file != nullptr) return device->vm_file == file ? 0 : -EBUSY;
  device->vm_file = file;
  file->compute_pid = call.process.pid;
  return 0;
}

int ioctl_set_memory_policy(Call& call) {
  const auto& args = call.as<uapi::SetMemoryPolicy>();
  if (args.default_policy > 1 || args.alternate_policy > 1) return -EINVAL;
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  // On gfx9 and later the policy sets a register that decides nothing for page-table-mapped memory.
  return device->acquired() ? 0 : -ESRCH;
}

int ioctl_get_clock_counters(Call& call) {
  auto& args = call.as<uapi::GetClockCounters>();
  const ProcessDevice* device = call.process.device(args.gpu_id);
  args.gpu_clock = device == nullptr ? 0 : gpu_clock_now(device->gpu->config);  // an unknown id is how CPU nodes ask
  args.cpu_clock = clock_ns(CLOCK_MONOTONIC_RAW);
  args.system_clock = clock_ns(CLOCK_BOOTTIME);
  args.system_freq = 1'000'000'000;
  return 0;
}

int ioctl_set_scratch_backing_va(Call& call) {
  const auto& args = call.as<uapi::SetScratchBackingVa>();
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  if (!device->acquired()) return -ESRCH;
  device->scratch_va = args.va << 16;  // used only by hardware without a scheduler; AQL queues carry their own
  return 0;
}

int ioctl_set_trap_handler(Call& call) {
  const auto& args = call.as<uapi::SetTrapHandler>();
  std::lock_guard lock(call.process.mutex);
  ProcessDevice* device = call.process.device(args.gpu_id);
  if (device == nullptr) return -EINVAL;
  if (!device->acquired()) return -ESRCH;
  device->trap_tba = args.tba;
  device->trap_tma = args.tma;
  if (device->runner != nullptr) device->runner->cp().set_trap_handler(args.tba, args.tma);
  return 0;
}

}  // namespace vgpu
