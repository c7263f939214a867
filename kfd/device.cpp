#include <barehip/device.h>

#include <cerrno>
#include <new>

#include "kfd/impl.h"

namespace barehip {

namespace uapi = kfd::uapi;

namespace kfd {

std::unique_ptr<Device> DeviceImpl::make_device(std::unique_ptr<DeviceImpl> impl, void* epoch) {
  std::unique_ptr<Device> device(new Device(std::move(impl)));
  device->epoch_ = new (epoch) std::atomic<uint64_t>(1);
  return device;
}

void DeviceImpl::set_hdp_page(Device& device, void* page) { device.hdp_page_ = static_cast<volatile uint32_t*>(page); }

const char* DeviceImpl::name_of_page(uint64_t page) {
  const std::lock_guard lock(names_mutex);
  for (const NamedRange& range : names)
    if (page - range.address < range.bytes) return range.text;
  return nullptr;
}

void DeviceImpl::set_error(Device& device, Error error) {
  {
    const std::lock_guard lock(error_mutex_);
    if (error_ == nullptr) {
      error_ = std::make_unique<Error>(std::move(error));
      device.error_.store(error_.get(), std::memory_order_release);
      // After the error: who finds the device broken finds out why.
      device.epoch_->fetch_or(Device::kBroken, std::memory_order_release);
    }
  }
  system->impl().waiters.wake_all(system->impl().client);
}

}  // namespace kfd

Device::Device(std::unique_ptr<kfd::DeviceImpl> impl) : impl_(std::move(impl)) {}
void Device::name_addresses(uint64_t address, uint64_t bytes, const char* text) {
  const std::lock_guard lock(impl_->names_mutex);
  impl_->names.push_back({address, bytes, text});
}
Device::~Device() {
  impl_->trap_table = Memory();
  impl_->hdp_page = kfd::Mapping();
  impl_->hdp_memory = Memory();
}

const GpuProperties& Device::properties() const { return impl_->properties; }
System& Device::system() const { return *impl_->system; }
uint32_t Device::index() const { return impl_->index; }

Result<uint64_t> Device::available_vram() const {
  constexpr uint32_t kMinorOfAvailable = 9;
  const kfd::SystemImpl& system_impl = system().impl();
  if (!system().usable()) return kfd::forked_child("query memory");
  if (system_impl.minor < kMinorOfAvailable)
    return fail(ErrorCode::kNotSupported, "query memory",
                "Free memory is known since KFD 1.9; this kernel has 1." + std::to_string(system_impl.minor) + ".");
  uapi::get_available_memory_args args{};
  args.gpu_id = properties().gpu_id;
  const int rc = system_impl.client.get_available_memory(args);
  if (rc < 0) return kfd::call_failed("AVAILABLE_MEMORY", rc, "asking for the free memory of " + properties().gfx);
  return args.available;
}

Result<ClockSample> Device::sample_clocks() const {
  if (!system().usable()) return kfd::forked_child("read clocks");
  uapi::get_clock_counters_args args{};
  args.gpu_id = properties().gpu_id;
  const int rc = system().impl().client.get_clock_counters(args);
  if (rc < 0) return kfd::call_failed("GET_CLOCK_COUNTERS", rc, "reading the clocks of " + properties().gfx);
  return ClockSample{args.gpu_clock_counter, args.system_clock_counter};
}

Result<uint64_t> Device::ticks_to_ns(uint64_t ticks) const {
  if (impl_->clock.wants_sample(ticks)) {
    const Result<ClockSample> sample = sample_clocks();
    if (!sample) return std::unexpected(sample.error());
    impl_->clock.add(*sample);
  }
  return impl_->clock.to_ns(ticks);
}

Result<void> Device::install_trap_handler(const Memory& code, uint64_t offset) {
  constexpr uint64_t kTableEntries = uapi::kDoorbellSliceBytes / sizeof(uint64_t);
  constexpr uint64_t kHandlerAlignment = 256;
  const uint64_t start = code.gpu_address() + offset;
  if (!system().usable()) return kfd::forked_child("install trap handler");
  if (impl_->queues.load(std::memory_order_relaxed) != 0)
    return fail(ErrorCode::kInvalidArgument, "install trap handler",
                "A trap handler is installed before the first queue is made.");
  if (!code || start % kHandlerAlignment != 0 || offset >= code.bytes())
    return fail(ErrorCode::kInvalidArgument, "install trap handler",
                "A trap handler starts inside its memory, at a multiple of 256.");
  MemoryOptions options;
  options.kind = MemoryKind::kHostUncached;
  Result<Memory> table =
      Memory::allocate(*impl_->system->devices()[index()], kTableEntries * sizeof(uint64_t), options);
  if (!table) return std::unexpected(std::move(table.error()));
  uapi::set_trap_handler_args args{};
  args.tba_addr = start;
  args.tma_addr = table->gpu_address();
  args.gpu_id = properties().gpu_id;
  const int rc = system().impl().client.set_trap_handler(args);
  if (rc < 0) return kfd::call_failed("SET_TRAP_HANDLER", rc, "installing the trap handler of " + properties().gfx);
  const std::lock_guard lock(impl_->trap_mutex);
  impl_->trap_table = std::move(*table);
  return {};
}

}  // namespace barehip
