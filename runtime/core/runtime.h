// The process's one Runtime: opened on the first API call that needs a GPU, never destroyed.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include <barehip/device.h>

#include "runtime/core/allocations.h"
#include "runtime/core/context.h"
#include "runtime/core/handle_table.h"
#include "runtime/core/unsupported.h"

namespace barehip::runtime {

class EventImpl;
class Function;
class Module;

class Runtime {
 public:
  /// Opens the GPUs on first use and remembers a failure. In a child made by fork(): kNotInitialized.
  /// Cost once open: two loads.
  static Result<Runtime*> get();
  /// The table to open instead of the one that the environment names. For tests (counting, failing calls), before the
  /// first get(); it must live until exit.
  static void set_os_table(const barehip_os_table& os);
  /// The open one, or null. For paths that must not open anything.
  static Runtime* if_open() { return instance_.load(std::memory_order_acquire); }

  System& system() const { return *system_; }
  SignalCache& signals() { return signals_; }
  size_t device_count() const { return contexts_.size(); }
  DeviceContext* context_or_null(int ordinal) const {
    const auto index = static_cast<size_t>(ordinal);
    return index < contexts_.size() ? contexts_[index].get() : nullptr;
  }
  /// kInvalidDevice when there is no such ordinal.
  Result<DeviceContext*> context(int ordinal);

  const Unsupported& unsupported() const { return unsupported_; }

  AllocationTable allocations;
  HandleTable<Stream, HandleKind::kStream> streams;
  HandleTable<EventImpl, HandleKind::kEvent> events;
  HandleTable<Module, HandleKind::kModule> modules;
  HandleTable<const Function, HandleKind::kFunction> functions;

 private:
  Runtime(std::unique_ptr<System> system, Unsupported unsupported);
  static Result<Runtime*> open();

  static std::atomic<Runtime*> instance_;

  std::unique_ptr<System> system_;
  Unsupported unsupported_;
  SignalCache signals_;
  std::vector<std::unique_ptr<DeviceContext>> contexts_;  ///< by HIP ordinal
};

}  // namespace barehip::runtime
