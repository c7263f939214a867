// Containers: list, select for two GPUs. Holds: every entry lies inside the input.
#include "codeobj/bundle.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace barehip::codeobj;
  const auto bytes = fuzz::bytes(data, size);
  auto entries = list_container(bytes);
  if (entries) {
    for (const ContainerEntry& entry : *entries) {
      if (entry.bytes.empty()) continue;
      fuzz::require(entry.bytes.data() >= bytes.data(), "an entry begins inside");
      fuzz::require(entry.bytes.data() + entry.bytes.size() <= bytes.data() + size, "an entry ends inside");
    }
  }
  for (const char* gpu : {"gfx90a:sramecc+:xnack-", "gfx1100"}) {
    auto selected = select_image(bytes, *parse_target_id(gpu));
    fuzz::require(selected.has_value() || !selected.error().text.empty(), "an error has a text");
  }
  return 0;
}
