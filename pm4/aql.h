// AQL packets, decoded, checked and printed; the vendor packets built. The layouts are in <barehip/aql.h>.
#pragma once

#include <barehip/aql.h>

#include <variant>

#include "pm4/pm4.h"

namespace barehip::pm4 {

/// A packet that is not published yet.
struct InvalidPacket {};

using AqlPacket = std::variant<InvalidPacket, aql::KernelDispatchPacket, aql::BarrierPacket, aql::AgentDispatchPacket,
                               aql::VendorPm4IbPacket, aql::VendorBarrierValuePacket>;

/// Decodes one packet of 16 dwords (fewer: kNeedMore). Malformed: a type that this target lacks, reserved bits of the
/// header, a fence scope of 3, dimensions not 1 to 3, zero or too many work-items in a group, a zero grid, an unknown
/// vendor format or barrier condition. Reserved words of the body are not looked at: stock programs leave them dirty.
Decoded<AqlPacket> decode_aql(std::span<const uint32_t> in, CapSet caps);

/// One line with every field.
std::string describe(const AqlPacket& packet);

/// Vendor packet that runs the PM4 indirect buffer at `ib_address` (4-byte aligned, `dwords` long). The header has no
/// barrier and no fences, as in stock runtimes, unless `header` says otherwise.
Result<aql::VendorPm4IbPacket> make_pm4_ib_packet(CapSet caps, uint64_t ib_address, uint32_t dwords,
                                                  uint64_t completion_signal, uint16_t header = 0);

}  // namespace barehip::pm4
