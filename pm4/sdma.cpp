#include "pm4/sdma.h"

#include <iterator>

#include "pm4/decode_one.h"

namespace barehip::pm4::sdma {
namespace {

// By number. 16 and 32 differ: up to engine version 4 the first is DUMMY_TRAP.
constexpr std::string_view kOpNames[] = {"NOP",    "COPY",      "WRITE",       "",         "INDIRECT",  "FENCE",
                                         "TRAP",   "SEM",       "POLL_REGMEM", "COND_EXE", "ATOMIC",    "CONST_FILL",
                                         "PTEPDE", "TIMESTAMP", "SRBM_WRITE",  "PRE_EXE",  "GPUVM_INV", "GCR_REQ"};
constexpr uint8_t kDummyTrap = 32;

template <class P>
constexpr uint32_t select_mask() {
  if constexpr (requires { P::kSelectMask; }) return P::kSelectMask;
  return 0;
}

template <class P>
constexpr bool selects(uint32_t header) {
  if ((header & 0xff) != P::kOp || ((header >> 8) & 0xff) != P::kSubOp) return false;
  if constexpr (requires { P::kSelectMask; }) return (header & P::kSelectMask) == P::kSelectValue;
  return true;
}

template <class P>
Decoded<Packet> decode_as(std::span<const uint32_t> in, CapSet caps) {
  if constexpr (requires { P::kNeeds; }) {
    if (!caps.has_all(P::kNeeds)) {
      return detail::malformed<Packet>(P::kDwords, "op", detail::field_text(P::kName, "op", P::kNeeds));
    }
  }
  if (in.size() < P::kDwords) return detail::need_more<Packet>(P::kDwords);
  auto out = detail::decode_fixed < P, Packet, 0xffffu | select_mask<P>() > (in, caps, P::kDwords);
  if (out.outcome != Outcome::kPacket) return out;
  P& packet = std::get<P>(out.packet);
  if constexpr (std::is_same_v<P, Nop>) {
    out.dwords += packet.skip_dwords;
    if (in.size() < out.dwords) return detail::need_more<Packet>(out.dwords);
  }
  if constexpr (requires { P::kTail; }) {
    out.dwords += packet.count;
    if (in.size() < out.dwords) return detail::need_more<Packet>(out.dwords);
    packet.data = in.subspan(P::kDwords, packet.count);
  }
  return out;
}

template <class... P>
Decoded<Packet> decode_any(std::span<const uint32_t> in, CapSet caps, const std::variant<P...>*) {
  Decoded<Packet> out;
  const bool found = ((selects<P>(in[0]) && (out = decode_as<P>(in, caps), true)) || ...);
  if (found) return out;
  const uint32_t op = in[0] & 0xff, sub_op = (in[0] >> 8) & 0xff;
  std::string name(op_name(static_cast<uint8_t>(op)));
  if (!name.empty()) name = " (" + name + ")";
  return detail::malformed<Packet>(
      1, "op",
      "SDMA: user queues have no packet with op " + std::to_string(op) + name + " sub-op " + std::to_string(sub_op));
}

}  // namespace

Decoded<Packet> decode(std::span<const uint32_t> in, CapSet caps) {
  if (in.empty()) return detail::need_more<Packet>(1);
  return decode_any(in, caps, static_cast<const Packet*>(nullptr));
}

std::string_view op_name(uint8_t op) {
  if (op == kDummyTrap) return "DUMMY_TRAP";
  return op < std::size(kOpNames) ? kOpNames[op] : std::string_view{};
}

std::string describe(const Packet& packet) {
  return std::visit([](const auto& p) { return pm4::describe(p); }, packet);
}

}  // namespace barehip::pm4::sdma
