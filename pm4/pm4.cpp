#include "pm4/pm4.h"

#include "pm4/decode_one.h"

namespace barehip::pm4 {
namespace {

constexpr uint32_t kFramingBits = 0xffffff00u;

template <class P>
constexpr bool available(CapSet caps) {
  if constexpr (requires { P::kNeeds; }) return caps.has_all(P::kNeeds);
  if constexpr (requires { P::kExcludes; }) return !caps.has_any(P::kExcludes);
  return true;
}

template <class P>
Decoded<Packet> decode_as(std::span<const uint32_t> in, CapSet caps, uint32_t length) {
  constexpr bool has_tail = requires { P::kTail; };
  if (length < P::kDwords || (!has_tail && length != P::kDwords)) {
    return detail::malformed<Packet>(length, "count",
                                     std::string(P::kName) + ": header says " + std::to_string(length) +
                                         " dwords, the packet has " + std::to_string(P::kDwords) +
                                         (has_tail ? " at least" : ""));
  }
  auto out = detail::decode_fixed<P, Packet, kFramingBits>(in, caps, length);
  if constexpr (has_tail) {
    if (out.outcome == Outcome::kPacket) {
      std::get<P>(out.packet).data = in.subspan(P::kDwords, length - P::kDwords);
    }
  }
  return out;
}

template <class... P>
Decoded<Packet> decode_any(std::span<const uint32_t> in, CapSet caps, uint32_t length, const std::variant<P...>*) {
  const uint32_t op = (in[0] >> 8) & 0xff;
  Decoded<Packet> out;
  const bool found = ((P::kOp == op && available<P>(caps) && (out = decode_as<P>(in, caps, length), true)) || ...);
  if (found) return out;
  const bool known = ((P::kOp == op) || ...);
  return detail::malformed<Packet>(length, "op",
                                   "PM4: opcode " + std::to_string(op) +
                                       (known ? " is not on this target" : " is not one that user queues may hold"));
}

}  // namespace

Decoded<Packet> decode(std::span<const uint32_t> in, CapSet caps) {
  if (in.empty()) return detail::need_more<Packet>(1);
  const uint32_t type = in[0] >> 30;
  if (type == 2) return {.outcome = Outcome::kPacket, .dwords = 1, .packet = Nop{}};
  if (type != 3) {
    return detail::malformed<Packet>(1, "type", "PM4: header of type " + std::to_string(type) + ", not 3");
  }
  const uint32_t count = (in[0] >> 16) & 0x3fff;
  const bool nop = ((in[0] >> 8) & 0xff) == Nop::kOp;
  const uint32_t length = nop && count == 0x3fff ? 1 : count + 2;
  if (in.size() < length) return detail::need_more<Packet>(length);
  return decode_any(in, caps, length, static_cast<const Packet*>(nullptr));
}

std::string describe(const Packet& packet) {
  return std::visit([](const auto& p) { return describe(p); }, packet);
}

Result<AcquireCode> make_acquire_code(CapSet caps, uint64_t base, uint64_t bytes) {
  constexpr uint64_t unit = uint64_t{1} << kAcquireShift;
  const uint64_t first = bytes ? base >> kAcquireShift : 0;
  const uint64_t size = bytes ? (((base % unit) + bytes + unit - 1) >> kAcquireShift) : kAcquireAllSize;
  AcquireCode out;
  Result<uint32_t> count;
  if (caps.has(Cap::kGcr)) {
    const uint32_t control = gcr::kGl2Inv | gcr::kGl1Inv | gcr::kGlvInv | gcr::kGlkInv | gcr::kGliInvAll;
    count = encode(AcquireMemGcr{.size = size, .base = first, .control = control}, caps, out.dwords);
  } else {
    const uint32_t control = coher::kShIcache | coher::kShKcache | coher::kTc | coher::kTcWriteback;
    count = encode(AcquireMemCoher{.control = control, .size = size, .base = first}, caps, out.dwords);
  }
  if (!count) return std::unexpected(count.error());
  out.count = *count;
  return out;
}

}  // namespace barehip::pm4
