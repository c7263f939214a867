// From what the kernel and the target table say of a GPU to what HIP shows.
#pragma once

#include "runtime/core/device.h"

namespace barehip {
struct GpuProperties;
}

namespace barehip::runtime {

DeviceProperties make_properties(const GpuProperties& gpu);

/// hipDeviceGetAttribute by number: see device_attribute().
Result<int> attribute_value(const DeviceProperties& properties, const GpuProperties& gpu, int attribute);

}  // namespace barehip::runtime
