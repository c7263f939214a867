// AQL headers and layouts against values that stock ROCm programs put into their queues.
#include <barehip/aql.h>

#include <bit>
#include <cstring>

#include "tests/catch.h"

using namespace barehip::aql;

TEST_CASE("header bits are those of stock programs") {
  struct Row {
    uint16_t golden;
    PacketType type;
    bool barrier;
    FenceScope acquire, release;
  };
  // Headers seen in the queues of ROCm 5.2.3, 5.7.1, 6.4.3 and 7.2.4.
  const Row rows[] = {
      {0x0b02, PacketType::kKernelDispatch, true, FenceScope::kAgent, FenceScope::kAgent},
      {0x0d02, PacketType::kKernelDispatch, true, FenceScope::kSystem, FenceScope::kAgent},
      {0x1502, PacketType::kKernelDispatch, true, FenceScope::kSystem, FenceScope::kSystem},
      {0x1402, PacketType::kKernelDispatch, false, FenceScope::kSystem, FenceScope::kSystem},
      {0x1503, PacketType::kBarrierAnd, true, FenceScope::kSystem, FenceScope::kSystem},
      {0x0103, PacketType::kBarrierAnd, true, FenceScope::kNone, FenceScope::kNone},
      {0x1500, PacketType::kVendorSpecific, true, FenceScope::kSystem, FenceScope::kSystem},
      {0x0000, PacketType::kVendorSpecific, false, FenceScope::kNone, FenceScope::kNone},
  };
  for (const Row& row : rows) {
    CAPTURE(row.golden);
    CHECK(make_header(row.type, row.barrier, row.acquire, row.release) == row.golden);
    CHECK(header_type(row.golden) == row.type);
    CHECK(header_barrier(row.golden) == row.barrier);
    CHECK(header_acquire(row.golden) == row.acquire);
    CHECK(header_release(row.golden) == row.release);
  }
}

TEST_CASE("the first dword is header below, setup above") {
  CHECK(make_first_dword(0x0b02, 3) == 0x00030b02u);
  KernelDispatchPacket packet{};
  const uint32_t first = make_first_dword(0x0b02, 3);
  std::memcpy(&packet, &first, sizeof first);
  CHECK(packet.header == 0x0b02);
  CHECK(packet.setup == 3);
}
