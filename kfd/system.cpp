// Opening: the order of calls is the contract of docs/kfd.md.
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include <amdgpu_drm.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include <barehip/device.h>

#include "kfd/gpu_properties.h"
#include "kfd/log.h"
#include "kfd/memory.h"
#include "kfd/no_gpu.h"

namespace barehip {
namespace kfd {
namespace {

constexpr uint32_t kSupportedMajor = 1;
constexpr uint32_t kMinorOfXnack = 5;
constexpr uint32_t kMinorOfRuntimeEnable = 13;
constexpr uint32_t kCapDebugFirmware = 1u << 29;
constexpr uint32_t kMaxDevices = 64;  // bits of a mapping mask

/// One opened System under construction. Each step returns its own error; what earlier steps made is owned by
/// `system` and goes away with it.
class Opener {
 public:
  Opener(const barehip_os_table& os, System& system, SystemImpl& impl) : os_(os), system_(system), impl_(impl) {}

  Result<void> run() {
    for (const auto step : {&Opener::open_kfd, &Opener::handshake, &Opener::open_gpus, &Opener::read_apertures,
                            &Opener::acquire_vms, &Opener::enable_runtime, &Opener::set_policies, &Opener::read_xnack,
                            &Opener::start_clocks, &Opener::map_hdp_pages}) {
      if (Result<void> done = (this->*step)(); !done) return done;
    }
    return {};
  }

 private:
  Result<void> open_kfd();
  Result<void> handshake();
  Result<void> open_gpus();
  Result<std::unique_ptr<DeviceImpl>> open_gpu(const TopologyNode& node, const Topology& topology);
  Result<void> read_apertures();
  Result<void> acquire_vms();
  Result<void> enable_runtime();
  Result<void> set_policies();
  Result<void> read_xnack();
  Result<void> start_clocks();
  Result<void> map_hdp_pages();

