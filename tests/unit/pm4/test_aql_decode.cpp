// The AQL decoder: packets of stock programs, every refusal, and the PM4-IB packet that we build.
#include "pm4/aql.h"

#include <cstring>

#include "tests/catch.h"
#include "tests/unit/pm4/golden_packets.h"

using namespace barehip;
using namespace barehip::pm4;

namespace {

const CapSet k90a = find_packet_caps(90010)->caps;
const CapSet k1100 = find_packet_caps(110000)->caps;

using Dwords = std::array<uint32_t, 16>;

template <class P>
Dwords dwords_of(const P& packet) {
  Dwords out;
  static_assert(sizeof out == sizeof packet);
  std::memcpy(out.data(), &packet, sizeof packet);
  return out;
}

// vadd<<<4,256>>> as HIP 6.4.3 submits it on gfx90a.
aql::KernelDispatchPacket dispatch() {
  aql::KernelDispatchPacket p{};
  p.header = 0x0b02;
  p.setup = 3;
  p.workgroup_size_x = 256;
  p.workgroup_size_y = p.workgroup_size_z = 1;
  p.grid_size_x = 1024;
  p.grid_size_y = p.grid_size_z = 1;
  p.kernel_object = 0x7f1200000880;
  p.kernarg_address = 0x7f1300000300;
  return p;
}

std::string bad_field(const Dwords& dwords, CapSet caps) {
  auto decoded = decode_aql(dwords, caps);
  REQUIRE(decoded.outcome == Outcome::kMalformed);
  CHECK_FALSE(decoded.error.empty());
  return decoded.field;
}

template <class Edit>
std::string bad_dispatch(Edit edit) {
  auto packet = dispatch();
  edit(packet);
  return bad_field(dwords_of(packet), k90a);
}

}  // namespace

TEST_CASE("a dispatch decodes and prints") {
  auto decoded = decode_aql(dwords_of(dispatch()), k90a);
  REQUIRE(decoded.outcome == Outcome::kPacket);
  CHECK(describe(decoded.packet) ==
        "KERNEL_DISPATCH header=0xb02 barrier=0x1 acquire=agent release=agent setup=0x3 workgroup_size_x=0x100 "
        "workgroup_size_y=0x1 workgroup_size_z=0x1 grid_size_x=0x400 grid_size_y=0x1 grid_size_z=0x1 "
        "private_segment_size=0x0 group_segment_size=0x0 kernel_object=0x7f1200000880 "
        "kernarg_address=0x7f1300000300 completion_signal=0x0");
  const Dwords whole = dwords_of(dispatch());
  CHECK(decode_aql(std::span(whole).first(15), k90a).outcome == Outcome::kNeedMore);
}

TEST_CASE("a dispatch that hardware refuses is malformed, by field") {
  CHECK(bad_dispatch([](auto& p) { p.header |= 0x2000; }) == "header");
  CHECK(bad_dispatch([](auto& p) { p.header |= 3 << 9; }) == "acquire");
  CHECK(bad_dispatch([](auto& p) { p.header |= 3 << 11; }) == "release");
  CHECK(bad_dispatch([](auto& p) { p.header = (p.header & 0xff00) | 9; }) == "type");
  CHECK(bad_dispatch([](auto& p) { p.setup = 0; }) == "setup");
  CHECK(bad_dispatch([](auto& p) { p.setup = 7; }) == "setup");
  CHECK(bad_dispatch([](auto& p) { p.workgroup_size_y = 0; }) == "workgroup_size");
  CHECK(bad_dispatch([](auto& p) { p.workgroup_size_y = 5; }) == "workgroup_size");
  CHECK(bad_dispatch([](auto& p) { p.grid_size_z = 0; }) == "grid_size");
}

TEST_CASE("barriers of stock programs decode") {
  aql::BarrierPacket barrier{};
  barrier.header = 0x1503;
  barrier.dep_signal[1] = 0x1240;
  barrier.completion_signal = 0x1280;
  auto decoded = decode_aql(dwords_of(barrier), k90a);
  REQUIRE(decoded.outcome == Outcome::kPacket);
  CHECK(describe(decoded.packet) ==
        "BARRIER_AND header=0x1503 barrier=0x1 acquire=system release=system dep_signal=0x0 dep_signal=0x1240 "
        "dep_signal=0x0 dep_signal=0x0 dep_signal=0x0 completion_signal=0x1280");

  aql::VendorBarrierValuePacket value{};  // event record of HIP 5.7.1 and later on gfx90a
  value.header = 0x1500;
  value.vendor_format = 2;
  value.completion_signal = 0x1280;
  decoded = decode_aql(dwords_of(value), k90a);
  REQUIRE(decoded.outcome == Outcome::kPacket);
  CHECK(std::holds_alternative<aql::VendorBarrierValuePacket>(decoded.packet));
  CHECK(bad_field(dwords_of(value), k1100) == "vendor_format");
  value.condition = 4;
  CHECK(bad_field(dwords_of(value), k90a) == "condition");
  value.vendor_format = 9;
  CHECK(bad_field(dwords_of(value), k90a) == "vendor_format");
}

TEST_CASE("the PM4-IB packet is that of stock programs") {
  auto packet = make_pm4_ib_packet(k90a, 0x7f1200001000, 7, 0x1280);
  REQUIRE(packet.has_value());
  const Dwords dwords = dwords_of(*packet);
  // header 0, vendor header 1, an INDIRECT_BUFFER packet, 0xa dwords left, no fences.
  CHECK(dwords[0] == 0x00010000u);
  const auto& ib = golden::pm4_packets().back().dwords;
  CHECK(std::vector<uint32_t>(dwords.begin() + 1, dwords.begin() + 5) == ib);
  CHECK(dwords[5] == 0xau);
  CHECK(dwords[14] == 0x1280u);
  auto decoded = decode_aql(dwords, k90a);
  REQUIRE(decoded.outcome == Outcome::kPacket);
  CHECK(std::holds_alternative<aql::VendorPm4IbPacket>(decoded.packet));
  CHECK(bad_field(dwords, k90a.without(Cap::kAqlPm4Ib)) == "vendor_format");
  CHECK_FALSE(make_pm4_ib_packet(k90a.without(Cap::kAqlPm4Ib), 0x1000, 7, 0).has_value());
  CHECK_FALSE(make_pm4_ib_packet(k90a, 0x1002, 7, 0).has_value());
}

TEST_CASE("a slot that is not published is no error") {
  Dwords dwords{};
  dwords[0] = 1;
  auto decoded = decode_aql(dwords, k90a);
  REQUIRE(decoded.outcome == Outcome::kPacket);
  CHECK(std::holds_alternative<InvalidPacket>(decoded.packet));
}
