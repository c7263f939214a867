// Assembler text of scalar formats, and of the program control operands that have a syntax of their own.
#include <span>

#include "tools/vgpu/isa/text.h"

namespace vgpu::isa {
namespace {

struct Named {
  unsigned id;
  const char* name;
};

constexpr Named kMessages9[] = {{1, "MSG_INTERRUPT"},    {4, "MSG_SAVEWAVE"},        {5, "MSG_STALL_WAVE_GEN"},
                                {6, "MSG_HALT_WAVES"},   {7, "MSG_ORDERED_PS_DONE"}, {8, "MSG_EARLY_PRIM_DEALLOC"},
                                {9, "MSG_GS_ALLOC_REQ"}, {10, "MSG_GET_DOORBELL"}};
constexpr Named kMessages11[] = {{1, "MSG_INTERRUPT"},     {2, "MSG_HS_TESSFACTOR"},      {3, "MSG_DEALLOC_VGPRS"},
                                 {9, "MSG_GS_ALLOC_REQ"},  {128, "MSG_RTN_GET_DOORBELL"}, {129, "MSG_RTN_GET_DDID"},
                                 {130, "MSG_RTN_GET_TMA"}, {131, "MSG_RTN_GET_REALTIME"}, {132, "MSG_RTN_SAVE_WAVE"},
                                 {133, "MSG_RTN_GET_TBA"}};
constexpr Named kRegisters9[] = {{1, "HW_REG_MODE"},    {2, "HW_REG_STATUS"},        {3, "HW_REG_TRAPSTS"},
                                 {4, "HW_REG_HW_ID"},   {5, "HW_REG_GPR_ALLOC"},     {6, "HW_REG_LDS_ALLOC"},
                                 {7, "HW_REG_IB_STS"},  {15, "HW_REG_SH_MEM_BASES"}, {16, "HW_REG_TBA_LO"},
                                 {17, "HW_REG_TBA_HI"}, {18, "HW_REG_TMA_LO"},       {19, "HW_REG_TMA_HI"}};
// Beside those.
constexpr Named kRegisters942[] = {{20, "HW_REG_XCC_ID"},
                                   {21, "HW_REG_SQ_PERF_SNAPSHOT_DATA"},
                                   {22, "HW_REG_SQ_PERF_SNAPSHOT_DATA1"},
                                   {23, "HW_REG_SQ_PERF_SNAPSHOT_PC_LO"},
                                   {24, "HW_REG_SQ_PERF_SNAPSHOT_PC_HI"}};
constexpr Named kRegisters11[] = {{1, "HW_REG_MODE"},
                                  {2, "HW_REG_STATUS"},
                                  {3, "HW_REG_TRAPSTS"},
                                  {5, "HW_REG_GPR_ALLOC"},
                                  {6, "HW_REG_LDS_ALLOC"},
                                  {7, "HW_REG_IB_STS"},
                                  {15, "HW_REG_SH_MEM_BASES"},
                                  {18, "HW_REG_PERF_SNAPSHOT_PC_LO"},
                                  {19, "HW_REG_PERF_SNAPSHOT_PC_HI"},
                                  {20, "HW_REG_FLAT_SCR_LO"},
                                  {21, "HW_REG_FLAT_SCR_HI"},
                                  {23, "HW_REG_HW_ID1"},
                                  {24, "HW_REG_HW_ID2"},
                                  {27, "HW_REG_PERF_SNAPSHOT_DATA"},
                                  {29, "HW_REG_SHADER_CYCLES"}};

const char* find_name(std::span<const Named> table, unsigned id) {
  for (const Named& row : table)
    if (row.id == id) return row.name;
  return nullptr;
}

}  // namespace

void TextWriter::waitcnt() {
  const auto v = static_cast<uint32_t>(inst_.imm) & 0xffff;
  const unsigned vm = gfx11_ ? v >> 10 : (v & 15) | (v >> 14) << 4, vm_max = 63;
  const unsigned exp = gfx11_ ? v & 7 : v >> 4 & 7;
  const unsigned lgkm = gfx11_ ? v >> 4 & 63 : v >> 8 & 15, lgkm_max = gfx11_ ? 63 : 15;
  const bool all = vm == vm_max && exp == 7 && lgkm == lgkm_max;
  auto counter = [this](const char* name, unsigned value, bool shown) {
    if (!shown) return;
    add(" ");
    add(name);
    decimal(value);
    add(")");
  };
  counter("vmcnt(", vm, all || vm != vm_max);
  counter("expcnt(", exp, all || exp != 7);
  counter("lgkmcnt(", lgkm, all || lgkm != lgkm_max);
}

void TextWriter::depctr() {
  static constexpr struct {
    const char* name;
    unsigned lo, count;
  } kFields[] = {{"depctr_hold_cnt(", 7, 1}, {"depctr_sa_sdst(", 0, 1}, {"depctr_va_vdst(", 12, 4},
                 {"depctr_va_sdst(", 9, 3},  {"depctr_va_ssrc(", 8, 1}, {"depctr_va_vcc(", 1, 1},
                 {"depctr_vm_vsrc(", 2, 3}};
  const auto v = static_cast<uint32_t>(inst_.imm) & 0xffff;
  uint32_t covered = 0;
  for (const auto& f : kFields) covered |= ((1u << f.count) - 1) << f.lo;
  if ((v & ~covered) != 0) {
    add(" ");
    return hex(v);
  }
  const bool all = (v & covered) == covered;
  for (const auto& f : kFields) {
    const unsigned max = (1u << f.count) - 1, value = v >> f.lo & max;
    if (value == max && !all) continue;
    add(" ");
    add(f.name);
    decimal(value);
    add(")");
  }
}

void TextWriter::delay_alu() {
  static constexpr const char* kIds[] = {
      "NO_DEP",        "VALU_DEP_1",    "VALU_DEP_2",        "VALU_DEP_3",   "VALU_DEP_4",   "TRANS32_DEP_1",
      "TRANS32_DEP_2", "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3"};
  static constexpr const char* kSkips[] = {"SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"};
  const auto v = static_cast<uint32_t>(inst_.imm) & 0xffff;
  const char* prefix = " ";
  auto part = [&](const char* name, unsigned value, std::span<const char* const> names, const char* bad) {
    if (value == 0) return;
    add(prefix);
    add(name);
    add(value < names.size() ? names[value] : bad);
    add(")");
    prefix = " | ";
  };
  part("instid0(", v & 15, kIds, "/* invalid instid value */");
  part("instskip(", v >> 4 & 7, kSkips, "/* invalid instskip value */");
  part("instid1(", v >> 7 & 15, kIds, "/* invalid instid value */");
  if (prefix[1] == 0) add(" 0");
}

void TextWriter::sendmsg(uint32_t message) {
  const unsigned id = gfx11_ ? message & 0xff : message & 0xf;
  const char* name = gfx11_ ? find_name(kMessages11, id) : find_name(kMessages9, id);
  if (name != nullptr && message == id) {
    add("sendmsg(");
    add(name);
    return add(")");
  }
  if ((gfx11_ && message > 0xff) || (!gfx11_ && (message & ~0x37fu) != 0)) return decimal(message);
  add("sendmsg(");
  decimal(id);
  add(", ");
  decimal(gfx11_ ? 0 : message >> 4 & 7);
  add(", ");
  decimal(gfx11_ ? 0 : message >> 8 & 3);
  add(")");
}

void TextWriter::hwreg(uint32_t value) {
  const unsigned id = value & 63, offset = value >> 6 & 31, width = (value >> 11 & 31) + 1;
  const char* name = gfx11_ ? find_name(kRegisters11, id) : find_name(kRegisters9, id);
  if (target_ == IsaTarget::kGfx942 && name == nullptr) name = find_name(kRegisters942, id);
  add("hwreg(");
  if (name != nullptr)
    add(name);
  else
    decimal(id);
  if (offset != 0 || width != 32) {
    add(", ");
    decimal(offset);
    add(", ");
    decimal(width);
  }
  add(")");
}

/// SOPP operands with their own syntax. False: a plain number.
bool TextWriter::program_operand() {
  switch (inst_.op) {
    case Op::s_waitcnt: waitcnt(); return true;
    case Op::s_waitcnt_depctr: depctr(); return true;
    case Op::s_delay_alu: delay_alu(); return true;
    case Op::s_sendmsg:
    case Op::s_sendmsghalt:
      add(" ");
      sendmsg(static_cast<uint16_t>(inst_.imm));
      return true;
    case Op::s_endpgm:
      if (inst_.imm == 0) return true;
      add(" ");
      decimal(static_cast<uint16_t>(inst_.imm));
      return true;
    case Op::s_barrier:
    case Op::s_wakeup:
    case Op::s_icache_inv:
    case Op::s_ttracedata:
    case Op::s_endpgm_saved:
    case Op::s_endpgm_ordered_ps_done:
    case Op::s_code_end:
    case Op::s_set_gpr_idx_off:
    case Op::s_wait_idle: return true;
    default: return false;
  }
}

void TextWriter::scalar() {
  const auto imm16 = static_cast<uint16_t>(inst_.imm);
  if (inst_.format == Format::kSopp) {
    if (program_operand()) return;
    const bool label = info_.slot_count > 0;
    static constexpr Op kDecimal[] = {Op::s_nop,          Op::s_sleep,        Op::s_setprio,
                                      Op::s_trap,         Op::s_sethalt,      Op::s_setkill,
                                      Op::s_incperflevel, Op::s_decperflevel, Op::s_denorm_mode};
    bool plain = label;
    for (Op op : kDecimal) plain = plain || op == inst_.op;
    add(" ");
    if (label || (plain && imm16 <= 64))
      decimal(imm16);
    else
      hex(imm16);
    return;
  }
  const bool setreg = inst_.op == Op::s_setreg_b32 || inst_.op == Op::s_setreg_imm32_b32;
  if (setreg) {
    next();
    hwreg(imm16);
  }
  if (inst_.dst[0]) {
    next();
    operand(inst_.dst[0]);
  }
  for (const Operand& source : inst_.src) {
    if (!source) continue;
    next();
    operand(source);
  }
  if (inst_.op == Op::s_setreg_imm32_b32) {
    next();
    Operand literal;
    literal.kind = Operand::Kind::kConstant;
    literal.type = OperandType::kI32;
    literal.literal = true;
    literal.value = inst_.literal;
    constant(literal);
  } else if (inst_.op == Op::s_getreg_b32) {
    next();
    hwreg(imm16);
  } else if (inst_.op == Op::s_sendmsg_rtn_b32 || inst_.op == Op::s_sendmsg_rtn_b64) {
    next();
    sendmsg(static_cast<uint32_t>(inst_.imm));
  } else if (inst_.op == Op::s_set_gpr_idx_on) {
    next();
    hex(static_cast<uint32_t>(inst_.imm));
  } else if (inst_.format == Format::kSopk && !setreg) {
    next();
    bool label = inst_.op == Op::s_version;
    for (size_t n = 0; n < info_.slot_count; ++n) label = label || info_.slots[n].role == 'l';
    if (label && (inst_.op != Op::s_version || imm16 <= 64))
      decimal(imm16);
    else
      hex(imm16);
  }
}

void TextWriter::smem() {
  const Operand &base = inst_.src[0], &soffset = inst_.src[1], &stored = inst_.src[2];
  if (stored) {
    next();
    operand(stored);
  } else if (inst_.dst[0]) {
    next();
    operand(inst_.dst[0]);
  }
  if (base) {
    next();
    operand(base);
    next();
    if (soffset)
      operand(soffset);
    else if (gfx11_ && inst_.imm == 0)
      add("null");  // both forms have the same bits; LLVM takes this one
    if (soffset && inst_.imm_offset && (!gfx11_ || inst_.imm != 0)) add(" offset:");
    if (inst_.imm_offset && (!gfx11_ || inst_.imm != 0)) {
      if (inst_.imm < 0) add("-");
      hex(static_cast<uint32_t>(inst_.imm < 0 ? -inst_.imm : inst_.imm));
    }
  }
  if (inst_.glc) add(" glc");
  if (inst_.dlc) add(" dlc");
}

}  // namespace vgpu::isa
