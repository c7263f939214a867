// Devices.
#include "runtime/core/device.h"

#include <cstdio>
#include <cstring>

#include "runtime/api/device_prop.h"
#include "runtime/api/entry.h"
#include "runtime/api/extra_exports.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

template <class Property>
Result<void> get_properties(Property* out, int ordinal) {
  if (!out) return invalid("hipGetDeviceProperties", "prop is null");
  const Result<const DeviceProperties*> properties = device_properties(ordinal);
  if (!properties) return std::unexpected(properties.error());
  fill(*out, **properties);
  return {};
}

/// The device with the most wishes met; the first of equals. A wish is a member that is not zero.
template <class Property>
Result<void> choose(int* device, const Property* wish) {
  if (!device || !wish) return invalid("hipChooseDevice", "device or prop is null");
  const Result<int> count = device_count();
  if (!count) return std::unexpected(count.error());
  int best = 0, best_score = -1;
  for (int ordinal = 0; ordinal < *count; ++ordinal) {
    Property property{};
    if (auto got = get_properties(&property, ordinal); !got) return got;
    const int score = (wish->major && property.major >= wish->major) + (wish->minor && property.minor >= wish->minor) +
                      (wish->totalGlobalMem && property.totalGlobalMem >= wish->totalGlobalMem) +
                      (wish->sharedMemPerBlock && property.sharedMemPerBlock >= wish->sharedMemPerBlock) +
                      (wish->multiProcessorCount && property.multiProcessorCount >= wish->multiProcessorCount) +
                      (wish->clockRate && property.clockRate >= wish->clockRate) +
                      (wish->warpSize && property.warpSize == wish->warpSize);
    if (score > best_score) {
      best_score = score;
      best = ordinal;
    }
  }
  *device = best;
  return {};
}

template <class Use>
Result<void> with_properties(int ordinal, Use&& use) {
  const Result<const DeviceProperties*> properties = device_properties(ordinal);
  if (!properties) return std::unexpected(properties.error());
  return use(**properties);
}

/// Hints about caches and LDS banks, which no GPU of ours lets a program choose; only their value is checked.
Result<void> accept_hint(bool known) { return known ? Result<void>{} : invalid("device hint", "unknown value"); }

unsigned& device_flags() {
  constinit thread_local unsigned flags = hipDeviceScheduleAuto;
  return flags;
}

}  // namespace

extern "C" {

hipError_t hipGetDeviceCount(int* count) {
  return enter(api_id("hipGetDeviceCount"), [&]() -> Result<void> {
    if (!count) return invalid("hipGetDeviceCount", "count is null");
    const Result<int> found = device_count();
    *count = found ? *found : 0;  // with an error too: programs print it
    if (!found) return std::unexpected(found.error());
    return {};
  });
}

hipError_t hipGetDevice(int* deviceId) {
  return enter(api_id("hipGetDevice"), [&]() -> Result<void> {
    if (!deviceId) return invalid("hipGetDevice", "deviceId is null");
    if (const Result<int> count = device_count(); !count) return std::unexpected(count.error());
    *deviceId = current_device();
    return {};
  });
}

hipError_t hipSetDevice(int deviceId) {
  return enter(api_id("hipSetDevice"), [&] { return set_device(deviceId); });
}

hipError_t hipDeviceSynchronize(void) {
  return enter(api_id("hipDeviceSynchronize"), [] { return device_synchronize(); });
}

hipError_t hipDeviceReset(void) {
  return enter(api_id("hipDeviceReset"), [] { return device_reset(); });
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* prop, int deviceId) {
  return enter(api_id("hipGetDevicePropertiesR0600"), [&] { return get_properties(prop, deviceId); });
}
hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* prop, int device) {
  return enter(api_id("hipGetDevicePropertiesR0000"), [&] { return get_properties(prop, device); });
}
/// The plain symbol keeps the 5.x structure in every generation: that is what old programs pass.
BAREHIP_EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* prop, int deviceId) {
  return enter(api_id("hipGetDeviceProperties"), [&] { return get_properties(prop, deviceId); });
}

hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* prop) {
  return enter(api_id("hipChooseDeviceR0600"), [&] { return choose(device, prop); });
}
hipError_t hipChooseDeviceR0000(int* device, const hipDeviceProp_tR0000* prop) {
  return enter(api_id("hipChooseDeviceR0000"), [&] { return choose(device, prop); });
}
BAREHIP_EXPORT hipError_t hipChooseDevice(int* device, const hipDeviceProp_tR0000* prop) {
  return enter(api_id("hipChooseDevice"), [&] { return choose(device, prop); });
}

