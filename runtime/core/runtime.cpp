#include "runtime/core/runtime.h"

#include <cerrno>
#include <cstdio>
#include <string>

#include "kfd/os.h"
#include "runtime/core/environment.h"
#include "runtime/core/log.h"

namespace barehip::runtime {
namespace {

constinit Mutex g_open_mutex;
constinit std::atomic<const Error*> g_open_error{nullptr};
constinit std::atomic<const barehip_os_table*> g_os_table{nullptr};

Result<const barehip_os_table*> choose_os_table() {
  if (const barehip_os_table* os = g_os_table.load(std::memory_order_acquire)) return os;
  return os_from_environment();
}

/// A machine without a GPU is nothing to talk about; a GPU that is there and cannot be used is.
bool is_plainly_no_gpu(const Error& error) {
  return error.code == ErrorCode::kNoDevice && error.sys_errno != ENXIO && error.sys_errno != ENODEV;
}

std::string uuid_text(const GpuProperties& gpu) {
  char text[32];
  std::snprintf(text, sizeof text, "GPU-%016llx", static_cast<unsigned long long>(gpu.unique_id));
  return gpu.unique_id ? text : std::string();
}

}  // namespace

constinit std::atomic<Runtime*> Runtime::instance_{nullptr};

Runtime::Runtime(std::unique_ptr<System> system, Unsupported unsupported)
    : system_(std::move(system)), unsupported_(std::move(unsupported)), signals_(system_->signals()) {}

void Runtime::set_os_table(const barehip_os_table& os) { g_os_table.store(&os, std::memory_order_release); }

Result<Runtime*> Runtime::get() {
  Runtime* runtime = if_open();
  if (runtime == nullptr) {
    auto opened = open();
    if (!opened) return opened;
    runtime = *opened;
  }
  if (!runtime->system_->usable()) [[unlikely]]
    return fail(
        ErrorCode::kNotInitialized, "use the GPU in a forked child",
        "the GPU's memory and queues belong to the parent process; call exec, or open the GPU in the child only");
  return runtime;
}

Result<Runtime*> Runtime::open() {
  std::lock_guard lock(g_open_mutex);
  if (Runtime* runtime = if_open()) return runtime;
  if (const Error* error = g_open_error.load(std::memory_order_relaxed)) return std::unexpected(*error);

  const auto refuse = [](Error error) -> Result<Runtime*> {
    g_open_error.store(new Error(error), std::memory_order_relaxed);
    return std::unexpected(std::move(error));
  };
  auto os = choose_os_table();
  if (!os) {
    tell_user(os.error());
    os.error().code = ErrorCode::kNoDevice;  // what programs are prepared for
    return refuse(os.error());
  }
  auto system = System::open(**os);
  if (!system) {
    if (!is_plainly_no_gpu(system.error())) tell_user(system.error());
    return refuse(system.error());
  }
  for (const std::string& skipped : (*system)->skipped()) log_line(LogLevel::kWarning, skipped);

  std::vector<std::string> uuids;
  for (const auto& device : (*system)->devices()) uuids.push_back(uuid_text(device->properties()));
  auto unsupported = Unsupported::reserve(**system);
  if (!unsupported) return refuse(unsupported.error());
  auto* runtime = new Runtime(std::move(*system), std::move(*unsupported));
  const auto devices = runtime->system_->devices();
  for (uint32_t index : visible_devices(static_cast<uint32_t>(devices.size()), uuids, environment()))
    runtime->contexts_.push_back(std::make_unique<DeviceContext>(
        *devices[index], static_cast<int>(runtime->contexts_.size()), runtime->signals_));
  if (runtime->contexts_.empty()) {
    delete runtime;
    return refuse(Error{ErrorCode::kNoDevice, 0, "choose devices",
                        "HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES leaves none of the GPUs of this machine"});
  }
  instance_.store(runtime, std::memory_order_release);
  return runtime;
}

Result<DeviceContext*> Runtime::context(int ordinal) {
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= contexts_.size())
    return fail(
        ErrorCode::kInvalidDevice, "find device",
        "there is no device " + std::to_string(ordinal) + "; this process sees " + std::to_string(contexts_.size()));
  return contexts_[static_cast<size_t>(ordinal)].get();
}

}  // namespace barehip::runtime
