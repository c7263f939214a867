// The parts of ELF64 (System V ABI, AMDGPU supplement in LLVM's usage document) that the loader reads, and a view of
// bytes that never reads outside.
#pragma once

#include <barehip/error.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace barehip::codeobj::elf {

struct FileHeader {
  uint8_t ident[16];
  uint16_t type;
  uint16_t machine;
  uint32_t version;
  uint64_t entry;
  uint64_t phoff;
  uint64_t shoff;
  uint32_t flags;
  uint16_t ehsize;
  uint16_t phentsize;
  uint16_t phnum;
  uint16_t shentsize;
  uint16_t shnum;
  uint16_t shstrndx;
};
static_assert(sizeof(FileHeader) == 64);

struct ProgramHeader {
  uint32_t type;
  uint32_t flags;
  uint64_t offset;
  uint64_t vaddr;
  uint64_t paddr;
  uint64_t filesz;
  uint64_t memsz;
  uint64_t align;
};
static_assert(sizeof(ProgramHeader) == 56);

struct SectionHeader {
  uint32_t name;
  uint32_t type;
  uint64_t flags;
  uint64_t addr;
  uint64_t offset;
  uint64_t size;
  uint32_t link;
  uint32_t info;
  uint64_t addralign;
  uint64_t entsize;
};
static_assert(sizeof(SectionHeader) == 64);

struct Symbol {
  uint32_t name;
  uint8_t info;
  uint8_t other;
  uint16_t shndx;
  uint64_t value;
  uint64_t size;

  [[nodiscard]] unsigned type() const { return info & 0xf; }
  [[nodiscard]] unsigned binding() const { return info >> 4; }
};
static_assert(sizeof(Symbol) == 24);

struct Rela {
  uint64_t offset;
  uint64_t info;
  int64_t addend;

  [[nodiscard]] uint32_t type() const { return static_cast<uint32_t>(info); }
  [[nodiscard]] uint32_t symbol() const { return static_cast<uint32_t>(info >> 32); }
};
static_assert(sizeof(Rela) == 24);

struct Dynamic {
  int64_t tag;
  uint64_t value;
};

struct NoteHeader {
  uint32_t namesz;
  uint32_t descsz;
  uint32_t type;
};

inline constexpr uint8_t kOsAbiAmdHsa = 64;
inline constexpr uint16_t kMachineAmdgpu = 224;
inline constexpr uint16_t kTypeRelocatable = 1, kTypeShared = 3;
inline constexpr uint32_t kSegmentLoad = 1, kSegmentDynamic = 2, kSegmentNote = 4;
inline constexpr uint32_t kFlagExecute = 1, kFlagWrite = 2;
inline constexpr uint32_t kSectionNobits = 8, kSectionDynsym = 11;
inline constexpr unsigned kSymbolObject = 1, kBindingWeak = 2;
inline constexpr uint16_t kUndefinedSection = 0, kReservedSections = 0xff00;
inline constexpr int64_t kDynRela = 7, kDynRelaSize = 8, kDynRelaEntry = 9, kDynRel = 17, kDynJmpRel = 23;
inline constexpr uint32_t kNoteAmdgpuMetadata = 32;

inline constexpr uint32_t kRelAbs32Lo = 1, kRelAbs32Hi = 2, kRelAbs64 = 3, kRelRel32 = 4, kRelRel64 = 5, kRelAbs32 = 6,
                          kRelRelative64 = 13;

/// True when [offset, offset + size) lies in [0, limit).
constexpr bool inside(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

inline std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

inline std::unexpected<Error> bad(std::string what) {
  return fail(ErrorCode::kInvalidImage, "load code object", "code object: " + std::move(what));
}

/// Bytes of a file, read by value (the input has no alignment).
class View {
 public:
  View() = default;
  explicit View(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] bool holds(uint64_t offset, uint64_t size) const { return inside(offset, size, bytes_.size()); }

  template <class T>
  [[nodiscard]] std::optional<T> read(uint64_t offset) const {
    if (!holds(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] std::span<const std::byte> sub(uint64_t offset, uint64_t size) const {
    return bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  /// The zero-ended string at `offset`, that must end inside the view.
  [[nodiscard]] std::optional<std::string_view> string(uint64_t offset) const {
    if (offset >= bytes_.size()) return std::nullopt;
    const char* start = reinterpret_cast<const char*>(bytes_.data()) + offset;
    const void* end = std::memchr(start, 0, bytes_.size() - static_cast<size_t>(offset));
    if (!end) return std::nullopt;
    return std::string_view(start, static_cast<size_t>(static_cast<const char*>(end) - start));
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace barehip::codeobj::elf
