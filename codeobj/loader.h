// The steps of CodeObject::parse(), in order. Inside codeobj only.
#pragma once

#include <unordered_map>
#include <vector>

#include "codeobj/code_object.h"
#include "codeobj/elf.h"

namespace barehip::codeobj {

class Loader {
 public:
  explicit Loader(std::span<const std::byte> elf) : file_(elf) { out_.elf_ = elf; }
  Result<CodeObject> run();

 private:
  Result<void> read_header();
  Result<void> read_target();
  Result<void> read_program_headers();
  Result<void> add_load_segment(const elf::ProgramHeader& header, unsigned index);
  Result<void> lay_out();
  Result<void> read_dynamic_symbols();
  Result<void> read_kernels();
  Result<std::span<const std::byte>> find_metadata() const;
  Result<void> attach_descriptor(Kernel& kernel) const;
  Result<void> read_variables();
  Result<void> read_relocations();
  Result<void> add_relocation(const elf::Rela& rela, uint64_t file_offset);

  struct NamedSymbol {
    std::string_view name;
    elf::Symbol symbol;
  };
  struct Load {
    elf::ProgramHeader header;
    uint64_t vaddr;
  };

  /// File offset of `bytes` bytes of file contents at virtual address `vaddr`, all in one segment.
  [[nodiscard]] std::optional<uint64_t> file_offset(uint64_t vaddr, uint64_t bytes) const;
  /// The segment whose memory holds [vaddr, vaddr + bytes), null when there is none.
  [[nodiscard]] const elf::ProgramHeader* segment_at(uint64_t vaddr, uint64_t bytes) const;

  elf::View file_;
  elf::FileHeader header_{};
  std::vector<elf::ProgramHeader> loads_;
  std::vector<elf::ProgramHeader> notes_;
  std::optional<elf::ProgramHeader> dynamic_;
  uint64_t base_vaddr_ = 0;
  std::vector<NamedSymbol> symbols_;
  std::unordered_map<std::string_view, const NamedSymbol*> by_name_;
  CodeObject out_;
};

}  // namespace barehip::codeobj
