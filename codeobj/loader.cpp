#include "codeobj/loader.h"

#include <algorithm>
#include <bit>

#include "codeobj/metadata.h"

namespace barehip::codeobj {

using elf::bad;
using elf::hex;

namespace {

constexpr uint64_t kPage = 4096;
// Far above any real image, far below where sums of 64-bit fields could wrap.
constexpr uint64_t kMaxLoadBytes = uint64_t{1} << 40;

}  // namespace

Result<CodeObject> CodeObject::parse(std::span<const std::byte> elf) { return Loader(elf).run(); }

Result<CodeObject> Loader::run() {
  using Step = Result<void> (Loader::*)();
  static constexpr Step kSteps[] = {
      &Loader::read_header,          &Loader::read_target,  &Loader::read_program_headers, &Loader::lay_out,
      &Loader::read_dynamic_symbols, &Loader::read_kernels, &Loader::read_variables,       &Loader::read_relocations};
  for (Step step : kSteps) {
    if (Result<void> done = (this->*step)(); !done) return std::unexpected(std::move(done.error()));
  }
  return std::move(out_);
}

// ---- file header --------------------------------------------------------------------------------------------

Result<void> Loader::read_header() {
  const auto header = file_.read<elf::FileHeader>(0);
  if (!header) return bad("truncated: " + std::to_string(file_.size()) + " bytes, an ELF header has 64");
  header_ = *header;
  const uint8_t* id = header_.ident;
  if (id[0] != 0x7f || id[1] != 'E' || id[2] != 'L' || id[3] != 'F') return bad("no ELF magic at offset 0x0");
  if (id[4] != 2) return bad("EI_CLASS at offset 0x4 is " + std::to_string(id[4]) + ", not 64-bit (2)");
  if (id[5] != 1) return bad("EI_DATA at offset 0x5 is " + std::to_string(id[5]) + ", not little endian (1)");
  if (id[6] != 1) return bad("EI_VERSION at offset 0x6 is " + std::to_string(id[6]) + ", not 1");
  if (header_.machine != elf::kMachineAmdgpu) {
    return bad("e_machine at offset 0x12 is " + std::to_string(header_.machine) + ", not AMDGPU (224)");
  }
  if (id[7] != elf::kOsAbiAmdHsa) {
    return bad("EI_OSABI at offset 0x7 is " + std::to_string(id[7]) + ", not AMD HSA (64)");
  }
  if (id[8] < 2) {
    return fail(ErrorCode::kNotSupported, "load code object",
                "code object: version " + std::to_string(id[8] + 2) +
                    " (EI_ABIVERSION at offset 0x8); versions 4, 5 and 6 are supported. Compile it again.");
  }
  if (id[8] > 4) {
    return fail(ErrorCode::kNotSupported, "load code object",
                "code object: EI_ABIVERSION at offset 0x8 is " + std::to_string(id[8]) +
                    ", newer than code object version 6 (4)");
  }
  out_.version_ = id[8] + 2u;
  if (header_.type == elf::kTypeRelocatable) {
    return fail(ErrorCode::kNotSupported, "load code object", "code object: relocatable; it has to be linked first");
  }
  if (header_.type != elf::kTypeShared) {
    return bad("e_type at offset 0x10 is " + std::to_string(header_.type) + ", not a shared object (3)");
  }
  return {};
}

Result<void> Loader::read_target() {
  const auto mach = static_cast<uint8_t>(header_.flags & 0xff);
  const std::string_view name = mach_name(mach);
  if (name.empty()) return bad("e_flags at offset 0x30: machine " + hex(mach) + " is unknown");
  out_.target_.processor = name;
  out_.target_.xnack = static_cast<Feature>((header_.flags >> 8) & 3);
  out_.target_.sramecc = static_cast<Feature>((header_.flags >> 10) & 3);
  if (is_generic_name(name)) {
    if (out_.version_ < 6) return bad("a generic target in a code object of version " + std::to_string(out_.version_));
    out_.generic_version_ = static_cast<uint8_t>(header_.flags >> 24);
    if (out_.generic_version_ == 0) return bad("e_flags at offset 0x30: a generic target without its version");
  }
  return {};
}

// ---- segments -----------------------------------------------------------------------------------------------

Result<void> Loader::read_program_headers() {
  if (header_.phentsize != sizeof(elf::ProgramHeader)) {
    return bad("e_phentsize at offset 0x36 is " + std::to_string(header_.phentsize) + ", not 56");
  }
  for (unsigned i = 0; i < header_.phnum; ++i) {
    const uint64_t offset = header_.phoff + uint64_t{i} * sizeof(elf::ProgramHeader);
    const auto header = offset >= header_.phoff ? file_.read<elf::ProgramHeader>(offset) : std::nullopt;
    if (!header)
      return bad("program header " + std::to_string(i) + " at offset " + hex(offset) + " is outside the file");
    const bool wanted =
        header->type == elf::kSegmentLoad || header->type == elf::kSegmentNote || header->type == elf::kSegmentDynamic;
    if (wanted && !file_.holds(header->offset, header->filesz)) {
      return bad("program header " + std::to_string(i) + ": p_offset " + hex(header->offset) + " with p_filesz " +
                 hex(header->filesz) + " is outside the file");
    }
    if (header->type == elf::kSegmentNote) notes_.push_back(*header);
    if (header->type == elf::kSegmentDynamic) dynamic_ = *header;
    if (header->type == elf::kSegmentLoad) {
      if (auto added = add_load_segment(*header, i); !added) return added;
    }
  }
  if (loads_.empty()) return bad("no loadable segment");
  return {};
}

Result<void> Loader::add_load_segment(const elf::ProgramHeader& header, unsigned index) {
  const std::string where = "program header " + std::to_string(index) + ": ";
  if (header.filesz > header.memsz) return bad(where + "p_filesz " + hex(header.filesz) + " is more than p_memsz");
  if (header.align > 1 && !std::has_single_bit(header.align)) {
    return bad(where + "p_align " + hex(header.align) + " is not a power of two");
  }
  if (header.align > kMaxLoadBytes || header.memsz > kMaxLoadBytes || header.vaddr > kMaxLoadBytes) {
    return bad(where + "p_vaddr, p_memsz or p_align is beyond " + hex(kMaxLoadBytes));
  }
  if (!loads_.empty() && header.vaddr < loads_.back().vaddr + loads_.back().memsz) {
    return bad(where + "p_vaddr " + hex(header.vaddr) + " lies in or before the previous segment");
  }
  loads_.push_back(header);
  return {};
}

Result<void> Loader::lay_out() {
  uint64_t alignment = kPage;
  for (const elf::ProgramHeader& load : loads_) alignment = std::max(alignment, load.align);
  base_vaddr_ = loads_.front().vaddr & ~(alignment - 1);
  const uint64_t end = loads_.back().vaddr + loads_.back().memsz;
  out_.load_alignment_ = alignment;
  out_.load_bytes_ = (end - base_vaddr_ + kPage - 1) & ~(kPage - 1);
  for (const elf::ProgramHeader& load : loads_) {
    out_.segments_.push_back({.offset = load.vaddr - base_vaddr_,
                              .memory_bytes = load.memsz,
                              .file_offset = load.offset,
                              .file_bytes = load.filesz,
                              .write = (load.flags & elf::kFlagWrite) != 0,
                              .execute = (load.flags & elf::kFlagExecute) != 0});
  }
  if (out_.load_bytes_ == 0) return bad("the loadable segments are empty");
  return {};
}

const elf::ProgramHeader* Loader::segment_at(uint64_t vaddr, uint64_t bytes) const {
  const auto it = std::ranges::find_if(loads_, [&](const elf::ProgramHeader& load) {
    return vaddr >= load.vaddr && elf::inside(vaddr - load.vaddr, bytes, load.memsz);
  });
  return it == loads_.end() ? nullptr : &*it;
}

std::optional<uint64_t> Loader::file_offset(uint64_t vaddr, uint64_t bytes) const {
  const elf::ProgramHeader* load = segment_at(vaddr, bytes);
  if (!load || !elf::inside(vaddr - load->vaddr, bytes, load->filesz)) return std::nullopt;
  return load->offset + (vaddr - load->vaddr);
}

// ---- symbols ------------------------------------------------------------------------------------------------

Result<void> Loader::read_dynamic_symbols() {
  if (header_.shnum == 0) return bad("no section headers: the dynamic symbol table cannot be found");
  if (header_.shentsize != sizeof(elf::SectionHeader)) {
    return bad("e_shentsize at offset 0x3a is " + std::to_string(header_.shentsize) + ", not 64");
  }
  if (!file_.holds(header_.shoff, uint64_t{header_.shnum} * sizeof(elf::SectionHeader))) {
    return bad("the section headers at offset " + hex(header_.shoff) + " are outside the file");
  }
  const auto section = [&](uint64_t index) {
    const uint64_t offset = header_.shoff + index * sizeof(elf::SectionHeader);
    return index < header_.shnum ? file_.read<elf::SectionHeader>(offset) : std::nullopt;
  };
  std::optional<elf::SectionHeader> table;
  for (unsigned i = 0; i < header_.shnum && !table; ++i) {
    if (const auto header = section(i); header->type == elf::kSectionDynsym) table = header;
  }
  if (!table) return bad("no dynamic symbol table");
  const auto strings = section(table->link);
  if (!strings || strings->type == elf::kSectionNobits || !file_.holds(strings->offset, strings->size)) {
    return bad("the string table of the dynamic symbols is outside the file");
  }
  if (!file_.holds(table->offset, table->size) || table->size % sizeof(elf::Symbol)) {
    return bad("the dynamic symbol table at offset " + hex(table->offset) + " is outside the file or cut");
  }
  const elf::View names(file_.sub(strings->offset, strings->size));
  const uint64_t count = table->size / sizeof(elf::Symbol);
  symbols_.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    const auto symbol = *file_.read<elf::Symbol>(table->offset + i * sizeof(elf::Symbol));
    const auto name = names.string(symbol.name);
    if (!name) return bad("dynamic symbol " + std::to_string(i) + ": st_name is outside the string table");
    symbols_.push_back({*name, symbol});
  }
  for (const NamedSymbol& symbol : symbols_) {
    if (symbol.symbol.shndx != elf::kUndefinedSection) by_name_.emplace(symbol.name, &symbol);
  }
  return {};
}

