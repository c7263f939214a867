// The lists of operations, by subject. Each is a table in the file of the same name.
#pragma once

#include <span>

#include "tools/vgpu/shader/exec_table.h"

namespace vgpu::valu {

std::span<const ExecEntry> integer_entries();
std::span<const ExecEntry> integer16_entries();
std::span<const ExecEntry> carry_entries();
std::span<const ExecEntry> float32_entries();
std::span<const ExecEntry> float64_entries();
std::span<const ExecEntry> float16_entries();
std::span<const ExecEntry> transcendental_entries();
std::span<const ExecEntry> convert_entries();
std::span<const ExecEntry> division_entries();
std::span<const ExecEntry> compare_entries();
std::span<const ExecEntry> move_entries();
std::span<const ExecEntry> packed_entries();
std::span<const ExecEntry> dot_entries();
std::span<const ExecEntry> sad_entries();
std::span<const ExecEntry> dual_entries();

}  // namespace vgpu::valu
