// Opcode look-up of one target. Internal to this folder.
#pragma once

#include <array>

#include "tools/vgpu/isa/decoder.h"

namespace vgpu {

struct Decoder::Tables {
  explicit Tables(IsaTarget target);

  Op find(Format format, uint32_t opcode) const { return ops[size_t(format)][opcode]; }

  std::array<std::array<Op, 1024>, size_t(Format::kCount)> ops{};
};

}  // namespace vgpu
