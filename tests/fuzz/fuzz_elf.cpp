// Code objects: parse, then place what parsed. Holds: an error has a text; everything that a parsed image names lies
// inside it.
#include <vector>

#include "codeobj/code_object.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace barehip::codeobj;
  auto code = CodeObject::parse(fuzz::bytes(data, size));
  if (!code) {
    fuzz::require(!code.error().text.empty(), "an error has a text");
    return 0;
  }
  const uint64_t bytes = code->load_bytes();
  for (const Kernel& kernel : code->kernels()) {
    fuzz::require(kernel.descriptor_offset + sizeof(KernelDescriptor) <= bytes, "a descriptor lies inside");
    for (const KernelArgument& argument : kernel.arguments) {
      fuzz::require(uint64_t{argument.offset} + argument.size <= kernel.kernarg_bytes, "an argument lies inside");
    }
  }
  for (const Variable& variable : code->variables()) {
    fuzz::require(variable.offset + variable.size <= bytes, "a variable lies inside");
  }
  if (bytes <= (1u << 20)) {
    std::vector<std::byte> image(bytes);
    (void)code->place(code->load_alignment() * 16, image, [](std::string_view) { return uint64_t{0x1000}; });
  }
  return 0;
}
