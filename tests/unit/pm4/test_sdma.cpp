// SDMA packets: golden dwords of stock programs, round trips, refusal of what a target lacks, malformed input.
#include "pm4/sdma.h"

#include "pm4/pm4.h"

#include "tests/catch.h"
#include "tests/unit/pm4/golden_packets.h"

using namespace barehip;
using namespace barehip::pm4;

namespace {

CapSet caps_of(uint32_t version) {
  const PacketCaps* row = find_packet_caps(version);
  REQUIRE(row);
  return row->caps;
}

template <class P>
std::vector<uint32_t> encoded(const P& packet, CapSet caps) {
  std::vector<uint32_t> out(64, 0xa5a5a5a5);
  auto count = sdma::encode(packet, caps, out);
  INFO((count ? std::string() : count.error().text));
  REQUIRE(count.has_value());
  out.resize(*count);
  return out;
}

template <class P>
std::string encode_error(const P& packet, CapSet caps) {
  std::vector<uint32_t> out(64);
  auto count = sdma::encode(packet, caps, out);
  REQUIRE_FALSE(count.has_value());
  CHECK(count.error().code == ErrorCode::kInvalidArgument);
  return count.error().text;
}

std::string malformed_field(std::vector<uint32_t> dwords, CapSet caps) {
  auto decoded = sdma::decode(dwords, caps);
  INFO(decoded.error);
  REQUIRE(decoded.outcome == Outcome::kMalformed);
  CHECK_FALSE(decoded.error.empty());
  return decoded.field;
}

const CapSet k90a = find_packet_caps(90010)->caps;
const CapSet k1100 = find_packet_caps(110000)->caps;

}  // namespace

TEST_CASE("SDMA packets of stock programs decode, print and encode to the same dwords") {
  for (const golden::Packet& row : golden::sdma_packets()) {
    CAPTURE(row.seen_in);
    const CapSet caps = caps_of(row.gfx_target_version);
    auto decoded = sdma::decode(row.dwords, caps);
    INFO(decoded.error);
    REQUIRE(decoded.outcome == Outcome::kPacket);
    CHECK(decoded.dwords == row.dwords.size());
    CHECK(sdma::describe(decoded.packet) == row.expected);
    const auto again = std::visit([&](const auto& packet) { return encoded(packet, caps); }, decoded.packet);
    CHECK(again == row.dwords);
    for (size_t size = 0; size < row.dwords.size(); ++size) {
      auto part = sdma::decode(std::span(row.dwords).first(size), caps);
      CHECK(part.outcome == Outcome::kNeedMore);
      CHECK(part.dwords > size);
    }
  }
}

TEST_CASE("named helpers make the stock forms") {
  CHECK(encoded(sdma::hdp_flush(), k90a) == std::vector<uint32_t>{8, 0, 0x80000000, 0, 0, 0});
  CHECK(sdma::is_hdp_flush(sdma::hdp_flush()));
  CHECK(sdma::is_hdp_flush({.compare = sdma::Compare::kEqual, .hdp_flush = true}));
  CHECK_FALSE(sdma::is_hdp_flush({.compare = sdma::Compare::kEqual, .memory = true, .address = 8}));
  CHECK(encoded(sdma::GcrReq{.control = gcr::kSdmaAcquire}, k1100)[2] == 0xc3c00000u);
  const auto fill = sdma::fill_dwords(0x1000, 0xabad1dea, 4096);
  CHECK(encoded(fill, k90a) == std::vector<uint32_t>{0x8000000b, 0x1000, 0, 0xabad1dea, 4092});
  CHECK(sdma::fill_bytes(fill) == 4096);
  CHECK(sdma::fill_bytes({.unit = sdma::FillUnit::kDword, .count = 4095}) == 4096);  // the kernel driver's count
  CHECK(sdma::fill_bytes({.unit = sdma::FillUnit::kByte, .count = 4095}) == 4096);
}

TEST_CASE("packets with a payload carry it") {
  const std::vector<uint32_t> data{1, 2, 3};
  const auto dwords = encoded(sdma::WriteLinear{.dst = 0x1000, .count = 3, .data = data}, k90a);
  CHECK(dwords == std::vector<uint32_t>{2, 0x1000, 0, 2, 1, 2, 3});
  auto decoded = sdma::decode(dwords, k90a);
  REQUIRE(decoded.outcome == Outcome::kPacket);
  const auto& write = std::get<sdma::WriteLinear>(decoded.packet);
  CHECK(std::vector<uint32_t>(write.data.begin(), write.data.end()) == data);
  CHECK(sdma::describe(decoded.packet) == "WRITE_LINEAR dst=0x1000 count=0x3 encrypt=0x0 tmz=0x0 data=[0x1 0x2 0x3]");
  CHECK(sdma::decode(std::span(dwords).first(6), k90a).outcome == Outcome::kNeedMore);
  CHECK(encode_error(sdma::WriteLinear{.dst = 0x1000, .count = 2, .data = data}, k90a).find("count") !=
        std::string::npos);
  CHECK(encoded(sdma::Nop{.skip_dwords = 2}, k90a) == std::vector<uint32_t>{0x00020000, 0, 0});
  CHECK(sdma::decode(std::vector<uint32_t>{0x00020000, 7, 8}, k90a).dwords == 3);
}

