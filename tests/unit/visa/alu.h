// One wave without surroundings, and instructions made by hand, for tests of single operations.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/vgpu/isa/decoder.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/wave.h"

namespace alu {

constexpr uint32_t kRegisters = 64;

class Machine {
 public:
  explicit Machine(bool wave32 = false) : file_(kRegisters * 64 + 16) {
    wave.v = file_.data() + (-(reinterpret_cast<uintptr_t>(file_.data()) / 4) & 15);
    wave.vgpr_count = kRegisters;
    wave.wave32 = wave32;
    wave.lane_mask = wave32 ? 0xffffffffull : ~0ull;
    wave.set_mask(vgpu::kExecLo, wave.lane_mask);
    wave.mode = 0x3f0;
  }

  void set_f32(uint32_t reg, uint32_t lane, float v) { wave.vgpr(reg)[lane] = std::bit_cast<uint32_t>(v); }
  float f32(uint32_t reg, uint32_t lane) const { return std::bit_cast<float>(wave.vgpr(reg)[lane]); }
  void set_f64(uint32_t reg, uint32_t lane, double v) {
    const auto bits = std::bit_cast<uint64_t>(v);
    wave.vgpr(reg)[lane] = static_cast<uint32_t>(bits);
    wave.vgpr(reg + 1)[lane] = static_cast<uint32_t>(bits >> 32);
  }
  double f64(uint32_t reg, uint32_t lane) const {
    return std::bit_cast<double>(uint64_t{wave.vgpr(reg)[lane]} | uint64_t{wave.vgpr(reg + 1)[lane]} << 32);
  }

  vgpu::Wave wave;

 private:
  std::vector<uint32_t> file_;
};

inline vgpu::Operand vgpr(uint32_t index, vgpu::OperandType type, bool neg = false) {
  vgpu::Operand o;
  o.kind = vgpu::Operand::Kind::kVgpr;
  o.index = static_cast<uint16_t>(index);
  o.type = type;
  o.dwords = type == vgpu::OperandType::kF64 ? 2 : 1;
  o.neg = neg;
  return o;
}

inline vgpu::Operand constant(uint64_t bits, vgpu::OperandType type) {
  vgpu::Operand o;
  o.kind = vgpu::Operand::Kind::kConstant;
  o.type = type;
  o.value = bits;
  return o;
}

/// Runs `mnemonic dst[, vcc], sources...` on the machine.
inline void run(Machine& m, std::string_view mnemonic, vgpu::Operand dst, std::initializer_list<vgpu::Operand> sources,
                bool vcc = false) {
  vgpu::Inst inst;
  inst.op = vgpu::find_op(mnemonic);
  inst.format = vgpu::Format::kVop3;
  inst.dst[0] = dst;
  if (vcc) {
    inst.dst[1].kind = vgpu::Operand::Kind::kSgpr;
    inst.dst[1].index = vgpu::kVccLo;
  }
  std::copy(sources.begin(), sources.end(), inst.src.begin());
  vgpu::exec_function(inst)(m.wave, inst);
}

}  // namespace alu
