// Shared by the SDMA and PM4 decoders: the fixed part of one packet type, checked and taken apart.
#pragma once

#include "pm4/fields.h"

namespace barehip::pm4::detail {

template <class Variant>
Decoded<Variant> need_more(uint32_t dwords) {
  return {.outcome = Outcome::kNeedMore, .dwords = dwords};
}

template <class Variant>
Decoded<Variant> malformed(uint32_t dwords, const char* field, std::string error) {
  return {.outcome = Outcome::kMalformed, .dwords = dwords, .field = field, .error = std::move(error)};
}

/// `in` holds at least P::kDwords; `HeaderBits` are the bits of dword 0 that the framing has checked. On malformed
/// input the outcome names the field.
template <class P, class Variant, uint32_t HeaderBits>
Decoded<Variant> decode_fixed(std::span<const uint32_t> in, CapSet caps, uint32_t length) {
  constexpr std::array<uint32_t, P::kDwords> covered = covered_bits<P>(HeaderBits);
  P packet{};
  if (const char* bad = get_fields(packet, caps, in.data())) {
    CapSet missing;
    const auto look = [&](const auto& field) {
      if (field.name == bad) missing = field.needs;
    };
    std::apply([&](const auto&... field) { (look(field), ...); }, P::kFields);
    return malformed<Variant>(length, bad, field_text(P::kName, bad, missing));
  }
  for (unsigned i = 0; i < P::kDwords; ++i) {
    if (const uint32_t extra = in[i] & ~covered[i]) {
      return malformed<Variant>(length, "reserved", reserved_text(P::kName, i, extra));
    }
  }
  return {.outcome = Outcome::kPacket, .dwords = length, .packet = packet};
}

}  // namespace barehip::pm4::detail
