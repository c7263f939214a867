// Telling "there is no GPU" from "you may not use it", and what to do about either.
#pragma once

#include <string>

#include <barehip/error.h>

#include "kfd/os.h"

namespace barehip::kfd {

/// The error of opening /dev/kfd that failed with `rc` (negative errno).
Error explain_kfd_open(const barehip_os_table& os, const std::string& path, int rc);

/// Why the render node of one GPU node cannot be opened. kNoPermission for EACCES and EPERM, kDeviceHidden
/// for ENOENT, else what the errno means.
Error explain_render_open(const barehip_os_table& os, const std::string& path, uint32_t node_id, int rc);

/// The topology shows no GPU node.
Error explain_no_gpu_node(const barehip_os_table& os);

/// The device cgroup hides topology node `node_id`.
Error explain_denied_node(uint32_t node_id);

}  // namespace barehip::kfd
