// Runs one test vector on a wave of the model and says how the outcome differs.
#pragma once

#include <string>

#include "tests/unit/visa/vector_file.h"
#include "tools/vgpu/isa/inst.h"

namespace vectors {

/// Empty when everything agrees; else what differs. `op` becomes the operation that ran.
std::string run(const Row& row, const std::string& target, vgpu::Op& op);
std::string run(const Folded& folded, const std::string& target, vgpu::Op& op);
/// `ops`: every operation that was executed.
std::string run(const Program& program, const std::string& target, std::vector<vgpu::Op>& ops);

}  // namespace vectors
