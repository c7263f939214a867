#include "runtime/core/module.h"

#include <cstdio>
#include <vector>

#include "codeobj/bundle.h"
#include "runtime/core/module_impl.h"
#include "runtime/core/runtime.h"
#include "runtime/core/thread_state.h"

namespace barehip::runtime {
namespace {

Result<std::vector<std::byte>> read_file(const char* path) {
  constexpr const char* kOperation = "load module";
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "rbe"), std::fclose);
  if (!file) return fail(ErrorCode::kFileNotFound, kOperation, std::string("cannot open ") + path, errno);
  std::vector<std::byte> bytes;
  std::byte buffer[65536];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, file.get()))
    bytes.insert(bytes.end(), buffer, buffer + count);
  if (std::ferror(file.get()))
    return fail(ErrorCode::kFileNotFound, kOperation, std::string("cannot read ") + path, errno);
  return bytes;
}

Result<Handle> load_module(std::span<const std::byte> container) {
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  auto code = LoadedCode::load(**context, container);
  if (!code) return std::unexpected(code.error());
  auto module = std::make_unique<Module>(std::move(*code));
  const Handle handle = Runtime::if_open()->modules.insert(module.get());
  if (handle == 0) return fail(ErrorCode::kOutOfResources, "load module", "all module handles are in use");
  module.release();
  return handle;
}

Result<Module*> find_module(Handle handle) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  Module* module = (*runtime)->modules.find(handle);
  if (module == nullptr)
    return fail(ErrorCode::kInvalidHandle, "find module", "the module does not exist (never loaded, or unloaded)");
  return module;
}

Result<const Function*> find_function(Handle handle) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  const Function* function = (*runtime)->functions.find(handle);
  if (function == nullptr)
    return fail(ErrorCode::kInvalidHandle, "find function", "the function does not exist, or its module was unloaded");
  return function;
}

FunctionAttributes describe(const Function& function) {
  const codeobj::Kernel& kernel = function.kernel;
  const DeviceProperties& device = function.context.properties();
  FunctionAttributes out;
  out.static_lds_bytes = kernel.group_bytes;
  out.private_bytes_per_lane = kernel.private_bytes;
  out.vgprs = kernel.vgpr_count;
  out.sgprs = kernel.sgpr_count;
  out.max_threads_per_block = function.max_threads;
  out.max_dynamic_lds_bytes = device.lds_bytes_per_block - std::min(device.lds_bytes_per_block, kernel.group_bytes);
  out.kernarg_bytes = kernel.kernarg_bytes;
  out.binary_version = static_cast<int>(device.compute_major * 10 + device.compute_minor);
  return out;
}

}  // namespace

Result<Handle> handle_of(Function& function) {
  Handle handle = function.handle.load(std::memory_order_acquire);
  if (handle) return handle;
  auto& table = Runtime::if_open()->functions;
  const Handle made = table.insert(&function);
  if (made == 0) return fail(ErrorCode::kOutOfResources, "get function", "all function handles are in use");
  if (function.handle.compare_exchange_strong(handle, made, std::memory_order_acq_rel)) return made;
  table.erase(made);
  return handle;
}

Result<Handle> module_load_data(const void* image) {
  if (image == nullptr) return fail(ErrorCode::kInvalidArgument, "load module", "the image is null");
  if (auto runtime = Runtime::get(); !runtime) return std::unexpected(runtime.error());
  auto bytes = codeobj::measure_image(image);
  if (!bytes) return std::unexpected(bytes.error());
  return load_module({static_cast<const std::byte*>(image), *bytes});
}

Result<Handle> module_load_file(const char* path) {
  if (path == nullptr) return fail(ErrorCode::kInvalidArgument, "load module", "the file name is null");
  auto bytes = read_file(path);
  if (!bytes) return std::unexpected(bytes.error());
  return load_module(*bytes);
}

Result<void> module_unload(Handle handle) {
  auto found = find_module(handle);
  if (!found) return std::unexpected(found.error());
  if (auto done = (*found)->code().context().synchronize(); !done) return done;
  const std::unique_ptr<Module> module(Runtime::if_open()->modules.erase(handle));
  return {};
}

Result<Handle> module_function(Handle handle, const char* name) {
  if (name == nullptr) return fail(ErrorCode::kInvalidArgument, "get function", "the name is null");
  auto module = find_module(handle);
  if (!module) return std::unexpected(module.error());
  Function* function = (*module)->code().find_function(name);
  if (function == nullptr)
    return fail(ErrorCode::kNotFound, "get function", std::string("the module has no kernel '") + name + "'");
  return handle_of(*function);
}

Result<GlobalVariable> module_global(Handle handle, const char* name) {
  if (name == nullptr) return fail(ErrorCode::kInvalidArgument, "get global", "the name is null");
  auto module = find_module(handle);
  if (!module) return std::unexpected(module.error());
  const LoadedCode& code = (*module)->code();
  const codeobj::Variable* variable = code.find_variable(name);
  if (variable == nullptr)
    return fail(ErrorCode::kNotFound, "get global", std::string("the module has no variable '") + name + "'");
  return GlobalVariable{reinterpret_cast<void*>(code.address_of(*variable)), variable->size};
}

Result<FunctionAttributes> function_attributes(Handle handle) {
  auto function = find_function(handle);
  if (!function) return std::unexpected(function.error());
  return describe(**function);
}

Result<FunctionAttributes> host_function_attributes(const void* host_function) {
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  auto function = find_host_function(host_function, **context);
  if (!function) return std::unexpected(function.error());
  return describe(**function);
}

Result<Handle> function_by_symbol(const void* host_function) {
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  auto function = find_host_function(host_function, **context);
  if (!function) return std::unexpected(function.error());
  return handle_of(const_cast<Function&>(**function));
}

Result<const char*> function_name(Handle handle) {
  auto function = find_function(handle);
  if (!function) return std::unexpected(function.error());
  return (*function)->kernel.name.c_str();
}

}  // namespace barehip::runtime
