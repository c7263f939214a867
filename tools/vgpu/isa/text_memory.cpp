// Assembler text of vector memory formats.
#include "tools/vgpu/isa/text.h"

namespace vgpu::isa {

void TextWriter::ds() {
  for (const Operand* operand_ : {&inst_.dst[0], &inst_.src[0], &inst_.src[1], &inst_.src[2]}) {
    if (!*operand_) continue;
    next();
    operand(*operand_);
  }
  const bool two = info_.name.find("2addr") != std::string_view::npos;
  auto offset = [this](const char* name, unsigned value) {
    if (value == 0) return;
    add(name);
    decimal(value);
  };
  if (two) {
    offset(" offset0:", inst_.offset0());
    offset(" offset1:", inst_.offset1());
  } else if (inst_.op == Op::ds_swizzle_b32) {
    const auto v = static_cast<uint32_t>(inst_.imm);
    if (v != 0) {
      add(" offset:");
      swizzle(v);
    }
  } else {
    offset(" offset:", static_cast<unsigned>(inst_.imm));
  }
  if (inst_.gds) add(" gds");
}

void TextWriter::swizzle(uint32_t v) {
  auto numbers = [this](std::initializer_list<unsigned> values) {
    for (unsigned value : values) {
      add(",");
      decimal(value);
    }
    add(")");
  };
  if ((v & 0xff00) == 0x8000) {
    add("swizzle(QUAD_PERM");
    return numbers({v & 3, v >> 2 & 3, v >> 4 & 3, v >> 6 & 3});
  }
  if (v & 0x8000) return decimal(v);
  const unsigned and_mask = v & 31, or_mask = v >> 5 & 31, xor_mask = v >> 10 & 31;
  if (and_mask == 31 && or_mask == 0 && xor_mask != 0 && (xor_mask & (xor_mask - 1)) == 0) {
    add("swizzle(SWAP");
    return numbers({xor_mask});
  }
  if (and_mask == 31 && or_mask == 0 && xor_mask != 0 && (xor_mask & (xor_mask + 1)) == 0) {
    add("swizzle(REVERSE");
    return numbers({xor_mask + 1});
  }
  const unsigned group = 32 - and_mask;
  if (and_mask != 31 && (group & (group - 1)) == 0 && group > 1 && or_mask < group && xor_mask == 0) {
    add("swizzle(BROADCAST");
    return numbers({group, or_mask});
  }
  add("swizzle(BITMASK_PERM,\"");
  for (unsigned mask = 16; mask != 0; mask >>= 1) {
    const bool p0 = ((0 & and_mask) | or_mask) ^ xor_mask ? (((0u & and_mask) | or_mask) ^ xor_mask) & mask : false;
    const bool p1 = (((31u & and_mask) | or_mask) ^ xor_mask) & mask;
    add(p0 == p1 ? (p0 ? "1" : "0") : (p0 ? "i" : "p"));
  }
  add("\")");
}

void TextWriter::cache_flags() {
  if (target_ == IsaTarget::kGfx942) {
    if (inst_.glc) add(" sc0");
    if (inst_.slc) add(" nt");
    if (inst_.dlc) add(" sc1");
    return;
  }
  if (inst_.glc) add(" glc");
  if (inst_.slc) add(" slc");
  if (inst_.dlc) add(gfx11_ ? " dlc" : " scc");
}

void TextWriter::flat() {
  const Operand &vaddr = inst_.src[0], &stored = inst_.src[1], &saddr = inst_.src[2];
  const bool segment = inst_.format != Format::kFlat;
  if (inst_.dst[0]) {
    next();
    operand(inst_.dst[0]);
  }
  if (vaddr || inst_.format == Format::kScratch) {
    next();
    operand(vaddr);
  }
  if (stored) {
    next();
    operand(stored);
  }
  if (segment) {
    next();
    operand(saddr);
  }
  if (inst_.imm != 0) {
    add(" offset:");
    decimal(inst_.imm);
  }
  cache_flags();
  if (inst_.lds && info_.name.find("_lds_") == std::string_view::npos) add(" lds");
}

void TextWriter::buffer() {
  const Operand &vaddr = inst_.src[0], &stored = inst_.src[1], &resource = inst_.src[2], &soffset = inst_.src[3];
  if (!resource) {  // cache maintenance has no operands
    if (target_ == IsaTarget::kGfx942 && inst_.glc) add(" sc0");
    if (target_ == IsaTarget::kGfx942 && inst_.dlc) add(" sc1");
    return;
  }
  if (stored || inst_.dst[0]) {
    next();
    operand(stored ? stored : inst_.dst[0]);
  }
  next();
  operand(vaddr);
  next();
  operand(resource);
  next();
  operand(soffset);
  if (inst_.format == Format::kMtbuf) {
    add(" format:");
    decimal(inst_.tbuffer_format);
  }
  if (inst_.idxen) add(" idxen");
  if (inst_.offen) add(" offen");
  if (inst_.imm != 0) {
    add(" offset:");
    decimal(inst_.imm);
  }
  cache_flags();
  if (inst_.tfe) add(" tfe");
  if (inst_.lds && info_.name.find("_lds_") == std::string_view::npos) add(" lds");
}

}  // namespace vgpu::isa
