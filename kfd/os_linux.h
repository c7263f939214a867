// The real kernel behind the seam.
#pragma once

#include "kfd/os.h"

namespace barehip::kfd {

/// System calls as they are; gpu_info goes through libdrm_amdgpu. Constant, never fails.
const barehip_os_table* os_linux();

}  // namespace barehip::kfd
