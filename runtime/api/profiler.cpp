// Names of API functions, kernels and streams' devices, for tools.
#include "runtime/api/entry.h"
#include "runtime/core/module.h"
#include "runtime/core/stream.h"

using namespace barehip;
using namespace barehip::runtime;

extern "C" {

int hipGetStreamDeviceId(hipStream_t stream) {
  const Result<int> device = stream_device(handle(stream));
  return device ? *device : hipInvalidDeviceId;
}

const char* hipKernelNameRef(const hipFunction_t f) {
  const Result<const char*> name = function_name(handle(f));
  return name ? *name : nullptr;
}

const char* hipKernelNameRefByPtr(const void* hostFunction, hipStream_t) {
  const Result<Handle> function = function_by_symbol(hostFunction);
  if (!function) return nullptr;
  const Result<const char*> name = function_name(*function);
  return name ? *name : nullptr;
}

}  // extern "C"
