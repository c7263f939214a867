// The capability table: a row for every target that the code object loader runs, and what stock programs rely on.
#include "pm4/caps.h"

#include "codeobj/target.h"
#include "pm4/registers.h"
#include "tests/catch.h"

using namespace barehip;
using namespace barehip::pm4;

TEST_CASE("every target has packet capabilities") {
  for (const codeobj::Target& target : codeobj::targets()) {
    CAPTURE(target.name);
    const PacketCaps* caps = find_packet_caps(target.gfx_target_version);
    REQUIRE(caps);
    CHECK(caps->limits.sdma_max_copy_bytes % 32 == 0);
    CHECK(caps->limits.sdma_max_copy_bytes <= (caps->caps.has(Cap::kSdmaCount30) ? 1u << 30 : 1u << 22));
    CHECK(caps->limits.sdma_max_fill_bytes % 32 == 0);
    CHECK(caps->limits.sdma_max_fill_bytes <= 1u << 22);
    CHECK(caps->caps.has(Cap::kAqlPm4Ib));  // every stock version makes code visible by it
    CHECK(caps->caps.has(Cap::kGcr) == (target.major() >= 10));
    CHECK(caps->caps.has(Cap::kDispatchWave32) == target.wave32);
  }
  CHECK(find_packet_caps(100300) == nullptr);
}

TEST_CASE("the vendor barrier is where stock runtimes use it") {
  for (const uint32_t version : {90010u, 90402u}) {
    CHECK(find_packet_caps(version)->caps.has(Cap::kAqlBarrierValue));
  }
  for (const uint32_t version : {90000u, 90006u, 90008u, 110000u, 110501u}) {
    CHECK_FALSE(find_packet_caps(version)->caps.has(Cap::kAqlBarrierValue));
  }
}

// ROCr's blit queues: 0x3fffff bytes on gfx9 but 0x3fffffff on gfx90a and gfx11. The kernel's header of SDMA 4 has 22
// bits for both counts, that of SDMA 6 has 30.
TEST_CASE("copies and fills are as long as stock runtimes make them") {
  for (const uint32_t version : {90000u, 90006u, 90008u, 90402u}) {
    CHECK(find_packet_caps(version)->limits.sdma_max_copy_bytes <= 0x3fffff);
    CHECK_FALSE(find_packet_caps(version)->caps.has(Cap::kSdmaCount30));
  }
  for (const uint32_t version : {90010u, 110000u})
    CHECK(find_packet_caps(version)->limits.sdma_max_copy_bytes == 0x3fffffe0);
  CHECK_FALSE(find_packet_caps(90010)->caps.has(Cap::kSdmaFill30));
  CHECK(find_packet_caps(110000)->caps.has(Cap::kSdmaFill30));
}

TEST_CASE("capability sets add and take away single bits") {
  const CapSet set{Cap::kGcr, Cap::kSdmaMtype};
  CHECK(set.has(Cap::kGcr));
  CHECK_FALSE(set.without(Cap::kGcr).has(Cap::kGcr));
  CHECK(set.without(Cap::kGcr).has(Cap::kSdmaMtype));
  CHECK(set.without(Cap::kGcr).with(Cap::kGcr) == set);
  CHECK(set.has_all({Cap::kGcr}));
  CHECK_FALSE(set.has_all({Cap::kGcr, Cap::kSdmaGcrReq}));
  for (unsigned i = 0; i < static_cast<unsigned>(Cap::kCount); ++i) {
    CHECK(to_string(static_cast<Cap>(i)) != "?");
    CHECK_FALSE(to_string(static_cast<Cap>(i)).empty());
  }
}

TEST_CASE("scratch sizes that stock hosts wrote read back") {
  // gfx90a: 8 waves of 65 KiB for two groups of one wave. gfx1100: 512 waves of 0x82 units per shader engine.
  const TmpringFormat gfx9 = tmpring_format(find_packet_caps(90010)->caps);
  CHECK(make_tmpring_size(8, 0x41) == 0x41008);
  CHECK(tmpring_waves(0x41008) == 8);
  CHECK(tmpring_wave_bytes(0x41008, gfx9) == 65 * 1024);
  CHECK_FALSE(gfx9.waves_per_shader_engine);
  const TmpringFormat gfx11 = tmpring_format(find_packet_caps(110000)->caps);
  CHECK(make_tmpring_size(512, 0x82) == 0x82200);
  CHECK(tmpring_waves(0x82200) == 512);
  CHECK(tmpring_wave_bytes(0x82200, gfx11) == 0x82 * 256);
  CHECK(gfx11.waves_per_shader_engine);
}
