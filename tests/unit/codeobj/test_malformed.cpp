// One damaged byte or field of a real image each: the error names it. Then every truncation, and every byte flipped.
#include <cstring>

#include "codeobj/code_object.h"
#include "codeobj/elf.h"
#include "tests/unit/codeobj/images.h"

using namespace barehip;
using namespace barehip::codeobj;

namespace {

class Damaged {
 public:
  Damaged() : bytes_(images::read("gfx90a-v5.elf")) {}

  template <class T>
  Damaged& at(size_t offset, T value) {
    REQUIRE(offset + sizeof value <= bytes_.size());
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  template <class T>
  T get(size_t offset) const {
    return *elf::View(bytes_).read<T>(offset);
  }
  /// File offset of the first program header of a type (the n-th of them).
  size_t program_header(uint32_t type, unsigned n = 0) const {
    const auto header = get<elf::FileHeader>(0);
    for (unsigned i = 0; i < header.phnum; ++i) {
      const size_t offset = header.phoff + i * sizeof(elf::ProgramHeader);
      if (get<elf::ProgramHeader>(offset).type == type && n-- == 0) return offset;
    }
    FAIL("no such program header");
    return 0;
  }
  /// File offset of a dynamic symbol.
  size_t symbol(std::string_view name) const {
    const elf::View view(bytes_);
    const auto header = get<elf::FileHeader>(0);
    for (unsigned i = 0; i < header.shnum; ++i) {
      const auto table = get<elf::SectionHeader>(header.shoff + i * sizeof(elf::SectionHeader));
      if (table.type != elf::kSectionDynsym) continue;
      const auto strings = get<elf::SectionHeader>(header.shoff + table.link * sizeof(elf::SectionHeader));
      for (uint64_t at = table.offset; at < table.offset + table.size; at += sizeof(elf::Symbol)) {
        if (*view.string(strings.offset + get<elf::Symbol>(at).name) == name) return at;
      }
    }
    FAIL("no such symbol");
    return 0;
  }
  size_t find(std::string_view text) const {
    const auto* begin = reinterpret_cast<const char*>(bytes_.data());
    const size_t at = std::string_view(begin, bytes_.size()).find(text);
    REQUIRE(at != std::string_view::npos);
    return at;
  }
  std::string error(ErrorCode code = ErrorCode::kInvalidImage) const {
    auto parsed = CodeObject::parse(bytes_);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == code);
    return parsed.error().text;
  }
  images::Bytes bytes_;
};

#define CHECK_NAMES(expression, part)             \
  do {                                            \
    const std::string text_ = (expression);       \
    CAPTURE(text_);                               \
    CHECK(text_.find(part) != std::string::npos); \
  } while (false)

}  // namespace

TEST_CASE("a damaged file header is named by field") {
  CHECK_NAMES(Damaged().at<uint8_t>(0, 0).error(), "no ELF magic");
  CHECK_NAMES(Damaged().at<uint8_t>(4, 1).error(), "EI_CLASS");
  CHECK_NAMES(Damaged().at<uint8_t>(5, 2).error(), "EI_DATA");
  CHECK_NAMES(Damaged().at<uint8_t>(6, 9).error(), "EI_VERSION");
  CHECK_NAMES(Damaged().at<uint8_t>(7, 0).error(), "EI_OSABI");
  CHECK_NAMES(Damaged().at<uint8_t>(8, 1).error(ErrorCode::kNotSupported), "version 3");
  CHECK_NAMES(Damaged().at<uint8_t>(8, 5).error(ErrorCode::kNotSupported), "newer than code object version 6");
  CHECK_NAMES(Damaged().at<uint16_t>(0x10, 1).error(ErrorCode::kNotSupported), "relocatable");
  CHECK_NAMES(Damaged().at<uint16_t>(0x10, 2).error(), "e_type");
  CHECK_NAMES(Damaged().at<uint16_t>(0x12, 62).error(), "e_machine at offset 0x12 is 62");
  CHECK_NAMES(Damaged().at<uint32_t>(0x30, 0x5fe).error(), "machine 0xfe is unknown");
  CHECK_NAMES(Damaged().at<uint32_t>(0x30, 0x551).error(), "a generic target in a code object of version 5");
  CHECK_NAMES(Damaged().at<uint32_t>(0x30, 0x541).error(), "the metadata is for gfx90a, e_flags are for gfx1100");
  CHECK_NAMES(Damaged().at<uint16_t>(0x36, 57).error(), "e_phentsize");
  CHECK_NAMES(Damaged().at<uint64_t>(0x20, ~uint64_t{0}).error(), "program header 0");
  CHECK_NAMES(Damaged().at<uint16_t>(0x38, 0).error(), "no loadable segment");
  CHECK_NAMES(Damaged().at<uint16_t>(0x3a, 1).error(), "e_shentsize");
  CHECK_NAMES(Damaged().at<uint64_t>(0x28, uint64_t{1} << 50).error(), "the section headers at offset");
  CHECK_NAMES(Damaged().at<uint16_t>(0x3c, 0).error(), "no section headers");
}

