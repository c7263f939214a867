#include "pm4/aql.h"

#include <bit>
#include <cstring>

#include "pm4/decode_one.h"

namespace barehip::pm4 {
namespace {

using namespace aql;

constexpr uint32_t kPacketDwords = kPacketBytes / 4;

Decoded<AqlPacket> bad(const char* field, std::string error) {
  return detail::malformed<AqlPacket>(kPacketDwords, field, std::move(error));
}

template <class P>
Decoded<AqlPacket> good(std::span<const uint32_t> in) {
  P packet;
  std::memcpy(&packet, in.data(), sizeof packet);
  return {.outcome = Outcome::kPacket, .dwords = kPacketDwords, .packet = packet};
}

constexpr uint32_t kMaxGroupItems = 1024;

Decoded<AqlPacket> decode_dispatch(std::span<const uint32_t> in) {
  auto out = good<KernelDispatchPacket>(in);
  const auto& p = std::get<KernelDispatchPacket>(out.packet);
  const unsigned dims = p.setup & 3;
  if (dims == 0) return bad("setup", "KERNEL_DISPATCH: 0 dimensions");
  if (p.setup & ~3u) return bad("setup", "KERNEL_DISPATCH: reserved bits of setup are set");
  const uint64_t items = uint64_t{p.workgroup_size_x} * p.workgroup_size_y * p.workgroup_size_z;
  if (items == 0) return bad("workgroup_size", "KERNEL_DISPATCH: a work-group dimension is 0");
  if (items > kMaxGroupItems) {
    return bad("workgroup_size", "KERNEL_DISPATCH: " + std::to_string(items) + " work-items in a group, " +
                                     std::to_string(kMaxGroupItems) + " at most");
  }
  if (!p.grid_size_x || !p.grid_size_y || !p.grid_size_z) {
    return bad("grid_size", "KERNEL_DISPATCH: a grid dimension is 0");
  }
  return out;
}

Decoded<AqlPacket> decode_vendor(std::span<const uint32_t> in, CapSet caps) {
  const uint32_t upper = in[0] >> 16;
  if (upper == static_cast<uint32_t>(VendorFormat::kPm4Ib)) {
    if (!caps.has(Cap::kAqlPm4Ib)) {
      return bad("vendor_format", detail::field_text("PM4_IB", "vendor_format", CapSet{Cap::kAqlPm4Ib}));
    }
    return good<VendorPm4IbPacket>(in);
  }
  if ((upper & 0xff) == static_cast<uint32_t>(VendorFormat::kBarrierValue)) {
    if (!caps.has(Cap::kAqlBarrierValue)) {
      return bad("vendor_format", detail::field_text("BARRIER_VALUE", "vendor_format", CapSet{Cap::kAqlBarrierValue}));
    }
    auto out = good<VendorBarrierValuePacket>(in);
    const uint32_t condition = std::get<VendorBarrierValuePacket>(out.packet).condition;
    if (condition > static_cast<uint32_t>(BarrierCondition::kGreaterEqual)) {
      return bad("condition", "BARRIER_VALUE: condition " + std::to_string(condition) + " is unknown");
    }
    return out;
  }
  return bad("vendor_format", "vendor packet: format " + std::to_string(upper) + " is unknown");
}

// ---- printing ---------------------------------------------------------------------------------------------

const char* type_name(uint16_t header) {
  static constexpr const char* kNames[] = {"VENDOR",      "INVALID",        "KERNEL_DISPATCH",
                                           "BARRIER_AND", "AGENT_DISPATCH", "BARRIER_OR"};
  const auto type = static_cast<size_t>(header_type(header));
  return type < std::size(kNames) ? kNames[type] : "?";
}

const char* scope_name(FenceScope scope) {
  static constexpr const char* kNames[] = {"none", "agent", "system", "3"};
  return kNames[static_cast<size_t>(scope) & 3];
}

struct Printer {
  std::string out;

  void header(const char* name, uint16_t value) {
    out = name;
    add("header", value);
    add("barrier", header_barrier(value));
    out += std::string(" acquire=") + scope_name(header_acquire(value));
    out += std::string(" release=") + scope_name(header_release(value));
  }
  void add(const char* name, uint64_t value) { detail::append_field(out, name, value); }

