// Modules.
#include "runtime/core/module.h"

#include "runtime/api/entry.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

Result<void> load_data(hipModule_t* module, const void* image) {
  if (!module || !image) return invalid("hipModuleLoadData", "module or image is null");
  return store(module, module_load_data(image));
}

}  // namespace

extern "C" {

hipError_t hipModuleLoad(hipModule_t* module, const char* fname) {
  return enter(api_id("hipModuleLoad"), [&]() -> Result<void> {
    if (!module || !fname) return invalid("hipModuleLoad", "module or fname is null");
    return store(module, module_load_file(fname));
  });
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return enter(api_id("hipModuleLoadData"), [&] { return load_data(module, image); });
}

hipError_t hipModuleLoadFatBinary(hipModule_t* module, const void* fatbin) {
  return enter(api_id("hipModuleLoadFatBinary"), [&] { return load_data(module, fatbin); });
}

/// JIT options are about compiling; a code object is compiled already, so they have nothing to act on.
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int numOptions, hipJitOption* options,
                               void** optionValues) {
  return enter(api_id("hipModuleLoadDataEx"), [&]() -> Result<void> {
    if (numOptions && (!options || !optionValues)) return invalid("hipModuleLoadDataEx", "options are missing");
    return load_data(module, image);
  });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return enter(api_id("hipModuleUnload"), [&] { return module_unload(handle(module)); });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* kname) {
  return enter(api_id("hipModuleGetFunction"), [&]() -> Result<void> {
    if (!function || !kname || !*kname) return invalid("hipModuleGetFunction", "function or kname is null or empty");
    return store(function, module_function(handle(module), kname));
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* dptr, size_t* bytes, hipModule_t hmod, const char* name) {
  return enter(api_id("hipModuleGetGlobal"), [&]() -> Result<void> {
    if ((!dptr && !bytes) || !name || !*name) return invalid("hipModuleGetGlobal", "no output, or no name");
    const Result<GlobalVariable> variable = module_global(handle(hmod), name);
    if (!variable) return std::unexpected(variable.error());
    if (dptr) *dptr = variable->address;
    if (bytes) *bytes = variable->bytes;
    return {};
  });
}

}  // extern "C"