TEST_CASE("damaged segments are named") {
  Damaged d;
  const size_t load = d.program_header(elf::kSegmentLoad, 1);
  CHECK_NAMES(Damaged().at<uint64_t>(load + 8, ~uint64_t{0}).error(), "p_offset");
  CHECK_NAMES(Damaged().at<uint64_t>(load + 16, 0).error(), "lies in or before the previous segment");
  CHECK_NAMES(Damaged().at<uint64_t>(load + 40, 1).error(), "is more than p_memsz");
  CHECK_NAMES(Damaged().at<uint64_t>(load + 48, 3).error(), "p_align");
  CHECK_NAMES(Damaged().at<uint64_t>(load + 40, uint64_t{1} << 50).error(), "beyond");
  const size_t note = d.program_header(elf::kSegmentNote);
  CHECK_NAMES(Damaged().at<uint32_t>(note, 0).error(), "no metadata note");
  const auto note_offset = d.get<elf::ProgramHeader>(note).offset;
  CHECK_NAMES(Damaged().at<uint32_t>(note_offset + 4, ~0u).error(), "note at offset");
  CHECK_NAMES(Damaged().at<uint32_t>(note_offset + 8, 33).error(), "no metadata note");
}

TEST_CASE("damaged symbols and descriptors are named") {
  Damaged d;
  const size_t kd = d.symbol("vadd.kd");
  CHECK_NAMES(Damaged().at<uint64_t>(kd + 16, 32).error(), "descriptor of 32 bytes");
  CHECK_NAMES(Damaged().at<uint64_t>(kd + 8, ~uint64_t{0} - 63).error(), "outside the segments");
  CHECK_NAMES(Damaged().at<uint32_t>(kd, ~0u).error(), "st_name is outside");
  const size_t descriptor = d.get<elf::Symbol>(kd).value;  // in the first segment, where address and offset agree
  CHECK_NAMES(Damaged().at<int64_t>(descriptor + 16, 1).error(), "code entry");
  CHECK_NAMES(Damaged().at<int64_t>(descriptor + 16, INT64_MIN).error(), "code entry");
  CHECK_NAMES(Damaged().at<uint16_t>(descriptor + 56, 0x8000).error(), "kernel_code_properties");
  CHECK_NAMES(Damaged().at<uint64_t>(d.symbol("table") + 16, uint64_t{1} << 40).error(), "variable 'table'");
}

