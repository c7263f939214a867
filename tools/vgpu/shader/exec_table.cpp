#include "tools/vgpu/shader/exec_table.h"

#include <array>

#include "tools/vgpu/isa/decoder.h"
#include "tools/vgpu/shader/exec_lists.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {

namespace {

using Table = std::array<ExecFn, static_cast<size_t>(Op::kCount)>;

void refuse_illegal(Wave& w, const Inst&) {
  w.raise(WaveError::Kind::kIllegalInstruction, "not an instruction of this target");
}

void refuse_unsupported(Wave& w, const Inst& i) {
  w.raise(WaveError::Kind::kUnsupported, "vgpu does not execute " + std::string(op_name(i.op)));
}

void refuse_lds_direct(Wave& w, const Inst&) {
  w.raise(WaveError::Kind::kUnsupported, "vgpu has no LDS direct sources");
}

void refuse_gds(Wave& w, const Inst&) { w.raise(WaveError::Kind::kUnsupported, "vgpu has no global data share"); }

const Table& table() {
  static const Table kTable = [] {
    Table made;
    made.fill(refuse_unsupported);
    made[static_cast<size_t>(Op::kNone)] = refuse_illegal;
    for (const auto entries : {valu_exec_entries(), salu_exec_entries(), salu_float_exec_entries(),
                               program_exec_entries(), smem_exec_entries(), flat_exec_entries(), ds_exec_entries(),
                               buffer_exec_entries(), buffer_format_exec_entries()}) {
      for (const ExecEntry& entry : entries) {
        const Op op = find_op(entry.mnemonic);
        if (op != Op::kNone) made[static_cast<size_t>(op)] = entry.function;
      }
    }
    return made;
  }();
  return kTable;
}

bool is_condition(const Operand& operand) {
  return operand.kind == Operand::Kind::kVccz || operand.kind == Operand::Kind::kExecz;
}

bool is_scalar_alu(Format format) {
  return format == Format::kSop1 || format == Format::kSop2 || format == Format::kSopc || format == Format::kSopk;
}

// VCCZ and EXECZ as scalar sources are so rare that they are turned into constants of a copy at each execution.
void with_condition_sources(Wave& w, const Inst& i) {
  Inst copy = i;
  for (Operand& source : copy.src) {
    if (!is_condition(source)) continue;
    source.value = (source.kind == Operand::Kind::kVccz ? w.vcc() : w.exec()) == 0;
    source.kind = Operand::Kind::kConstant;
  }
  table()[static_cast<size_t>(i.op)](w, copy);
}

}  // namespace

ExecFn exec_function(const Inst& inst) {
  if (inst.gds) return refuse_gds;
  for (const Operand& source : inst.src) {
    if (source.kind == Operand::Kind::kLdsDirect) return refuse_lds_direct;
  }
  if (is_scalar_alu(inst.format)) {
    for (const Operand& source : inst.src) {
      if (is_condition(source)) return with_condition_sources;
    }
  }
  return table()[static_cast<size_t>(inst.op)];
}

bool is_executed(Op op) {
  const ExecFn function = table()[static_cast<size_t>(op)];
  return function != refuse_unsupported && function != refuse_illegal;
}

}  // namespace vgpu
