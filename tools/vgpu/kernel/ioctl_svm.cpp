// Shared virtual memory and the mode of retry faults.
#include <errno.h>

#include "tools/vgpu/kernel/ioctl.h"

namespace vgpu {

namespace {

// Chips that can retry faults a process at a time; older ones only when the whole driver is loaded that way, which it
// is not, and newer ones never.
bool can_retry(const Gpu& gpu) {
  const std::string& gfx = gpu.card().gfx;
  return gfx == "gfx90a" || gfx == "gfx942" || gfx == "gfx950";
}

}  // namespace

int ioctl_svm(Call& call) {
  const auto& args = call.as<uapi::Svm>();
  const size_t attribute_bytes = size_t{args.nattr} * sizeof(uapi::SvmAttribute);
  if (call.user_bytes < sizeof(uapi::Svm) + attribute_bytes) return -EINVAL;
  if (!call.kernel.machine().options.svm) return -EPERM;  // a kernel that was built without it
  constexpr uint64_t kPageMask = kPageBytes - 1;
  if (((args.start | args.size) & kPageMask) != 0 || args.start == 0 || args.size == 0) return -EINVAL;
  const std::span attributes(reinterpret_cast<uapi::SvmAttribute*>(call.bytes.data() + sizeof(uapi::Svm)), args.nattr);
  std::lock_guard lock(call.process.mutex);
  if (args.op == uapi::kSvmOpSet) return call.process.svm.set(args.start, args.size, attributes);
  if (args.op == uapi::kSvmOpGet) return call.process.svm.get(args.start, args.size, attributes);
  return -EINVAL;
}

int ioctl_set_xnack_mode(Call& call) {
  auto& args = call.as<uapi::SetXnackMode>();
  const Machine& machine = call.kernel.machine();
  if (!machine.options.svm) return -EPERM;
  std::lock_guard lock(call.process.mutex);
  if (args.mode < 0) {
    args.mode = 0;
    return 0;
  }
  if (!call.process.queues.empty()) return -EBUSY;
  if (args.mode == 0) return 0;
  for (const Gpu& gpu : machine.gpus) {
    if (!can_retry(gpu)) return -EPERM;
  }
  return call.refuse(-EPERM, "waves cannot retry an access that faulted");
}

}  // namespace vgpu