Result<void> Loader::read_variables() {
  for (const NamedSymbol& entry : symbols_) {
    const elf::Symbol& symbol = entry.symbol;
    if (symbol.shndx == elf::kUndefinedSection || symbol.shndx >= elf::kReservedSections) continue;
    if (symbol.type() != elf::kSymbolObject || entry.name.ends_with(".kd")) continue;
    const elf::ProgramHeader* segment = segment_at(symbol.value, symbol.size);
    if (!segment) {
      return bad("variable '" + std::string(entry.name) + "' at " + hex(symbol.value) + " with " + hex(symbol.size) +
                 " bytes is outside the segments");
    }
    out_.variables_.push_back({.name = std::string(entry.name),
                               .offset = symbol.value - base_vaddr_,
                               .size = symbol.size,
                               .writable = (segment->flags & elf::kFlagWrite) != 0});
  }
  return {};
}

// ---- kernels ------------------------------------------------------------------------------------------------

Result<std::span<const std::byte>> Loader::find_metadata() const {
  for (const elf::ProgramHeader& segment : notes_) {
    uint64_t offset = segment.offset;
    const uint64_t end = segment.offset + segment.filesz;
    while (elf::inside(offset, sizeof(elf::NoteHeader), end)) {
      const auto note = *file_.read<elf::NoteHeader>(offset);
      const uint64_t name = offset + sizeof(elf::NoteHeader);
      const uint64_t desc = name + ((uint64_t{note.namesz} + 3) & ~uint64_t{3});
      if (!elf::inside(desc, note.descsz, end)) return bad("note at offset " + hex(offset) + " is outside its segment");
      const auto text = file_.string(name);
      if (note.type == elf::kNoteAmdgpuMetadata && note.namesz == 7 && text && *text == "AMDGPU") {
        return file_.sub(desc, note.descsz);
      }
      offset = desc + ((uint64_t{note.descsz} + 3) & ~uint64_t{3});
    }
  }
  return bad("no metadata note (NT_AMDGPU_METADATA)");
}

