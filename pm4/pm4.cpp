#include "pm4/pm4.h"

#include <algorithm>
#include <iterator>

#include "pm4/decode_one.h"

namespace barehip::pm4 {
namespace {

constexpr uint32_t kFramingBits = 0xffffff00u;

struct OpcodeName {
  uint8_t op;
  std::string_view name;
};

// clang-format off
constexpr OpcodeName kOpcodeNames[] = {
    {0x10, "NOP"},              {0x11, "SET_BASE"},            {0x12, "CLEAR_STATE"},     {0x15, "DISPATCH_DIRECT"},
    {0x16, "DISPATCH_INDIRECT"},{0x1d, "ATOMIC_GDS"},          {0x1e, "ATOMIC_MEM"},      {0x20, "SET_PREDICATION"},
    {0x21, "REG_RMW"},          {0x22, "COND_EXEC"},           {0x23, "PRED_EXEC"},       {0x28, "CONTEXT_CONTROL"},
    {0x37, "WRITE_DATA"},       {0x39, "MEM_SEMAPHORE"},       {0x3c, "WAIT_REG_MEM"},    {0x3f, "INDIRECT_BUFFER"},
    {0x40, "COPY_DATA"},        {0x42, "PFP_SYNC_ME"},         {0x45, "COND_WRITE"},      {0x46, "EVENT_WRITE"},
    {0x49, "RELEASE_MEM"},      {0x50, "DMA_DATA"},            {0x58, "ACQUIRE_MEM"},     {0x59, "REWIND"},
    {0x5e, "LOAD_UCONFIG_REG"}, {0x5f, "LOAD_SH_REG"},         {0x60, "LOAD_CONFIG_REG"}, {0x61, "LOAD_CONTEXT_REG"},
    {0x68, "SET_CONFIG_REG"},   {0x69, "SET_CONTEXT_REG"},     {0x76, "SET_SH_REG"},      {0x77, "SET_SH_REG_OFFSET"},
    {0x78, "SET_QUEUE_REG"},    {0x79, "SET_UCONFIG_REG"},     {0x7d, "SCRATCH_RAM_WRITE"},
    {0x7e, "SCRATCH_RAM_READ"}, {0x8b, "SWITCH_BUFFER"},       {0x90, "FRAME_CONTROL"},   {0x93, "WAIT_REG_MEM64"},
    {0x94, "COND_PREEMPT"},     {0x95, "HDP_FLUSH"},           {0x98, "INVALIDATE_TLBS"}, {0x99, "AQL_PACKET"},
    {0x9a, "DMA_DATA_FILL_MULTI"}, {0x9b, "SET_SH_REG_INDEX"}, {0xa0, "SET_RESOURCES"},   {0xa1, "MAP_PROCESS"},
    {0xa2, "MAP_QUEUES"},       {0xa3, "UNMAP_QUEUES"},        {0xa4, "QUERY_STATUS"},    {0xa5, "RUN_LIST"},
};
// clang-format on

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
  std::string name(opcode_name(static_cast<uint8_t>(op)));
  if (!name.empty()) name = " (" + name + ")";
  return detail::malformed<Packet>(length, "op",
                                   "PM4: opcode " + std::to_string(op) + name +
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

std::string_view opcode_name(uint8_t op) {
  const auto* row = std::ranges::find(kOpcodeNames, op, &OpcodeName::op);
  return row == std::end(kOpcodeNames) ? std::string_view{} : row->name;
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
