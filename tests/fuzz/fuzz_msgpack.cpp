// Metadata: the whole reader, and skip() on the raw bytes. Holds: skip never goes past the end. The first 20 bytes of
// an input are not used: seeds are .note sections, which begin with the header of the note.
#include <algorithm>

#include "codeobj/metadata.h"
#include "codeobj/msgpack.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace barehip::codeobj;
  const size_t header = std::min<size_t>(size, 20);
  const auto bytes = fuzz::bytes(data, size).subspan(header);
  size -= header;
  MsgPackReader reader(bytes, 0);
  reader.skip();
  fuzz::require(reader.position() <= size, "the position stays inside");
  auto metadata = parse_metadata(bytes, 0);
  fuzz::require(metadata.has_value() || !metadata.error().text.empty(), "an error has a text");
  return 0;
}
