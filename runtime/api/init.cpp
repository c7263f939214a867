// Start-up, versions, and functions by name.
#include "runtime/api/addresses.h"
#include "runtime/api/entry.h"
#include "runtime/core/device.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

/// The version that a stock library of this soname reports: major * 10^7 + minor * 10^5 + patch.
int version() {
  switch (kLibraryGeneration) {
    case 5: return 50731921;
    case 7: return 70253211;
    default: return 60443484;
  }
}

struct Lookup {
  void (*address)() = nullptr;
  bool too_new = false;
};

/// `hip_version` in the form major * 100 + minor * 10 that programs pass. From 6.0 on the plain names of two functions
/// mean their R0600 forms, as in the headers.
Lookup find(std::string_view name, int hip_version, bool per_thread) {
  if (hip_version >= 600 && name == "hipGetDeviceProperties") name = "hipGetDevicePropertiesR0600";
  if (hip_version >= 600 && name == "hipChooseDevice") name = "hipChooseDeviceR0600";
  const std::string spt = std::string(name) + "_spt";
  Lookup result;
  for (const ApiAddress& entry : api_addresses()) {
    const ApiFunction& function = api_function(entry.id);
    if (!function.exported_by(kLibraryGeneration)) {
      result.too_new |= function.symbol == name;
      continue;
    }
    if (function.symbol == name && !result.address) result.address = entry.address;
    if (per_thread && function.symbol == spt) result.address = entry.address;
  }
  return result;
}

}  // namespace

extern "C" {

hipError_t hipInit(unsigned int flags) {
  return enter(api_id("hipInit"), [&]() -> Result<void> {
    if (flags != 0) return invalid("hipInit", "flags must be 0");
    const Result<int> count = device_count();
    if (!count) return std::unexpected(count.error());
    return {};
  });
}

hipError_t hipRuntimeGetVersion(int* runtimeVersion) {
  return enter(api_id("hipRuntimeGetVersion"), [&]() -> Result<void> {
    if (!runtimeVersion) return invalid("hipRuntimeGetVersion", "runtimeVersion is null");
    *runtimeVersion = version();
    return {};
  });
}

hipError_t hipDriverGetVersion(int* driverVersion) {
  return enter(api_id("hipDriverGetVersion"), [&]() -> Result<void> {
    if (!driverVersion) return invalid("hipDriverGetVersion", "driverVersion is null");
    const Result<int> count = device_count();
    if (!count) return std::unexpected(count.error());
    *driverVersion = version();
    return {};
  });
}

hipError_t hipGetProcAddress(const char* symbol, void** pfn, int hipVersion, uint64_t flags,
                             hipDriverProcAddressQueryResult* symbolStatus) {
  return enter(api_id("hipGetProcAddress"), [&]() -> Result<void> {
    if (!symbol || !*symbol || !pfn) return invalid("hipGetProcAddress", "symbol or pfn is null or empty");
    constexpr uint64_t kPerThread = 2;  // HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
    const Lookup found = find(symbol, hipVersion, flags == kPerThread);
    if (symbolStatus)
      *symbolStatus = found.address   ? HIP_GET_PROC_ADDRESS_SUCCESS
                      : found.too_new ? HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                      : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!found.address) return invalid("hipGetProcAddress", "no such function in this library");
    *pfn = reinterpret_cast<void*>(found.address);
    return {};
  });
}

}  // extern "C"
