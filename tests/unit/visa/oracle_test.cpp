// Decodes code compiled by clang with our decoder and with LLVM's: size, mnemonic and operands must be the same text.
// Arguments after "--" are not Catch2's; the code objects come from the environment variable VISA_CODE_OBJECTS,
// a list of "processor=path" with ":" between.
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/visa/oracle.h"
#include "tools/vgpu/isa/decoder.h"

namespace {

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Dwords of all executable sections.
std::vector<uint32_t> code_of(const std::vector<char>& elf) {
  std::vector<uint32_t> code;
  Elf64_Ehdr header;
  REQUIRE(elf.size() > sizeof header);
  std::memcpy(&header, elf.data(), sizeof header);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, elf.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_EXECINSTR)) continue;
    const size_t old = code.size();
    code.resize(old + section.sh_size / 4);
    std::memcpy(&code[old], elf.data() + section.sh_offset, section.sh_size / 4 * 4);
  }
  return code;
}

size_t compare(const std::string& cpu, const std::vector<uint32_t>& code) {
  const auto target = vgpu::find_isa_target(cpu);
  REQUIRE(target);
  const vgpu::Decoder decoder(*target);
  const oracle::Llvm llvm(cpu, "");
  size_t count = 0;
  for (size_t at = 0; at < code.size(); ++count) {
    const std::span<const uint32_t> words(code.data() + at, std::min<size_t>(4, code.size() - at));
    oracle::Line expected = llvm.disassemble(words);
    // LLVM's name for the zeros between functions, which no GPU executes.
    if (expected.text == "v_illegal") expected.size = 0;
    vgpu::Inst inst;
    const bool ok = decoder.decode(words, vgpu::is_gfx11(*target), inst);
    CAPTURE(cpu, at * 4, words[0]);
    CHECK(ok == (expected.size != 0));
    if (expected.size != 0) {
      CHECK(unsigned{inst.size} == expected.size);
      CHECK(oracle::tidy(decoder.text(inst)) == expected.text);
    }
    at += expected.size != 0 ? expected.size / 4 : 1;
  }
  return count;
}

}  // namespace

TEST_CASE("compiled code decodes as LLVM decodes it") {
  const char* list = std::getenv("VISA_CODE_OBJECTS");
  REQUIRE(list != nullptr);
  const std::string objects(list);
  size_t instructions = 0;
  for (size_t begin = 0; begin < objects.size();) {
    const size_t end = std::min(objects.find(':', begin), objects.size());
    const std::string item = objects.substr(begin, end - begin);
    const size_t equal = item.find('=');
    REQUIRE(equal != std::string::npos);
    instructions += compare(item.substr(0, equal), code_of(read_file(item.substr(equal + 1))));
    begin = end + 1;
  }
  CHECK(instructions > 1000);
}
