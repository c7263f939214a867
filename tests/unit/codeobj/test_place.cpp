// Placing an image: bytes, zeros, relocations, at two load addresses.
#include <cstring>

#include "codeobj/code_object.h"
#include "tests/unit/codeobj/images.h"

using namespace barehip;
using namespace barehip::codeobj;

namespace {

template <class T>
T read_at(const images::Bytes& image, uint64_t offset) {
  T value;
  REQUIRE(offset + sizeof value <= image.size());
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

uint64_t offset_of(const CodeObject& code, const char* name) {
  const Variable* variable = code.find_variable(name);
  REQUIRE(variable);
  return variable->offset;
}

}  // namespace

TEST_CASE("a placed image has its bytes, zeros between, and pointers to where it lies") {
  for (const std::string name : images::kNames) {
    for (const uint64_t address : {uint64_t{0x7f1200000000}, uint64_t{0x10000}}) {
      CAPTURE(name, address);
      const images::Bytes elf = images::read(name + ".elf");
      auto code = CodeObject::parse(elf);
      REQUIRE(code.has_value());
      images::Bytes image(code->load_bytes(), std::byte{0xa5});
      REQUIRE(code->place(address, image).has_value());

      CHECK(read_at<int>(image, offset_of(*code, "counter")) == 42);
      CHECK(read_at<int>(image, offset_of(*code, "limits") + 12) == 4);
      const uint64_t table = offset_of(*code, "table");
      for (unsigned i = 0; i < 16; ++i) CHECK(read_at<float>(image, table + 4 * i) == 0.0f);
      CHECK(read_at<uint64_t>(image, offset_of(*code, "pointer_to_counter")) == address + offset_of(*code, "counter"));
      CHECK(read_at<uint64_t>(image, offset_of(*code, "inside_table")) == address + table + 12);

      for (const Segment& segment : code->segments()) {
        CHECK(std::memcmp(image.data() + segment.offset, elf.data() + segment.file_offset,
                          segment.write ? 0 : segment.file_bytes) == 0);
      }
      for (const Kernel& kernel : code->kernels()) {
        const auto descriptor = read_at<KernelDescriptor>(image, kernel.descriptor_offset);
        CHECK(std::memcmp(&descriptor, &kernel.descriptor, sizeof descriptor) == 0);
      }
      // What no segment covers is zero, not what was there.
      std::vector<bool> covered(image.size());
      for (const Segment& s : code->segments()) {
        for (uint64_t i = 0; i < s.file_bytes; ++i) covered[s.offset + i] = true;
      }
      size_t dirty = 0;
      for (size_t i = 0; i < image.size(); ++i) dirty += !covered[i] && image[i] != std::byte{0};
      CHECK(dirty == 0);
    }
  }
}

TEST_CASE("a wrong place is refused and left alone") {
  const images::Bytes elf = images::read("gfx90a-v5.elf");
  auto code = CodeObject::parse(elf);
  REQUIRE(code.has_value());
  images::Bytes image(code->load_bytes(), std::byte{0xa5});
  const images::Bytes before = image;
  CHECK(code->place(0x1001, image).error().code == ErrorCode::kInvalidArgument);
  CHECK(code->place(0x1000, std::span(image).first(16)).error().code == ErrorCode::kInvalidArgument);
  CHECK(image == before);
}
