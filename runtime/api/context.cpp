// Contexts: HIP has deprecated them; the primary context's state is all that programs still ask for.
#include "runtime/core/device.h"

#include "runtime/api/entry.h"

using namespace barehip;
using namespace barehip::runtime;

extern "C" hipError_t hipDevicePrimaryCtxGetState(hipDevice_t dev, unsigned int* flags, int* active) {
  return enter(api_id("hipDevicePrimaryCtxGetState"), [&]() -> Result<void> {
    if (!flags || !active) return invalid("hipDevicePrimaryCtxGetState", "flags or active is null");
    if (const auto properties = device_properties(dev); !properties) return std::unexpected(properties.error());
    *flags = 0;
    *active = current_device() == dev ? 1 : 0;
    return {};
  });
}