TEST_CASE("damaged relocations are named") {
  Damaged d;
  const auto dynamic = d.get<elf::ProgramHeader>(d.program_header(elf::kSegmentDynamic));
  size_t rela_entry = 0, size_entry = 0;
  for (uint64_t at = dynamic.offset; at < dynamic.offset + dynamic.filesz; at += sizeof(elf::Dynamic)) {
    const auto item = d.get<elf::Dynamic>(at);
    if (item.tag == elf::kDynRela) rela_entry = at;
    if (item.tag == elf::kDynRelaSize) size_entry = at;
  }
  REQUIRE(rela_entry);
  REQUIRE(size_entry);
  const size_t rela = d.get<elf::Dynamic>(rela_entry).value;
  CHECK_NAMES(Damaged().at<uint64_t>(rela_entry + 8, uint64_t{1} << 40).error(), "the relocation table");
  CHECK_NAMES(Damaged().at<uint64_t>(size_entry + 8, 25).error(), "the relocation table");
  CHECK_NAMES(Damaged().at<int64_t>(size_entry, elf::kDynRel).error(), "does not use");
  CHECK_NAMES(Damaged().at<uint64_t>(rela, ~uint64_t{0} - 3).error(), "is outside the segments");
  CHECK_NAMES(Damaged().at<uint32_t>(rela + 8, 99).error(), "type 99");
  CHECK_NAMES(Damaged().at<uint64_t>(rela + 8, uint64_t{9999} << 32 | elf::kRelAbs64).error(), "symbol 9999");

  // An undefined symbol: symbol 0 is undefined and nameless, a real one is what the resolver is asked for.
  Damaged undefined;
  const size_t counter = undefined.symbol("counter");
  undefined.at<uint16_t>(counter + 6, elf::kUndefinedSection);
  const uint64_t index = (counter - undefined.symbol("vadd")) / sizeof(elf::Symbol) + 1;
  undefined.at<uint64_t>(rela + 8, index << 32 | elf::kRelAbs64).at<int64_t>(rela + 16, 8);
  auto code = CodeObject::parse(undefined.bytes_);
  REQUIRE(code.has_value());
  images::Bytes image(code->load_bytes());
  auto placed = code->place(0x10000, image);
  REQUIRE_FALSE(placed.has_value());
  CHECK(placed.error().code == ErrorCode::kNotFound);
  CHECK_NAMES(placed.error().text, "undefined symbol 'counter'");
  REQUIRE(code->place(0x10000, image, [](std::string_view name) { return name == "counter" ? 0x1234u : 0u; }));
  CHECK(elf::View(image).read<uint64_t>(code->find_variable("pointer_to_counter")->offset) == 0x123cu);
}

TEST_CASE("damaged metadata is named with its offset") {
  Damaged d;
  const size_t offset_key = d.find(".kernarg_segment_size");  // then 0xcd and two bytes, high one first
  CHECK_NAMES(Damaged().at<uint8_t>(offset_key + 21, 0xc3).error(), "a number that is not negative is expected");
  CHECK_NAMES(Damaged().at<uint16_t>(offset_key + 22, 0x0100).error(), "an argument outside its kernarg segment");
  CHECK_NAMES(Damaged().at<uint8_t>(d.find(".kernarg_segment_align") + 22, 3).error(), "power of two");
  CHECK_NAMES(Damaged().at<uint8_t>(d.find(".wavefront_size") + 15, 16).error(), "neither 32 nor 64");
  CHECK_NAMES(Damaged().at<uint8_t>(d.find("vadd.kd"), 'x').error(), "no symbol 'xadd.kd'");
  CHECK_NAMES(Damaged().at<uint8_t>(d.find("amdhsa.version") + 15, 2).error(), "not 1.x");
  CHECK_NAMES(Damaged().at<uint8_t>(d.find("amdhsa.version") + 14, 0x93).error(), "two numbers");
}

TEST_CASE("no truncation and no flipped byte is more than an error") {
  const images::Bytes good = images::read("gfx1100-v4.elf");
  for (size_t size = 0; size < good.size(); size += size < 4096 ? 7 : 61) {
    auto parsed = CodeObject::parse(std::span(good).first(size));
    if (!parsed) CHECK_FALSE(parsed.error().text.empty());
    CHECK_FALSE(parsed.has_value());
  }
  size_t refused = 0;
  images::Bytes bytes = good;
  for (size_t at = 0; at < bytes.size(); at += at < 5120 ? 1 : 13) {
    bytes[at] ^= std::byte{0xff};
    auto parsed = CodeObject::parse(bytes);
    refused += !parsed.has_value();
    if (parsed && parsed->load_bytes() < (1u << 20)) {
      images::Bytes image(parsed->load_bytes());
      (void)parsed->place(0x100000 * parsed->load_alignment(), image);
    }
    bytes[at] = good[at];
  }
  CHECK(refused > 500);
}