Result<void> Loader::read_kernels() {
  auto note = find_metadata();
  if (!note) return std::unexpected(note.error());
  const auto base = static_cast<size_t>(note->data() - out_.elf_.data());
  auto metadata = parse_metadata(*note, base);
  if (!metadata) return std::unexpected(metadata.error());
  if (!metadata->target.empty()) {
    const size_t at = metadata->target.find("-gfx");
    auto named = parse_target_id(at == std::string::npos ? std::string_view(metadata->target)
                                                         : std::string_view(metadata->target).substr(at + 1));
    if (!named) return std::unexpected(named.error());
    if (named->processor != out_.target_.processor) {
      return bad("the metadata is for " + named->processor + ", e_flags are for " + out_.target_.processor);
    }
  }
  for (Kernel& kernel : metadata->kernels) {
    if (auto attached = attach_descriptor(kernel); !attached) return attached;
  }
  out_.kernels_ = std::move(metadata->kernels);
  out_.printf_formats_ = std::move(metadata->printf_formats);
  return {};
}

Result<void> Loader::attach_descriptor(Kernel& kernel) const {
  const std::string where = "kernel '" + kernel.name + "': ";
  const auto found = by_name_.find(kernel.symbol);
  if (found == by_name_.end()) return bad(where + "no symbol '" + kernel.symbol + "'");
  const elf::Symbol& symbol = found->second->symbol;
  if (symbol.size != sizeof(KernelDescriptor)) {
    return bad(where + "descriptor of " + std::to_string(symbol.size) + " bytes, not 64");
  }
  const auto at = file_offset(symbol.value, sizeof(KernelDescriptor));
  if (!at || symbol.value % 64) {
    return bad(where + "descriptor at " + hex(symbol.value) + " is outside the segments or not 64-byte aligned");
  }
  kernel.descriptor = *file_.read<KernelDescriptor>(*at);
  kernel.descriptor_offset = symbol.value - base_vaddr_;
  // Version 4 says it in the descriptor only.
  kernel.uses_dynamic_stack |= (kernel.descriptor.kernel_code_properties & property::kUsesDynamicStack) != 0;
  const uint64_t entry = symbol.value + static_cast<uint64_t>(kernel.descriptor.kernel_code_entry_byte_offset);
  const elf::ProgramHeader* code = segment_at(entry, 4);
  if (!code || !(code->flags & elf::kFlagExecute) || entry % 256) {
    return bad(where + "code entry " + hex(entry) + " is not 256-byte aligned in an executable segment");
  }
  if (const Target* target = find_target(out_.target_.processor)) {
    if (auto checked = check_descriptor(kernel.descriptor, *target); !checked) {
      checked.error().text = "code object: " + where + checked.error().text + ", at file offset " + hex(*at);
      return checked;
    }
  }
  return {};
}

const Kernel* CodeObject::find_kernel(std::string_view name) const {
  const auto it = std::ranges::find_if(kernels_, [&](const Kernel& k) { return k.name == name || k.symbol == name; });
  return it == kernels_.end() ? nullptr : &*it;
}

const Variable* CodeObject::find_variable(std::string_view name) const {
  const auto it = std::ranges::find(variables_, name, &Variable::name);
  return it == variables_.end() ? nullptr : &*it;
}

}  // namespace barehip::codeobj
