// The registry that clang's start-up code fills: fat binaries, their kernels' host stubs, their variables' shadows.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "codeobj/bundle.h"
#include "runtime/core/log.h"
#include "runtime/core/module_impl.h"
#include "runtime/core/pointer_map.h"
#include "runtime/core/runtime.h"
#include "runtime/core/thread_state.h"

namespace barehip::runtime {
namespace {

constexpr uint32_t kWrapperMagic = 0x48495046;  // "HIPF"
constexpr size_t kMaxDevices = 64;

struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void* binary;
  void* unused;
};

/// One translation unit's (or, with -fgpu-rdc, one program's) device code, for all GPUs.
class FatBinary {
 public:
  explicit FatBinary(const Wrapper* wrapper) : wrapper_(wrapper) {}

  /// Loads the code for a GPU on first use; a failure is remembered for that GPU. Takes this binary's lock.
  Result<const LoadedCode*> code(DeviceContext& context);
  /// Frees what was loaded and cannot be running.
  void unload();

  std::vector<const void*> functions;  ///< keys in the registry, for unregistering
  std::vector<const void*> variables;

 private:
  Result<std::unique_ptr<LoadedCode>> load(DeviceContext& context) const;

  const Wrapper* wrapper_;
  Mutex mutex_;
  std::array<std::unique_ptr<LoadedCode>, kMaxDevices> loaded_;
  std::array<std::unique_ptr<Error>, kMaxDevices> failed_;
};

struct HostFunction {
  FatBinary* binary = nullptr;
  std::string device_name;
};

struct HostVariable {
  FatBinary* binary = nullptr;
  std::string device_name;
  size_t bytes = 0;
};

/// Lives from the first registration (which may be before main) until exit; never destroyed.
struct Registry {
  Mutex mutex;  ///< for the lists of the binaries
  PointerMap<HostFunction> functions;
  PointerMap<HostVariable> variables;
};
constinit std::atomic<Registry*> g_registry{nullptr};

Registry& registry() {
  if (Registry* made = g_registry.load(std::memory_order_acquire)) return *made;
  static auto* const kRegistry = new Registry;
  g_registry.store(kRegistry, std::memory_order_release);
  return *kRegistry;
}

Result<std::unique_ptr<LoadedCode>> FatBinary::load(DeviceContext& context) const {
  constexpr const char* kOperation = "load fat binary";
  if (wrapper_ == nullptr || wrapper_->magic != kWrapperMagic || wrapper_->binary == nullptr)
    return fail(ErrorCode::kInvalidImage, kOperation, "the registered fat binary has no valid wrapper (magic HIPF)");
  auto bytes = codeobj::measure_image(wrapper_->binary);
  if (!bytes) return std::unexpected(bytes.error());
  return LoadedCode::load(context, {static_cast<const std::byte*>(wrapper_->binary), *bytes});
}

Result<const LoadedCode*> FatBinary::code(DeviceContext& context) {
  const auto ordinal = static_cast<size_t>(context.ordinal());
  if (ordinal >= kMaxDevices)
    return fail(ErrorCode::kNotSupported, "load fat binary", "code is loaded for the first 64 devices only");
  std::lock_guard lock(mutex_);
  if (failed_[ordinal]) return std::unexpected(*failed_[ordinal]);
  if (!loaded_[ordinal]) {
    auto code = load(context);
    if (!code) {
      // Memory may be there the next time; bytes do not change.
      const ErrorCode why = code.error().code;
      if (why == ErrorCode::kInvalidImage || why == ErrorCode::kNoBinaryForGpu || why == ErrorCode::kNotSupported) {
        tell_user(code.error());  // a launch with <<<>>> returns nothing, and many programs never ask
        failed_[ordinal] = std::make_unique<Error>(code.error());
      }
      return std::unexpected(code.error());
    }
    loaded_[ordinal] = std::move(*code);
  }
  return loaded_[ordinal].get();
}

void FatBinary::unload() {
  std::lock_guard lock(mutex_);
  for (auto& code : loaded_) {
    // This runs at dlclose, but also at exit, where waiting for a kernel could mean waiting for ever: code that may
    // still run stays.
    if (code && (code->context().device().error() || !code->context().idle())) code.release();
    code.reset();
  }
}

/// First use of a kernel on a GPU.
Result<const Function*> resolve(const void* key, const HostFunction& host, DeviceContext& context) {
  auto code = host.binary->code(context);
  if (!code) return std::unexpected(code.error());
  const Function* function = (*code)->find_function(host.device_name);
  if (function == nullptr)
    return fail(ErrorCode::kInvalidFunction, "find kernel",
                "the code for " + context.properties().gfx + " has no kernel '" + host.device_name + "'");
  // Not when the binary was unregistered meanwhile: nobody would take the entry out again.
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  if (all.functions.find(key) == &host) context.kernels.insert(key, function);
  return function;
}

/// Needs the registry's lock.
void forget_loaded(const void* key) {
  const Runtime* runtime = Runtime::if_open();
  for (size_t i = 0; runtime && i < runtime->device_count(); ++i)
    runtime->context_or_null(static_cast<int>(i))->kernels.erase(key);
}

}  // namespace

