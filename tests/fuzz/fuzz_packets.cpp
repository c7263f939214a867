// AQL, SDMA and PM4 decoders on the same dwords, for two targets. Holds: a packet that decodes prints, and encodes to
// the dwords that it came from; a decoder that wants more says how much.
#include <algorithm>
#include <cstring>
#include <vector>

#include "pm4/aql.h"
#include "pm4/pm4.h"
#include "pm4/sdma.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace barehip::pm4;

template <class Packet>
bool usable(const Decoded<Packet>& decoded, size_t available) {
  if (decoded.outcome == Outcome::kNeedMore) {
    fuzz::require(decoded.dwords > available, "need-more names more than there is");
  }
  if (decoded.outcome == Outcome::kMalformed) {
    fuzz::require(!decoded.error.empty() && *decoded.field, "malformed names a field");
  }
  return decoded.outcome == Outcome::kPacket;
}

template <class Encode>
void check_same(std::span<const uint32_t> in, uint32_t dwords, uint32_t compared, Encode encode) {
  fuzz::require(dwords <= in.size(), "a packet lies inside the input");
  std::vector<uint32_t> out(dwords);
  const auto count = encode(std::span<uint32_t>(out));
  fuzz::require(count.has_value() && *count == dwords, "a decoded packet encodes");
  fuzz::require(std::equal(out.begin(), out.begin() + compared, in.begin()), "and gives the same dwords");
}

void check_sdma(std::span<const uint32_t> in, CapSet caps) {
  const auto decoded = sdma::decode(in, caps);
  if (!usable(decoded, in.size())) return;
  fuzz::require(!sdma::describe(decoded.packet).empty(), "a packet prints");
  const bool nop = std::holds_alternative<sdma::Nop>(decoded.packet);  // what it skips is not kept
  std::visit(
      [&](const auto& packet) {
        check_same(in, decoded.dwords, nop ? 1 : decoded.dwords,
                   [&](std::span<uint32_t> out) { return sdma::encode(packet, caps, out); });
      },
      decoded.packet);
}

void check_pm4(std::span<const uint32_t> in, CapSet caps) {
  const auto decoded = decode(in, caps);
  if (!usable(decoded, in.size())) return;
  fuzz::require(!describe(decoded.packet).empty(), "a packet prints");
  if (in[0] >> 30 == 2) return;  // a type 2 filler encodes as a NOP of type 3
  std::visit(
      [&](const auto& packet) {
        check_same(in, decoded.dwords, decoded.dwords,
                   [&](std::span<uint32_t> out) { return encode(packet, caps, out); });
      },
      decoded.packet);
}

void check_aql(std::span<const uint32_t> in, CapSet caps) {
  const auto decoded = decode_aql(in, caps);
  if (usable(decoded, in.size())) fuzz::require(!describe(decoded.packet).empty(), "a packet prints");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint32_t> dwords(size / 4);
  if (!dwords.empty()) std::memcpy(dwords.data(), data, dwords.size() * 4);
  for (const uint32_t version : {90010u, 110000u}) {
    const CapSet caps = find_packet_caps(version)->caps;
    check_sdma(dwords, caps);
    check_pm4(dwords, caps);
    check_aql(dwords, caps);
  }
  return 0;
}
