// The matrix instructions' list of operations.
#pragma once

#include <span>

#include "tools/vgpu/shader/exec_table.h"

namespace vgpu::valu {

std::span<const ExecEntry> matrix_entries();

}  // namespace vgpu::valu