TEST_CASE("what a target lacks is refused when encoded and when decoded") {
  const CapSet k900 = find_packet_caps(90000)->caps;
  const sdma::CopyLinear big{.bytes = 0x800000, .src = 0x1000, .dst = 0x2000};
  CHECK(encode_error(big, k900).find("COPY_LINEAR: bytes cannot be 0x800000") != std::string::npos);
  CHECK(malformed_field(encoded(big, k90a), k900) == "bytes");
  CHECK(encoded(sdma::CopyLinear{.bytes = 0x400000}, k900)[1] == 0x3fffffu);

  CHECK(encode_error(sdma::GcrReq{}, k90a).find("GCR_REQ") != std::string::npos);
  CHECK(malformed_field(encoded(sdma::GcrReq{}, k1100), k90a) == "op");
  const sdma::Fence fence{.address = 0x10, .data = 1, .mtype = 3};
  CHECK(encode_error(fence, k90a).find("mtype") != std::string::npos);
  CHECK(malformed_field(encoded(fence, k1100), k90a) == "mtype");

  // Each capability taken away alone makes exactly its own field or packet fail.
  CHECK(malformed_field(encoded(fence, k1100), k1100.without(Cap::kSdmaMtype)) == "mtype");
  CHECK(malformed_field(encoded(big, k1100), k1100.without(Cap::kSdmaCount30)) == "bytes");
  const auto big_fill = sdma::fill_dwords(0x1000, 1, 0x800000);
  CHECK(malformed_field(encoded(big_fill, k1100), k1100.without(Cap::kSdmaFill30)) == "count");
  CHECK(encode_error(big_fill, k90a).find("count") != std::string::npos);
  CHECK(malformed_field(encoded(sdma::GcrReq{}, k1100), k1100.without(Cap::kSdmaGcrReq)) == "op");
  CHECK(malformed_field(encoded(sdma::CopyLinear{.bytes = 4, .backwards = true}, k1100),
                        k1100.without(Cap::kSdmaBackwardsCopy)) == "backwards");
  CHECK(malformed_field(encoded(sdma::CopyLinear{.bytes = 4, .src_cache_policy = 3}, k1100),
                        k1100.without(Cap::kSdmaCachePolicy)) == "src_cache_policy");
}

TEST_CASE("values that do not fit are refused, by name") {
  CHECK(encode_error(sdma::CopyLinear{.bytes = 0}, k90a).find("bytes cannot be 0x0") != std::string::npos);
  CHECK(encode_error(sdma::Fence{.address = 2}, k90a).find("address cannot be 0x2") != std::string::npos);
  CHECK(encode_error(sdma::Indirect{.address = 0x10, .count = 8}, k90a).find("address") != std::string::npos);
  CHECK(encode_error(sdma::Trap{.context = 1u << 28}, k90a).find("context") != std::string::npos);
  CHECK(encode_error(sdma::TimestampGlobal{.address = 4}, k90a).find("address") != std::string::npos);
  std::vector<uint32_t> small(3);
  CHECK_FALSE(sdma::encode(sdma::Fence{}, k90a, small).has_value());
}

TEST_CASE("malformed SDMA dwords are named") {
  CHECK(malformed_field({0x000000ff}, k90a) == "op");
  CHECK(malformed_field({0x0000000e, 0, 0}, k90a) == "op");  // SRBM_WRITE is not for user queues
  CHECK(malformed_field({0x00000505}, k90a) == "op");
  CHECK(malformed_field({0x00000006, 0x10000000}, k90a) == "reserved");
  CHECK(malformed_field({0x00000005, 0x3, 0, 0}, k90a) == "reserved");
}

TEST_CASE("broadcast copies are told from linear ones") {
  const sdma::CopyBroadcast packet{.bytes = 64, .src = 0x1000, .dst = 0x2000, .dst2 = 0x3000};
  const auto dwords = encoded(packet, k90a);
  REQUIRE(dwords.size() == 9);
  CHECK(dwords[0] == 0x08000001u);
  auto decoded = sdma::decode(dwords, k90a);
  REQUIRE(decoded.outcome == Outcome::kPacket);
  CHECK(std::get<sdma::CopyBroadcast>(decoded.packet).dst2 == 0x3000);
}
