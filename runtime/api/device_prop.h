// DeviceProperties in the two layouts of hipDeviceProp_t.
#pragma once

#include <string>

#include <hip/detail/device_prop.h>

#include "runtime/core/device.h"

namespace barehip::runtime {

void fill(hipDeviceProp_tR0000& out, const DeviceProperties& in);
void fill(hipDeviceProp_tR0600& out, const DeviceProperties& in);

/// At most room - 1 characters, always ended.
void copy_text(char* out, size_t room, const std::string& text);

}  // namespace barehip::runtime
