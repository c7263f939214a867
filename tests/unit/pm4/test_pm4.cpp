// PM4 packets: golden dwords of stock programs, round trips, framing, and the buffer that makes new code visible.
#include "pm4/pm4.h"

#include "tests/catch.h"
#include "tests/unit/pm4/golden_packets.h"

using namespace barehip;
using namespace barehip::pm4;

namespace {

const CapSet k90a = find_packet_caps(90010)->caps;
const CapSet k1100 = find_packet_caps(110000)->caps;

template <class P>
std::vector<uint32_t> encoded(const P& packet, CapSet caps) {
  std::vector<uint32_t> out(64, 0xa5a5a5a5);
  auto count = encode(packet, caps, out);
  INFO((count ? std::string() : count.error().text));
  REQUIRE(count.has_value());
  out.resize(*count);
  return out;
}

std::string malformed_field(std::vector<uint32_t> dwords, CapSet caps) {
  auto decoded = decode(dwords, caps);
  INFO(decoded.error);
  REQUIRE(decoded.outcome == Outcome::kMalformed);
  return decoded.field;
}

template <class P>
void check_round_trip(const P& packet, CapSet caps, std::vector<uint32_t> expected) {
  CAPTURE(describe(packet));
  const auto dwords = encoded(packet, caps);
  CHECK(dwords == expected);
  auto decoded = decode(dwords, caps);
  REQUIRE(decoded.outcome == Outcome::kPacket);
  CHECK(decoded.dwords == dwords.size());
  REQUIRE(std::holds_alternative<P>(decoded.packet));
  CHECK(describe(decoded.packet) == describe(packet));
}

}  // namespace

TEST_CASE("PM4 packets of stock programs decode, print and encode to the same dwords") {
  for (const golden::Packet& row : golden::pm4_packets()) {
    CAPTURE(row.seen_in);
    const CapSet caps = find_packet_caps(row.gfx_target_version)->caps;
    auto decoded = decode(row.dwords, caps);
    INFO(decoded.error);
    REQUIRE(decoded.outcome == Outcome::kPacket);
    CHECK(decoded.dwords == row.dwords.size());
    CHECK(describe(decoded.packet) == row.expected);
    const auto again = std::visit([&](const auto& packet) { return encoded(packet, caps); }, decoded.packet);
    CHECK(again == row.dwords);
    for (size_t size = 0; size < row.dwords.size(); ++size) {
      CHECK(decode(std::span(row.dwords).first(size), caps).outcome == Outcome::kNeedMore);
    }
  }
}

TEST_CASE("the buffer that makes code visible is that of stock programs") {
  const auto dwords = [](CapSet caps, uint64_t base, uint64_t bytes) {
    auto made = make_acquire_code(caps, base, bytes);
    REQUIRE(made.has_value());
    return std::vector<uint32_t>(made->dwords.begin(), made->dwords.begin() + made->count);
  };
  const auto& golden = golden::pm4_packets();
  CHECK(dwords(k90a, 0, 0) == golden[0].dwords);
  CHECK(dwords(k90a, 0x7f120000000, 0xc000) == golden[1].dwords);
  CHECK(dwords(k1100, 0, 0) == golden[2].dwords);
  CHECK(dwords(k1100, 0x7f120000000, 0x3f00) == golden[3].dwords);
  // A range that starts inside a unit is rounded outwards.
  CHECK(dwords(k90a, 0x7f1200000f0, 0x20)[2] == 2);
}