  std::string operator()(const InvalidPacket&) { return "INVALID"; }
  std::string operator()(const KernelDispatchPacket& p) {
    header("KERNEL_DISPATCH", p.header);
    add("setup", p.setup);
    add("workgroup_size_x", p.workgroup_size_x);
    add("workgroup_size_y", p.workgroup_size_y);
    add("workgroup_size_z", p.workgroup_size_z);
    add("grid_size_x", p.grid_size_x);
    add("grid_size_y", p.grid_size_y);
    add("grid_size_z", p.grid_size_z);
    add("private_segment_size", p.private_segment_size);
    add("group_segment_size", p.group_segment_size);
    add("kernel_object", p.kernel_object);
    add("kernarg_address", p.kernarg_address);
    add("completion_signal", p.completion_signal);
    return std::move(out);
  }
  std::string operator()(const BarrierPacket& p) {
    header(type_name(p.header), p.header);
    for (uint64_t dep : p.dep_signal) add("dep_signal", dep);
    add("completion_signal", p.completion_signal);
    return std::move(out);
  }
  std::string operator()(const AgentDispatchPacket& p) {
    header("AGENT_DISPATCH", p.header);
    add("type", p.type);
    add("return_address", p.return_address);
    for (uint64_t arg : p.arg) add("arg", arg);
    add("completion_signal", p.completion_signal);
    return std::move(out);
  }
  std::string operator()(const VendorPm4IbPacket& p) {
    header("PM4_IB", p.header);
    add("vendor_format", p.vendor_format);
    detail::append_dwords(out, p.indirect_buffer);
    add("dwords_remaining", p.dwords_remaining);
    add("completion_signal", p.completion_signal);
    return std::move(out);
  }
  std::string operator()(const VendorBarrierValuePacket& p) {
    header("BARRIER_VALUE", p.header);
    add("signal", p.signal);
    add("value", static_cast<uint64_t>(p.value));
    add("mask", static_cast<uint64_t>(p.mask));
    add("condition", p.condition);
    add("completion_signal", p.completion_signal);
    return std::move(out);
  }
};

}  // namespace

Decoded<AqlPacket> decode_aql(std::span<const uint32_t> in, CapSet caps) {
  if (in.size() < kPacketDwords) return detail::need_more<AqlPacket>(kPacketDwords);
  const auto header = static_cast<uint16_t>(in[0]);
  const PacketType type = header_type(header);
  if (type == PacketType::kInvalid) {
    return {.outcome = Outcome::kPacket, .dwords = kPacketDwords, .packet = InvalidPacket{}};
  }
  if (header & kHeaderReservedMask) return bad("header", "AQL: reserved bits of the header are set");
  if (header_acquire(header) > FenceScope::kSystem) return bad("acquire", "AQL: acquire scope 3 is unknown");
  if (header_release(header) > FenceScope::kSystem) return bad("release", "AQL: release scope 3 is unknown");
  switch (type) {
    case PacketType::kVendorSpecific: return decode_vendor(in, caps);
    case PacketType::kKernelDispatch: return decode_dispatch(in);
    case PacketType::kBarrierAnd:
    case PacketType::kBarrierOr: return good<BarrierPacket>(in);
    case PacketType::kAgentDispatch: return good<AgentDispatchPacket>(in);
    case PacketType::kInvalid: break;
  }
  return bad("type", "AQL: packet type " + std::to_string(header & 0xff) + " is unknown");
}

std::string describe(const AqlPacket& packet) { return std::visit(Printer{}, packet); }

Result<VendorPm4IbPacket> make_pm4_ib_packet(CapSet caps, uint64_t ib_address, uint32_t dwords,
                                             uint64_t completion_signal, uint16_t header) {
  if (!caps.has(Cap::kAqlPm4Ib)) {
    return fail(ErrorCode::kNotSupported, "make PM4-IB packet", "this target has no PM4-IB packet in AQL queues");
  }
  VendorPm4IbPacket packet{};
  auto written = encode(IndirectBuffer{.address = ib_address, .count = dwords}, caps, packet.indirect_buffer);
  if (!written) return std::unexpected(written.error());
  packet.header = header;
  packet.vendor_format = static_cast<uint16_t>(VendorFormat::kPm4Ib);
  packet.dwords_remaining = kPm4IbDwordsRemaining;
  packet.completion_signal = completion_signal;
  return packet;
}

}  // namespace barehip::pm4
