// Peer access. No GPU maps another's memory yet, which is what these say.
#include "runtime/core/device.h"

#include "runtime/api/entry.h"

using namespace barehip;
using namespace barehip::runtime;

extern "C" hipError_t hipDeviceCanAccessPeer(int* canAccessPeer, int deviceId, int peerDeviceId) {
  return enter(api_id("hipDeviceCanAccessPeer"), [&]() -> Result<void> {
    if (!canAccessPeer) return invalid("hipDeviceCanAccessPeer", "canAccessPeer is null");
    for (const int ordinal : {deviceId, peerDeviceId})
      if (const auto properties = device_properties(ordinal); !properties) return std::unexpected(properties.error());
    *canAccessPeer = 0;
    return {};
  });
}
