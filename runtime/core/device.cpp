#include "runtime/core/device.h"

#include "runtime/core/properties.h"
#include "runtime/core/runtime.h"
#include "runtime/core/thread_state.h"

namespace barehip::runtime {

Result<int> device_count() {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  return static_cast<int>((*runtime)->device_count());
}

Result<DeviceContext*> device(int ordinal) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  auto context = (*runtime)->context(ordinal);
  if (!context) return context;
  if (auto healthy = (*context)->check(); !healthy) return std::unexpected(healthy.error());
  return context;
}

Result<DeviceContext*> current_context() { return device(current_device()); }

Result<void> set_device(int ordinal) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  auto context = (*runtime)->context(ordinal);
  if (!context) return std::unexpected(context.error());
  set_current_device(ordinal, (*context)->null_stream_if_made());
  return {};
}

Result<const DeviceProperties*> device_properties(int ordinal) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  auto context = (*runtime)->context(ordinal);
  if (!context) return std::unexpected(context.error());
  return &(*context)->properties();
}

Result<int> device_attribute(int ordinal, int attribute) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  auto context = (*runtime)->context(ordinal);
  if (!context) return std::unexpected(context.error());
  return attribute_value((*context)->properties(), (*context)->device().properties(), attribute);
}

Result<MemoryInfo> memory_info() {
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  auto available = (*context)->device().available_vram();
  if (!available) return std::unexpected(available.error());
  return MemoryInfo{static_cast<size_t>(*available), (*context)->properties().total_global_bytes};
}

Result<void> device_synchronize() {
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  return (*context)->synchronize();
}

Result<void> device_reset() {
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  if (auto done = (*context)->synchronize(); !done) return done;
  std::map<uint64_t, std::shared_ptr<Allocation>> freed;
  Runtime::if_open()->allocations.remove_all(**context, freed);
  return {};
}

Result<int> device_by_pci(uint32_t domain, uint32_t bus, uint32_t dev) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  for (size_t i = 0; i < (*runtime)->device_count(); ++i) {
    const DeviceProperties& p = (*(*runtime)->context(static_cast<int>(i)))->properties();
    if (p.pci_domain == domain && p.pci_bus == bus && p.pci_device == dev) return static_cast<int>(i);
  }
  return fail(ErrorCode::kInvalidDevice, "find device by PCI address", "no visible GPU has this PCI address");
}

Result<void> device_check() {
  Runtime* runtime = Runtime::if_open();
  if (runtime == nullptr) return {};
  auto context = runtime->context(current_device());
  return context ? (*context)->check() : Result<void>{};
}

}  // namespace barehip::runtime
