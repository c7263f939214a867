// The debugger's side: runtime enable, traps, checkpoints.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/vgpu/kernel/ioctl.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

struct RuntimeInfo {
  uint64_t r_debug;
  uint32_t state, ttmp_setup;
};

// Operations that want a runtime that announced itself.
bool needs_runtime(uint32_t op) {
  return op == uapi::kDbgLaunchOverride || op == uapi::kDbgLaunchMode || op == uapi::kDbgSuspend ||
         op == uapi::kDbgResume || op == uapi::kDbgSetWatch || op == uapi::kDbgClearWatch || op == uapi::kDbgSetFlags;
}

bool traced_by_us(uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  FILE* status = fopen(path.c_str(), "re");
  if (status == nullptr) return false;
  int tracer = 0;
  char line[256];
  while (fgets(line, sizeof line, status) != nullptr && sscanf(line, "TracerPid: %d", &tracer) != 1) {
  }
  fclose(status);
  return tracer == getpid();
}

bool exists(uint32_t pid) { return pid != 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM); }

// words: exception mask, where the runtime's state goes, its size and a descriptor for the debugger's events.
int enable(Call& call, uapi::DbgTrap& args) {
  if (call.process.debugged) return -EALREADY;
  const auto fd = static_cast<int>(args.words[2] >> 32);
  if (fcntl(fd, F_GETFD) < 0) return -EBADF;
  const RuntimeInfo info{call.process.r_debug, call.process.runtime_enabled ? 1u : 0u,
                         call.process.ttmp_setup ? 1u : 0u};
  const auto wanted = static_cast<uint32_t>(args.words[2]);
  if (!copy_to_user(args.words[1], &info, std::min<size_t>(wanted, sizeof info))) return -EFAULT;
  args.words[2] = (args.words[2] & ~uint64_t{0xffffffff}) | sizeof info;
  call.process.debugged = true;
  call.process.debugger_exceptions = args.words[0];
  return 0;
}

}  // namespace

int ioctl_runtime_enable(Call& call) {
  const auto& args = call.as<uapi::RuntimeEnable>();
  constexpr uint32_t kEnable = 1, kSaveTtmps = 2;
  std::lock_guard lock(call.process.mutex);
  const bool on = (args.mode_mask & kEnable) != 0;
  if (on && call.process.runtime_enabled) return -EBUSY;
  if (on && !call.process.queues.empty()) return -EEXIST;
  if (call.process.debugged) return call.refuse(-EINTR, "a debugger that attached is not waited for");
  call.process.runtime_enabled = on;
  call.process.r_debug = on ? args.r_debug : 0;
  call.process.ttmp_setup = on && (args.mode_mask & kSaveTtmps) != 0;
  for (auto& device : call.process.devices) {
    if (device->runner != nullptr) device->runner->set_runtime_enabled(on);
  }
  return 0;
}

// As far as a process goes that asks about itself; of others the model knows nothing, like the driver of a process that
// never opened /dev/kfd.
int ioctl_dbg_trap(Call& call) {
  auto& args = call.as<uapi::DbgTrap>();
  if (!exists(args.pid)) return -ESRCH;
  if (static_cast<pid_t>(args.pid) != getpid()) {
    const bool could_attach = args.op == uapi::kDbgEnable && traced_by_us(args.pid);
    return could_attach ? call.refuse(-ESRCH, "another process cannot be debugged") : -ESRCH;
  }
  std::lock_guard lock(call.process.mutex);
  if (args.op == uapi::kDbgEnable) return enable(call, args);
  if (!call.process.debugged) return -EINVAL;
  if (!call.process.runtime_enabled && needs_runtime(args.op)) return -EPERM;
  switch (args.op) {
    case uapi::kDbgDisable: call.process.debugged = false; return 0;
    case uapi::kDbgSetExceptions: call.process.debugger_exceptions = args.words[0]; return 0;
    case uapi::kDbgQueryEvent: return -EAGAIN;  // nothing is reported to debuggers
    default: break;
  }
  if (args.op > uapi::kDbgDeviceSnapshot) return -EINVAL;
  return call.refuse(-EINVAL, "debugging beyond attaching and detaching");
}

int ioctl_criu_op(Call& call) {
  const auto& args = call.as<uapi::CriuOp>();
  const bool gpus = !call.kernel.machine().gpus.empty();
  switch (args.op) {
    case uapi::kCriuProcessInfo: return gpus ? call.refuse(-ENODEV, "no checkpoints") : -ENODEV;
    case uapi::kCriuCheckpoint:               // nothing was paused by a PROCESS_INFO
    case uapi::kCriuUnpause: return -EINVAL;  // the same
    case uapi::kCriuRestore:
      if ((args.num_bos > 0 && args.bos == 0) || args.devices == 0 || args.priv_data == 0 || args.priv_data_size == 0 ||
          args.num_devices == 0) {
        return -EINVAL;
      }
      return call.refuse(-EINVAL, "nothing can be restored");
    case uapi::kCriuResume:
      if (static_cast<pid_t>(args.pid) != getpid()) return -ESRCH;
      return call.refuse(-EINVAL, "nothing was restored");
    default: return -EINVAL;
  }
}

}  // namespace vgpu
