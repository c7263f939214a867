// Lists of executors beside those of exec_table.h.
#pragma once

#include <span>

#include "tools/vgpu/shader/exec_table.h"

namespace vgpu {

std::span<const ExecEntry> salu_float_exec_entries();     ///< scalar floating point
std::span<const ExecEntry> buffer_format_exec_entries();  ///< buffer accesses that convert

}  // namespace vgpu
