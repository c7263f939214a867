// From a topology node, the driver's DEV_INFO and the apertures to GpuProperties.
#pragma once

#include <barehip/device.h>

#include "kfd/topology.h"
#include "kfd/uapi.h"

struct drm_amdgpu_info_device;

namespace barehip::kfd {

/// What the node's files say. Error: a missing or impossible value (names the file), or kNotSupported for a
/// GPU that is neither gfx9 nor gfx11. `topology` tells which ends of links are CPUs.
Result<GpuProperties> properties_from_node(const TopologyNode& node, const Topology& topology);

/// Family, revision and clock; and the target where the node did not say it (before Linux 5.16).
/// Error: kNotSupported for a chip that is not known either way.
Result<void> add_dev_info(GpuProperties& properties, const drm_amdgpu_info_device& info);
void add_apertures(GpuProperties& properties, const uapi::process_device_apertures& apertures);

/// Looks the card up in libdrm's table of names ("/usr/share/libdrm/amdgpu.ids"); empty when it is not there.
std::string marketing_name(const barehip_os_table& os, uint32_t device_id, uint32_t pci_revision);

}  // namespace barehip::kfd
