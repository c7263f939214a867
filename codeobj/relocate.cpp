// Dynamic relocations, and the placing of an image into memory.
#include <algorithm>
#include <cstring>

#include "codeobj/loader.h"

namespace barehip::codeobj {

using elf::bad;
using elf::hex;

namespace {

/// Bytes that a relocation of this type patches; 0 for one that no loader can apply.
uint32_t patched_bytes(uint32_t type) {
  switch (type) {
    case elf::kRelAbs64:
    case elf::kRelRel64:
    case elf::kRelRelative64: return 8;
    case elf::kRelAbs32Lo:
    case elf::kRelAbs32Hi:
    case elf::kRelAbs32:
    case elf::kRelRel32: return 4;
    default: return 0;
  }
}

}  // namespace

Result<void> Loader::read_relocations() {
  if (!dynamic_) return {};
  uint64_t address = 0, bytes = 0, entry = sizeof(elf::Rela);
  for (uint64_t at = 0; at + sizeof(elf::Dynamic) <= dynamic_->filesz; at += sizeof(elf::Dynamic)) {
    const auto item = *file_.read<elf::Dynamic>(dynamic_->offset + at);
    if (item.tag == 0) break;
    if (item.tag == elf::kDynRela) address = item.value;
    if (item.tag == elf::kDynRelaSize) bytes = item.value;
    if (item.tag == elf::kDynRelaEntry) entry = item.value;
    if (item.tag == elf::kDynRel || item.tag == elf::kDynJmpRel) {
      return bad("dynamic entry " + std::to_string(item.tag) + " at offset " + hex(dynamic_->offset + at) +
                 ": relocations of a kind that AMDGPU does not use");
    }
  }
  if (bytes == 0) return {};
  const auto offset = file_offset(address, bytes);
  if (!offset || entry != sizeof(elf::Rela) || bytes % sizeof(elf::Rela)) {
    return bad("the relocation table at address " + hex(address) + " with " + hex(bytes) +
               " bytes is outside the segments or cut");
  }
  for (uint64_t at = *offset; at < *offset + bytes; at += sizeof(elf::Rela)) {
    if (auto added = add_relocation(*file_.read<elf::Rela>(at), at); !added) return added;
  }
  return {};
}

Result<void> Loader::add_relocation(const elf::Rela& rela, uint64_t file_offset) {
  const std::string where = "relocation at offset " + hex(file_offset) + ": ";
  if (rela.type() == 0) return {};
  const uint32_t width = patched_bytes(rela.type());
  if (!width) return bad(where + "type " + std::to_string(rela.type()) + " is not a dynamic relocation");
  if (!segment_at(rela.offset, width)) return bad(where + "address " + hex(rela.offset) + " is outside the segments");
  CodeObject::Relocation out{.offset = rela.offset - base_vaddr_, .type = rela.type(), .addend = rela.addend};
  if (rela.type() == elf::kRelRelative64) {
    out.defined = true;
    out.addend -= static_cast<int64_t>(base_vaddr_);
    out_.relocations_.push_back(std::move(out));
    return {};
  }
  if (rela.symbol() >= symbols_.size()) {
    return bad(where + "symbol " + std::to_string(rela.symbol()) + " does not exist");
  }
  const NamedSymbol& entry = symbols_[rela.symbol()];
  out.weak = entry.symbol.binding() == elf::kBindingWeak;
  out.defined = entry.symbol.shndx != elf::kUndefinedSection;
  if (out.defined) {
    if (!segment_at(entry.symbol.value, 0)) {
      return bad(where + "symbol '" + std::string(entry.name) + "' lies outside the segments");
    }
    out.symbol_offset = entry.symbol.value - base_vaddr_;
  } else {
    out.symbol = entry.name;
  }
  out_.relocations_.push_back(std::move(out));
  return {};
}

Result<void> CodeObject::place(uint64_t load_address, std::span<std::byte> out, const SymbolResolver& resolve) const {
  if (out.size() != load_bytes_ || load_address % load_alignment_) {
    return fail(ErrorCode::kInvalidArgument, "place code object",
                "code object: " + std::to_string(load_bytes_) + " bytes aligned to " + std::to_string(load_alignment_) +
                    " are needed, got " + std::to_string(out.size()) + " at " + hex(load_address));
  }
  std::vector<uint64_t> values;
  values.reserve(relocations_.size());
  for (const Relocation& relocation : relocations_) {
    uint64_t symbol = load_address + relocation.symbol_offset;
    if (!relocation.defined) {
      symbol = resolve ? resolve(relocation.symbol) : 0;
      if (!symbol && !relocation.weak) {
        return fail(ErrorCode::kNotFound, "place code object",
                    "code object: undefined symbol '" + relocation.symbol + "'");
      }
    }
    values.push_back(symbol + static_cast<uint64_t>(relocation.addend));
  }

  uint64_t end = 0;
  const auto zero_to = [&](uint64_t offset) {
    std::memset(out.data() + end, 0, static_cast<size_t>(offset - end));
    end = offset;
  };
  for (const Segment& segment : segments_) {
    zero_to(segment.offset);
    std::memcpy(out.data() + segment.offset, elf_.data() + segment.file_offset,
                static_cast<size_t>(segment.file_bytes));
    end = segment.offset + segment.file_bytes;
  }
  zero_to(load_bytes_);

  for (size_t i = 0; i < relocations_.size(); ++i) {
    const Relocation& relocation = relocations_[i];
    uint64_t value = values[i];
    if (relocation.type == elf::kRelRel32 || relocation.type == elf::kRelRel64)
      value -= load_address + relocation.offset;
    if (relocation.type == elf::kRelAbs32Hi) value >>= 32;
    std::memcpy(out.data() + relocation.offset, &value, patched_bytes(relocation.type));
  }
  return {};
}

}  // namespace barehip::codeobj