void** fat_binary_register(const void* wrapper) {
  return reinterpret_cast<void**>(new FatBinary(static_cast<const Wrapper*>(wrapper)));
}

void fat_binary_unregister(void** handle) {
  if (handle == nullptr) return;
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  Registry& all = registry();
  {
    std::lock_guard lock(all.mutex);
    for (const void* key : binary->functions) {
      all.functions.erase(key);
      forget_loaded(key);
    }
    for (const void* key : binary->variables) all.variables.erase(key);
  }
  // The binary's object and its entries stay: another thread may have just found one.
  if (Runtime::if_open()) binary->unload();
}

void fat_binary_add_function(void** handle, const void* host_function, const char* device_name) {
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  if (binary == nullptr || host_function == nullptr || device_name == nullptr) return;
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  auto* function = new HostFunction;
  function->binary = binary;
  function->device_name = device_name;
  binary->functions.push_back(host_function);
  all.functions.insert(host_function, function);
}

void fat_binary_add_variable(void** handle, const void* host_variable, const char* device_name, size_t bytes) {
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  if (binary == nullptr || host_variable == nullptr || device_name == nullptr) return;
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  binary->variables.push_back(host_variable);
  all.variables.insert(host_variable, new HostVariable{binary, device_name, bytes});
}

void fat_binary_add_managed(void** handle, void** host_pointer, const void* initial, size_t bytes, size_t alignment) {
  if (handle == nullptr || host_pointer == nullptr || bytes == 0) return;
  const size_t unit = std::max(alignment, sizeof(void*));
  void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr) return;
  if (initial)
    std::memcpy(memory, initial, bytes);
  else
    std::memset(memory, 0, bytes);
  *host_pointer = memory;  // until exit, as the variable
}

Result<const Function*> find_host_function(const void* host_function, DeviceContext& context) {
  const HostFunction* host = host_function ? registry().functions.find(host_function) : nullptr;
  if (host == nullptr) [[unlikely]]
    return fail(ErrorCode::kInvalidFunction, "find kernel",
                host_function ? "the function is not a registered kernel" : "the function is null");
  if (const Function* function = context.kernels.find(host_function)) return function;
  return resolve(host_function, *host, context);
}

Result<GlobalVariable> symbol(const void* host_variable) {
  const HostVariable* host = host_variable ? registry().variables.find(host_variable) : nullptr;
  if (host == nullptr)
    return fail(ErrorCode::kInvalidSymbol, "find device variable", "the address is not that of a registered variable");
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  auto code = host->binary->code(**context);
  if (!code) return std::unexpected(code.error());
  const codeobj::Variable* variable = (*code)->find_variable(host->device_name);
  if (variable == nullptr)
    return fail(ErrorCode::kInvalidSymbol, "find device variable",
                "the device code has no variable '" + host->device_name + "'");
  return GlobalVariable{reinterpret_cast<void*>((*code)->address_of(*variable)), variable->size};
}

}  // namespace barehip::runtime
