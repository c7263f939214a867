// The lists of operations of matrix instructions and 8-bit floats.
#pragma once

#include <span>

#include "tools/vgpu/shader/exec_table.h"

namespace vgpu::valu {

std::span<const ExecEntry> matrix_entries();
std::span<const ExecEntry> wmma_entries();
std::span<const ExecEntry> convert8_entries();

}  // namespace vgpu::valu