hipError_t hipDeviceGetAttribute(int* pi, hipDeviceAttribute_t attr, int deviceId) {
  return enter(api_id("hipDeviceGetAttribute"), [&]() -> Result<void> {
    if (!pi) return invalid("hipDeviceGetAttribute", "pi is null");
    return store(pi, device_attribute(deviceId, static_cast<int>(attr)));
  });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return enter(api_id("hipDeviceGet"), [&]() -> Result<void> {
    if (!device) return invalid("hipDeviceGet", "device is null");
    return with_properties(ordinal, [&](const DeviceProperties&) -> Result<void> {
      *device = ordinal;
      return {};
    });
  });
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return enter(api_id("hipDeviceComputeCapability"), [&]() -> Result<void> {
    if (!major || !minor) return invalid("hipDeviceComputeCapability", "major or minor is null");
    return with_properties(device, [&](const DeviceProperties& properties) -> Result<void> {
      *major = static_cast<int>(properties.compute_major);
      *minor = static_cast<int>(properties.compute_minor);
      return {};
    });
  });
}

hipError_t hipDeviceGetName(char* name, int len, hipDevice_t device) {
  return enter(api_id("hipDeviceGetName"), [&]() -> Result<void> {
    if (!name || len <= 0) return invalid("hipDeviceGetName", "no room for the name");
    return with_properties(device, [&](const DeviceProperties& properties) -> Result<void> {
      copy_text(name, static_cast<size_t>(len), properties.name);
      return {};
    });
  });
}

hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return enter(api_id("hipDeviceGetUuid"), [&]() -> Result<void> {
    if (!uuid) return invalid("hipDeviceGetUuid", "uuid is null");
    return with_properties(device, [&](const DeviceProperties& properties) -> Result<void> {
      std::memcpy(uuid->bytes, properties.uuid, sizeof(uuid->bytes));
      return {};
    });
  });
}

hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return enter(api_id("hipDeviceTotalMem"), [&]() -> Result<void> {
    if (!bytes) return invalid("hipDeviceTotalMem", "bytes is null");
    return with_properties(device, [&](const DeviceProperties& properties) -> Result<void> {
      *bytes = properties.total_global_bytes;
      return {};
    });
  });
}

hipError_t hipDeviceGetPCIBusId(char* pciBusId, int len, int device) {
  return enter(api_id("hipDeviceGetPCIBusId"), [&]() -> Result<void> {
    constexpr int kTextBytes = 13;  // "dddd:bb:dd.f" and its end
    if (!pciBusId || len < kTextBytes) return invalid("hipDeviceGetPCIBusId", "the text takes 13 bytes");
    return with_properties(device, [&](const DeviceProperties& properties) -> Result<void> {
      std::snprintf(pciBusId, static_cast<size_t>(len), "%04x:%02x:%02x.0", properties.pci_domain, properties.pci_bus,
                    properties.pci_device);
      return {};
    });
  });
}

hipError_t hipDeviceGetByPCIBusId(int* device, const char* pciBusId) {
  return enter(api_id("hipDeviceGetByPCIBusId"), [&]() -> Result<void> {
    unsigned domain = 0, bus = 0, dev = 0;
    if (!device || !pciBusId || std::sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &dev) != 3)
      return invalid("hipDeviceGetByPCIBusId", "device is null or the text is not dddd:bb:dd.f");
    return store(device, device_by_pci(domain, bus, dev));
  });
}

hipError_t hipGetDeviceFlags(unsigned int* flags) {
  return enter(api_id("hipGetDeviceFlags"), [&]() -> Result<void> {
    if (!flags) return invalid("hipGetDeviceFlags", "flags is null");
    *flags = device_flags();
    return {};
  });
}

/// How a thread waits is decided by the runtime (a short spin, then the kernel event), so the schedule flags are kept
/// as what they are in HIP, a preference.
hipError_t hipSetDeviceFlags(unsigned int flags) {
  return enter(api_id("hipSetDeviceFlags"), [&]() -> Result<void> {
    constexpr unsigned kKnown = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
    const unsigned schedule = flags & hipDeviceScheduleMask;
    if ((flags & ~kKnown) || (schedule & (schedule - 1))) return invalid("hipSetDeviceFlags", "unknown flags");
    device_flags() = flags;
    return {};
  });
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* cacheConfig) {
  return enter(api_id("hipDeviceGetCacheConfig"), [&]() -> Result<void> {
    if (!cacheConfig) return invalid("hipDeviceGetCacheConfig", "cacheConfig is null");
    *cacheConfig = hipFuncCachePreferNone;
    return {};
  });
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig) {
  return enter(api_id("hipDeviceSetCacheConfig"), [&] { return accept_hint(cacheConfig <= hipFuncCachePreferEqual); });
}
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* pConfig) {
  return enter(api_id("hipDeviceGetSharedMemConfig"), [&]() -> Result<void> {
    if (!pConfig) return invalid("hipDeviceGetSharedMemConfig", "pConfig is null");
    *pConfig = hipSharedMemBankSizeFourByte;
    return {};
  });
}
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  return enter(api_id("hipDeviceSetSharedMemConfig"),
               [&] { return accept_hint(config <= hipSharedMemBankSizeEightByte); });
}

}  // extern "C"