  const barehip_os_table& os_;
  System& system_;
  SystemImpl& impl_;
  size_t node_count_ = 0;
};

Result<void> Opener::open_kfd() {
  const std::string path = std::string(os_.dev_root) + "/kfd";
  const int fd = open_restarting(os_, path, O_RDWR);
  if (fd < 0) return std::unexpected(explain_kfd_open(os_, path, fd));
  impl_.kfd = Fd(&os_, fd);
  impl_.client = Client(&os_, fd);
  return {};
}

Result<void> Opener::handshake() {
  uapi::get_version_args args{};
  const int rc = impl_.client.get_version(args);
  if (rc < 0) return call_failed("GET_VERSION", rc, "asking the driver for its version");
  if (args.major_version != kSupportedMajor)
    return fail(ErrorCode::kNotSupported, "GET_VERSION",
                "The kernel's KFD interface has major version " + std::to_string(args.major_version) +
                    "; barehip speaks version 1.");
  impl_.minor = args.minor_version;
  return {};
}

/// Which of two reasons for having no GPU the user hears: what he can remedy comes first.
bool tells_more(const Error& a, const Error& b) {
  const auto rank = [](ErrorCode code) {
    return code == ErrorCode::kNoPermission ? 3 : code == ErrorCode::kDeviceHidden ? 2 : 1;
  };
  return rank(a.code) > rank(b.code);
}

Result<void> Opener::open_gpus() {
  Result<Topology> topology = read_topology(os_);
  if (!topology) {
    if (topology.error().sys_errno == ENOENT) topology.error().code = ErrorCode::kNoDevice;
    return std::unexpected(std::move(topology.error()));
  }
  node_count_ = topology->nodes.size();
  std::optional<Error> worst;
  for (const TopologyNode& node : topology->nodes) {
    if (node.gpu_id == 0 && !node.denied) continue;
    Result<std::unique_ptr<DeviceImpl>> device = open_gpu(node, *topology);
    if (device) {
      if (impl_.devices.size() == kMaxDevices) {
        impl_.skipped.push_back("The GPU of topology node " + std::to_string(node.id) +
                                " is left out: barehip drives at most 64.");
        continue;
      }
      const auto index = static_cast<uint32_t>(impl_.devices.size());
      (*device)->index = index;
      // The page's first 8 bytes are the System's own.
      void* epoch = static_cast<uint64_t*>(impl_.alive_page.at()) + 1 + index;
      impl_.devices.push_back(DeviceImpl::make_device(std::move(*device), epoch));
      continue;
    }
    const ErrorCode code = device.error().code;
    const bool left_out =
        code == ErrorCode::kNoPermission || code == ErrorCode::kDeviceHidden || code == ErrorCode::kNotSupported;
    if (!left_out) return std::unexpected(std::move(device.error()));
    impl_.skipped.push_back(device.error().text);
    if (!worst || tells_more(device.error(), *worst)) worst = std::move(device.error());
  }
  if (!impl_.devices.empty()) return {};
  return std::unexpected(worst ? std::move(*worst) : explain_no_gpu_node(os_));
}

Result<std::unique_ptr<DeviceImpl>> Opener::open_gpu(const TopologyNode& node, const Topology& topology) {
  if (node.denied) return std::unexpected(explain_denied_node(node.id));
  auto impl = std::make_unique<DeviceImpl>();
  Result<GpuProperties> properties = properties_from_node(node, topology);
  if (!properties) return std::unexpected(std::move(properties.error()));
  impl->system = &system_;
  impl->properties = std::move(*properties);
  const std::string path =
      std::string(os_.dev_root) + "/dri/renderD" + std::to_string(impl->properties.drm_render_minor);
  const int fd = open_restarting(os_, path, O_RDWR);
  if (fd < 0) return std::unexpected(explain_render_open(os_, path, node.id, fd));
  impl->render = Fd(&os_, fd);
  drm_amdgpu_info_device info{};
  const int rc = os_.gpu_info(os_.self, fd, &info, sizeof info);
  if (rc < 0) return call_failed("AMDGPU_INFO", rc, "asking " + path + " what its GPU is");
  if (Result<void> known = add_dev_info(impl->properties, info); !known)
    return std::unexpected(std::move(known.error()));
  impl->properties.marketing_name = marketing_name(os_, impl->properties.device_id, impl->properties.pci_revision);
  return impl;
}

// Entries come in the driver's order and name their GPU; a GPU without one is denied to this process.
Result<void> Opener::read_apertures() {
  std::vector<uapi::process_device_apertures> apertures(node_count_);
  uapi::get_process_apertures_new_args args{};
  args.kfd_process_device_apertures_ptr = reinterpret_cast<uint64_t>(apertures.data());
  args.num_of_nodes = static_cast<uint32_t>(apertures.size());
  const int rc = impl_.client.get_process_apertures_new(args);
  if (rc < 0) return call_failed("GET_PROCESS_APERTURES_NEW", rc, "asking for the address ranges of the GPUs");
  apertures.resize(std::min<size_t>(args.num_of_nodes, apertures.size()));
  for (const std::unique_ptr<Device>& device : impl_.devices) {
    GpuProperties& properties = device->impl().properties;
    const auto found = std::find_if(apertures.begin(), apertures.end(),
                                    [&](const auto& entry) { return entry.gpu_id == properties.gpu_id; });
    if (found == apertures.end())
      return fail(ErrorCode::kNoPermission, "GET_PROCESS_APERTURES_NEW",
                  "The driver gives this process no access to " + properties.gfx + " (gpu_id " +
                      std::to_string(properties.gpu_id) + "), though its render device opens.");
    add_apertures(properties, *found);
  }
  return {};
}

Result<void> Opener::acquire_vms() {
  for (const std::unique_ptr<Device>& device : impl_.devices) {
    uapi::acquire_vm_args args{};
    args.drm_fd = static_cast<uint32_t>(device->impl().render.get());
    args.gpu_id = device->properties().gpu_id;
    const int rc = impl_.client.acquire_vm(args);
    if (rc >= 0) continue;
    Error error = call_error("ACQUIRE_VM", rc, "taking the address space of " + device->properties().gfx);
    if (rc == -EBUSY) {
      error.code = ErrorCode::kOutOfResources;
      error.text +=
          "; another GPU runtime is at work in this process (or was, or an earlier opening failed half way), "
          "and there can be one only";
    }
    return std::unexpected(std::move(error));
  }
  return {};
}

// Without it the driver does not report traps and illegal instructions of kernels. It has to come before any
// queue, and the driver wants firmware that can do it on every GPU.
Result<void> Opener::enable_runtime() {
  const bool firmware = std::all_of(
      impl_.devices.begin(), impl_.devices.end(),
      [](const std::unique_ptr<Device>& device) { return (device->properties().capability & kCapDebugFirmware) != 0; });
  if (!firmware || impl_.minor < kMinorOfRuntimeEnable) return {};
  uapi::runtime_enable_args args{};
  args.mode_mask = uapi::kRuntimeEnable;
  const int rc = impl_.client.runtime_enable(args);
  switch (rc) {
    case 0: impl_.runtime_enabled = impl_.runtime_is_ours = true; return {};
    case -EBUSY:  // another runtime of this process enabled it: in force, but not ours to take back
      impl_.runtime_enabled = true;
      return {};
    case -EEXIST:  // another runtime of this process has queues already: too late, the trap handler reports
                   // alone
      return {};
    default: return call_failed("RUNTIME_ENABLE", rc, "asking the driver for reports of exceptions");
  }
}

Result<void> Opener::set_policies() {
  for (const std::unique_ptr<Device>& device : impl_.devices) {
    const GpuProperties& p = device->properties();
    uapi::set_memory_policy_args args{};
    args.alternate_aperture_base = p.gpuvm_base;
    args.alternate_aperture_size = p.gpuvm_limit - p.gpuvm_base + 1;
    args.gpu_id = p.gpu_id;
    args.default_policy = uapi::kPolicyNoncoherent;
    args.alternate_policy = uapi::kPolicyCoherent;
    const int rc = impl_.client.set_memory_policy(args);
    if (rc < 0) return call_failed("SET_MEMORY_POLICY", rc, "setting the memory policy of " + p.gfx);
  }
  return {};
}

Result<void> Opener::read_xnack() {
  if (impl_.minor < kMinorOfXnack) return {};
  uapi::set_xnack_mode_args args{};
  args.xnack_enabled = -1;  // asks
  const int rc = impl_.client.set_xnack_mode(args);
  // A kernel without shared virtual memory answers EPERM: page faults are not retried there.
  if (rc == -EPERM) return {};
  if (rc < 0) return call_failed("SET_XNACK_MODE", rc, "asking whether page faults are retried");
  for (const std::unique_ptr<Device>& device : impl_.devices)
    device->impl().properties.xnack = args.xnack_enabled > 0 && device->properties().gfx_major == 9;
  return {};
}

Result<void> Opener::start_clocks() {
  for (const std::unique_ptr<Device>& device : impl_.devices) {
    const Result<ClockSample> sample = device->sample_clocks();
    if (!sample) return std::unexpected(sample.error());
    device->impl().clock.start(*sample, device->properties().clock_hz);
  }
  return {};
}

// Some kernels and virtual machines have no such page; Device::can_flush_hdp says so.
Result<void> Opener::map_hdp_pages() {
  for (const std::unique_ptr<Device>& device : impl_.devices) MemoryAccess::map_hdp_page(device->impl(), *device);
  return {};
}

}  // namespace

Result<std::unique_ptr<System>> SystemImpl::open(const barehip_os_table& os) {
  if (sizeof(void*) != 8) return fail(ErrorCode::kNotSupported, "open GPU", "The driver serves 64-bit processes only.");
  std::unique_ptr<System> system(new System);
  SystemImpl& impl = *system->impl_;
  impl.os = &os;
  // Wiped by fork, which is how a child knows that it is one.
  Result<Mapping> alive =
      map(os, nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, "the fork mark");
  if (!alive) return std::unexpected(std::move(alive.error()));
  const int rc = os.madvise(os.self, alive->at(), kPage, MADV_WIPEONFORK);
  if (rc < 0) return call_failed("madvise", rc, "marking a page to be wiped by fork");
  *static_cast<volatile uint32_t*>(alive->at()) = 1;
  system->alive_ = static_cast<const volatile uint32_t*>(alive->at());
  impl.alive_page = std::move(*alive);
  if (Result<void> done = Opener(os, *system, impl).run(); !done) return std::unexpected(std::move(done.error()));
  impl.signals = std::make_unique<SignalPool>(*system);
  return system;
}

Result<Watcher*> SystemImpl::ensure_watcher(System& system) {
  const std::lock_guard lock(watcher_mutex);
  if (watcher == nullptr) {
    Result<std::unique_ptr<Watcher>> started = Watcher::start(system);
    if (!started) return std::unexpected(std::move(started.error()));
    watcher = std::move(*started);
  }
  return watcher.get();
}

}  // namespace kfd

Result<std::unique_ptr<System>> System::open(const barehip_os_table& os) { return kfd::SystemImpl::open(os); }

System::System() : impl_(std::make_unique<kfd::SystemImpl>()) {}

System::~System() {
  if (alive_ == nullptr) return;
  if (!usable()) {  // a forked child: nothing of this is the child's to give back
    (void)impl_.release();
    return;
  }
  impl_->watcher.reset();
  impl_->signals.reset();
  if (impl_->runtime_is_ours) {
    kfd::uapi::runtime_enable_args args{};
    const int rc = impl_->client.runtime_enable(args);
    if (rc < 0) kfd::log_warning(kfd::call_error("RUNTIME_ENABLE", rc, "ending the reports of exceptions").text);
  }
  // Once the kernel has the event page it writes there until the process ends, and refuses to free it.
  if (impl_->event_page_known) kfd::MemoryAccess::abandon(impl_->event_page);
  impl_->event_page = Memory();
  impl_->devices.clear();
}

std::span<const std::unique_ptr<Device>> System::devices() const { return impl_->devices; }
std::span<const std::string> System::skipped() const { return impl_->skipped; }
uint32_t System::kfd_minor() const { return impl_->minor; }
bool System::runtime_enabled() const { return impl_->runtime_enabled; }
SignalPool& System::signals() const { return *impl_->signals; }
const barehip_os_table& System::os() const { return *impl_->os; }

}  // namespace barehip
