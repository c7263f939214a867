#include "tools/vgpu/kernel/kernel_name.h"

#include <cxxabi.h>
#include <elf.h>
#include <string.h>

#include <cstdlib>
#include <memory>

namespace vgpu {

namespace {

constexpr uint64_t kKernelObjectOffset = 32;   // in an AQL dispatch packet
constexpr uint64_t kMostSearch = 64ull << 20;  // how far back the start of a code object is looked for
constexpr uint64_t kMostSymbols = 1 << 20;

/// Reads GPU memory through the page table; false where nothing is mapped.
class Reader {
 public:
  explicit Reader(const AddressSpace& space) : space_(space) {}

  template <class T>
  bool read(uint64_t va, T& out) const {
    const Mapping mapping = space_.find(va);
    if (mapping.size == 0 || mapping.size - (va - mapping.va) < sizeof(T)) return false;
    memcpy(&out, mapping.host + (va - mapping.va), sizeof(T));
    return true;
  }
  std::string text(uint64_t va) const {
    std::string name;
    for (char c = 0; name.size() < 4096 && read(va + name.size(), c) && c != '\0';) name += c;
    return name;
  }

 private:
  const AddressSpace& space_;
};

/// The address that the code object's address 0 is loaded at, given an address inside it. 0: not found.
uint64_t find_load_base(const Reader& reader, uint64_t inside) {
  for (uint64_t at = inside & ~uint64_t{4095}; inside - at < kMostSearch && at != 0; at -= 4096) {
    unsigned char magic[EI_NIDENT];
    if (!reader.read(at, magic)) return 0;
    if (memcmp(magic, ELFMAG, SELFMAG) == 0 && magic[EI_CLASS] == ELFCLASS64) return at;
  }
  return 0;
}

struct Symbols {
  uint64_t table = 0, names = 0, hash = 0;
};

Symbols find_symbols(const Reader& reader, uint64_t base) {
  Symbols found;
  Elf64_Ehdr header{};
  if (!reader.read(base, header)) return found;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!reader.read(base + header.e_phoff + i * sizeof segment, segment) || segment.p_type != PT_DYNAMIC) continue;
    Elf64_Dyn entry{};
    for (uint64_t at = base + segment.p_vaddr; reader.read(at, entry) && entry.d_tag != DT_NULL; at += sizeof entry) {
      if (entry.d_tag == DT_SYMTAB) found.table = base + entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRTAB) found.names = base + entry.d_un.d_ptr;
      if (entry.d_tag == DT_HASH) found.hash = base + entry.d_un.d_ptr;
    }
  }
  return found;
}

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), free);
  return status == 0 ? text.get() : name;
}

}  // namespace

std::string kernel_name_of_descriptor(const AddressSpace& space, uint64_t kernel_object) {
  const Reader reader(space);
  const uint64_t base = find_load_base(reader, kernel_object);
  if (base == 0) return {};
  const Symbols symbols = find_symbols(reader, base);
  uint32_t count = 0;  // the second word of the hash table is the number of symbols
  if (symbols.table == 0 || symbols.names == 0 || symbols.hash == 0 || !reader.read(symbols.hash + 4, count)) return {};
  for (uint64_t i = 0; i < count && i < kMostSymbols; ++i) {
    Elf64_Sym symbol{};
    if (!reader.read(symbols.table + i * sizeof symbol, symbol)) return {};
    if (base + symbol.st_value != kernel_object) continue;
    std::string name = reader.text(symbols.names + symbol.st_name);
    if (!name.ends_with(".kd")) continue;
    name.resize(name.size() - 3);
    return demangle(name);
  }
  return {};
}

std::string kernel_name_of_packet(const AddressSpace& space, uint64_t packet_va) {
  uint64_t kernel_object = 0;
  if (packet_va == 0 || !Reader(space).read(packet_va + kKernelObjectOffset, kernel_object)) return {};
  return kernel_name_of_descriptor(space, kernel_object);
}

}  // namespace vgpu
