// Reading and writing scalar operands of a decoded instruction.
#pragma once

#include <cstdint>
#include <cstring>

#include "tools/vgpu/isa/inst.h"
#include "tools/vgpu/shader/wave.h"

namespace vgpu {

/// The operand's bits, from the register file or from the instruction. VCCZ and EXECZ never get here: see
/// with_condition_sources in exec_table.cpp.
template <class T>
inline T scalar(const Wave& wave, const Operand& operand) {
  const void* from = operand.is_sgpr() ? static_cast<const void*>(&wave.s[operand.index]) : &operand.value;
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
inline void set_scalar(Wave& wave, const Operand& operand, T value) {
  std::memcpy(&wave.s[operand.index], &value, sizeof value);
}

}  // namespace vgpu