TEST_CASE("one description encodes and decodes each packet") {
  const std::vector<uint32_t> two{7, 8};
  check_round_trip(EventWrite{.type = kEventCsPartialFlush, .index = 4}, k90a, {0xc0004600, 0x407});
  check_round_trip(DispatchIndirect{.address = 0x100001004, .initiator = 5}, k90a, {0xc0021600, 0x1004, 1, 5});
  check_round_trip(CondExec{.address = 0x100001004, .count = 5}, k90a, {0xc0032200, 0x1004, 1, 0, 5});
  check_round_trip(PredExec{.count = 7, .xcc_mask = 2}, k90a, {0xc0002300, 0x02000007});
  check_round_trip(DispatchDirect{.dim_x = 4, .dim_y = 2, .dim_z = 1, .initiator = 5, .header_flags = 2}, k90a,
                   {0xc0031502, 4, 2, 1, 5});
  check_round_trip(WriteData{.write_confirm = true, .address = 0x1122334455667788, .data = two}, k90a,
                   {0xc0043700, 0x00100500, 0x55667788, 0x11223344, 7, 8});
  check_round_trip(
      WaitRegMem{.compare = Compare::kEqual, .memory = true, .address = 0x100001000, .reference = 1, .mask = ~0u}, k90a,
      {0xc0053c00, 0x13, 0x1000, 1, 1, 0xffffffff, 4});
  check_round_trip(WaitRegMem64{.compare = Compare::kGreaterEqual,
                                .memory = true,
                                .address = 0x1000,
                                .reference = 0x200000001,
                                .mask = ~uint64_t{0}},
                   k1100, {0xc0079300, 0x15, 0x1000, 0, 1, 2, 0xffffffff, 0xffffffff, 4});
  check_round_trip(CopyData{.source = CopySource::kGpuClock, .two_dwords = true, .write_confirm = true, .dst = 0x2000},
                   k90a, {0xc0044000, 9u | 5u << 8 | 1u << 16 | 1u << 20, 0, 0, 0x2000, 0});
  check_round_trip(ReleaseMem{.cache_actions = release_coher::kTcWriteback | release_coher::kTc,
                              .interrupt = ReleaseInterrupt::kAfterConfirm,
                              .data_kind = ReleaseData::kQword,
                              .address = 0x3000,
                              .data = 5,
                              .interrupt_context = 9},
                   k90a, {0xc0064900, 0x14u | 5u << 8 | 1u << 15 | 1u << 17, 2u << 24 | 2u << 29, 0x3000, 0, 5, 0, 9});
  check_round_trip(AtomicMem{.address = 0x4000, .src = ~uint64_t{0}}, k90a,
                   {0xc0071e00, 47, 0x4000, 0, 0xffffffff, 0xffffffff, 0, 0, 0});
  check_round_trip(SetShReg{.offset = 0x20c, .data = two}, k90a, {0xc0027600, 0x20c, 7, 8});
  check_round_trip(SetUconfigReg{.offset = 0x10, .data = two}, k1100, {0xc0027900, 0x10, 7, 8});
  check_round_trip(Nop{.data = two}, k90a, {0xc0011000, 7, 8});
}

TEST_CASE("fillers have their own lengths") {
  CHECK(decode(std::vector<uint32_t>{kOneDwordNop, 5}, k90a).dwords == 1);
  CHECK(decode(std::vector<uint32_t>{0x80000000}, k90a).dwords == 1);
  CHECK(encoded(Nop{}, k90a) == std::vector<uint32_t>{kOneDwordNop});
}

TEST_CASE("malformed PM4 dwords are named") {
  CHECK(malformed_field({0}, k90a) == "type");
  CHECK(malformed_field({0x40000000}, k90a) == "type");
  CHECK(malformed_field({0xc000a000, 0}, k90a) == "op");            // SET_RESOURCES is the kernel's
  CHECK(malformed_field({0xc0014600, 0x407, 0}, k90a) == "count");  // EVENT_WRITE has two dwords
  CHECK(malformed_field({0xc0004600, 0x80000407}, k90a) == "reserved");
  CHECK(malformed_field({0xc0004680, 0x407}, k90a) == "reserved");
  CHECK(malformed_field(encoded(WaitRegMem64{}, k1100), k90a) == "op");
  CHECK(malformed_field({0xc0055800, 0x28840000, 0, 0, 0, 0, 0}, k1100) == "count");
}

TEST_CASE("a packet that the target lacks is not encoded") {
  std::vector<uint32_t> out(16);
  CHECK_FALSE(encode(WaitRegMem64{}, k90a, out).has_value());
  CHECK_FALSE(encode(AcquireMemGcr{}, k90a, out).has_value());
  CHECK_FALSE(encode(AcquireMemCoher{}, k1100, out).has_value());
  CHECK_FALSE(encode(IndirectBuffer{.address = 2}, k90a, out).has_value());
  CHECK_FALSE(encode(IndirectBuffer{.address = uint64_t{1} << 48}, k90a, out).has_value());
}
