// Assembler text of one instruction, piece by piece. Internal to this folder.
//
// The text is LLVM 19's, so that listings can be compared with llvm-objdump and the oracle test can compare ours.
#pragma once

#include <string>

#include "tools/vgpu/isa/op_table.h"

namespace vgpu::isa {

class TextWriter {
 public:
  TextWriter(const Inst& inst, IsaTarget target)
      : inst_(inst), info_(op_info(inst.op)), target_(target), gfx11_(is_gfx11(target)) {}

  std::string run();

 private:
  // text_scalar.cpp
  void scalar(), smem();
  bool program_operand();
  void waitcnt(), depctr(), delay_alu(), sendmsg(uint32_t message), hwreg(uint32_t value);
  // text_memory.cpp
  void ds(), flat(), buffer();
  void cache_flags(), swizzle(uint32_t offset);
  // text.cpp
  void vop(), vopd(), matrix();
  void vop_source(size_t n);
  void vop_suffixes();
  void dpp_suffix(), sdwa_suffix(), packed_suffix(), op_sel_suffix();
  std::string mnemonic();
  const OpModifiers& modifiers() const { return info_.modifiers[gfx11_]; }

  void operand(const Operand& operand);
  void registers(char prefix, unsigned first, unsigned dwords);
  void scalar_register(const Operand& operand);
  void constant(const Operand& operand);
  void next();  ///< separates operands
  void add(std::string_view text) { out_ += text; }
  void hex(uint64_t value);
  void decimal(int64_t value) { out_ += std::to_string(value); }
  void bit_list(std::string_view name, std::initializer_list<bool> values, bool unless);

  const Inst& inst_;
  const OpInfo& info_;
  IsaTarget target_;
  bool gfx11_;
  bool first_ = true;
  std::string out_;
};

}  // namespace vgpu::isa
