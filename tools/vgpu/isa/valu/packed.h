// One source of a packed 16-bit operation.
#pragma once

#include "tools/vgpu/isa/valu/lanes.h"

namespace vgpu::valu {

/// op_sel chooses the half that feeds the low result, op_sel_hi the one that feeds the high result; neg_lo and neg_hi
/// flip the sign of floating point halves.
class PackedSource {
 public:
  void load(const Wave& w, const Inst& i, size_t n) {
    const Operand& operand = i.src[n];
    row_ = raw_row(w, i, n, 0, buffer_);
    low_shift_ = operand.hi ? 16 : 0;
    high_shift_ = operand.hi_hi ? 16 : 0;
    const bool is_float = operand.type == OperandType::kV2F16 || operand.type == OperandType::kV2Bf16;
    low_flip_ = is_float && operand.neg ? 0x8000 : 0;
    high_flip_ = is_float && operand.abs ? 0x8000 : 0;
  }
  u16 low(unsigned lane) const { return static_cast<u16>(row_[lane] >> low_shift_ ^ low_flip_); }
  u16 high(unsigned lane) const { return static_cast<u16>(row_[lane] >> high_shift_ ^ high_flip_); }

 private:
  const u32* row_ = nullptr;
  unsigned low_shift_ = 0, high_shift_ = 0;
  u32 low_flip_ = 0, high_flip_ = 0;
  Row buffer_;
};

}  // namespace vgpu::valu
