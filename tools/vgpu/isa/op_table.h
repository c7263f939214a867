// The rows of instructions.tsv as the decoder and the disassembler see them. Internal to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tools/vgpu/isa/decoder.h"

namespace vgpu::isa {

enum class RegClass : uint8_t { any, vgpr, sgpr, agpr };

/// One operand of an operation's shape, in assembler order.
struct Slot {
  char role = 0;  ///< '>' destination, 's' source, '=' destination is read too, 'k' literal, 'l' label;
                  ///< memory: 'd' destination, 'a' address, 'x' 'y' data, 'b' scalar base, 'i' immediate
  RegClass cls = RegClass::any;
  OperandType type = OperandType::kNone;
  uint8_t dwords = 0;
  bool half = false;  ///< a destination of 16 bits
};

/// Modifiers that the VOP3 form has.
struct OpModifiers {
  bool neg_abs, clamp, omod, op_sel;
  uint8_t packed;  ///< VOP3P: 5 op_sel and neg for both halves, 3 and 2 the mix instructions, 6 WMMA; 0 otherwise
};

struct OpInfo {
  std::string_view name, gfx9, gfx11;
  std::array<Slot, 6> slots;
  uint8_t slot_count;
  OpModifiers modifiers[2];  ///< gfx9, gfx11
};

struct OpEncoding {
  Op op;
  Format format;
  uint16_t opcode;
  uint8_t targets;  ///< bit per IsaTarget
};

const OpInfo& op_info(Op op);
/// Number of dwords of the first slot with this role; 0 when there is none.
uint8_t slot_dwords(const OpInfo& info, char role);
/// Whether the operation has this encoding on the target.
bool has_format(Op op, Format format, IsaTarget target);

}  // namespace vgpu::isa
