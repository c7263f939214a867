// What barehip-info says about devices.
#pragma once

namespace barehip::info {

/// Prints every device's properties, or why there is none. Returns the exit code: 0 with a device, 1 without.
int print_devices(bool json);

/// Prints the table of environment variables.
int print_environment(bool json);

}  // namespace barehip::info
