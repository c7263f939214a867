// Packets that stock ROCm programs (HIP 5.2.3, 5.7.1, 6.4.3, 7.2.4) put into their queues and indirect buffers, as
// dwords. Where the recording gives an address as an offset into an allocation, a number stands for it here; all
// other bits are as recorded. `expected` is our own one-line text of the packet.
#pragma once

// clang-format off: one packet a line, and the fuzzer's seeds are read from these lines.

#include <cstdint>
#include <vector>

namespace golden {

struct Packet {
  const char* seen_in;  ///< version and target of the recording
  uint32_t gfx_target_version;
  std::vector<uint32_t> dwords;
  const char* expected;
};

inline const std::vector<Packet>& sdma_packets() {
  static const std::vector<Packet> packets = {
      {"all, HDP flush before a copy", 90010, {0x00000008, 0, 0x80000000, 0, 0, 0},
       "POLL_REGMEM compare=0x0 memory=0x0 hdp_flush=0x0 address=0x8000000000000000 value=0x0 mask=0x0 "
       "interval=0x0 retry=0x0"},
      {"gfx1100, HDP flush before a copy", 110000, {0x00000008, 0, 0x80000000, 0, 0, 0},
       "POLL_REGMEM compare=0x0 memory=0x0 hdp_flush=0x0 address=0x8000000000000000 value=0x0 mask=0x0 "
       "interval=0x0 retry=0x0"},
      {"all, dependency", 90010, {0xb0000008, 0x005ff688, 0x00007f12, 0, 0xffffffff, 0x0fff0004},
       "POLL_REGMEM compare=0x3 memory=0x1 hdp_flush=0x0 address=0x7f12005ff688 value=0x0 mask=0xffffffff "
       "interval=0x4 retry=0xfff"},
      {"5.2.3, first part of 8 MiB", 90010, {0x00000001, 0x003fffdf, 0, 0x00000010, 0x7f12, 0x00800000, 0x7f13},
       "COPY_LINEAR bytes=0x3fffe0 src=0x7f1200000010 dst=0x7f1300800000 backwards=0x0 encrypt=0x0 tmz=0x0 "
       "dst_swap=0x0 src_swap=0x0 dst_cache_policy=0x0 src_cache_policy=0x0"},
      {"5.7.1 and later, 8 MiB in one", 90010, {0x00000001, 0x007fffff, 0, 0x00000010, 0x7f12, 0x00800000, 0x7f13},
       "COPY_LINEAR bytes=0x800000 src=0x7f1200000010 dst=0x7f1300800000 backwards=0x0 encrypt=0x0 tmz=0x0 "
       "dst_swap=0x0 src_swap=0x0 dst_cache_policy=0x0 src_cache_policy=0x0"},
      {"all, completion", 90010, {0x5e00000a, 0x001ff688, 0x7f12, 0xffffffff, 0xffffffff, 0, 0, 0},
       "ATOMIC operation=0x2f loop=0x0 tmz=0x0 address=0x7f12001ff688 src=0xffffffffffffffff compare=0x0 "
       "loop_interval=0x0"},
      {"5.2.3 and 5.7.1, mailbox", 90010, {0x00000005, 0x00000038, 0x7f12, 7},
       "FENCE address=0x7f1200000038 data=0x7 mtype=0x0 sys=0x0 snoop=0x0"},
      {"5.7.1 gfx1100, mailbox", 110000, {0x00030005, 0x00000038, 0x7f12, 7},
       "FENCE address=0x7f1200000038 data=0x7 mtype=0x3 sys=0x0 snoop=0x0"},
      {"5.2.3 and 5.7.1, interrupt", 90010, {0x00000006, 40}, "TRAP context=0x28"},
      {"gfx1100, before a copy", 110000, {0x00000111, 0, 0xc3c00000, 0, 0},
       "GCR_REQ base=0x0 limit=0x0 control=0xc3c0 vmid=0x0"},
      {"gfx1100, after a copy", 110000, {0x00000111, 0, 0x80400000, 0, 0},
       "GCR_REQ base=0x0 limit=0x0 control=0x8040 vmid=0x0"},
      {"filler at the end of a ring", 90010, {0}, "NOP skip_dwords=0x0"},
  };
  return packets;
}

inline const std::vector<Packet>& pm4_packets() {
  static const std::vector<Packet> packets = {
      {"5.2.3 and 5.7.1, after code was loaded", 90010, {0xc0055800, 0x28840000, 0xffffffff, 0xff, 0, 0, 0},
       "ACQUIRE_MEM control=0x28840000 size=0xffffffffff base=0x0 interval=0x0 header_flags=0x0"},
      {"6.4.3, after code was loaded", 90010, {0xc0055800, 0x28840000, 0xc0, 0, 0xf1200000, 0x7, 0},
       "ACQUIRE_MEM control=0x28840000 size=0xc0 base=0x7f1200000 interval=0x0 header_flags=0x0"},
      {"5.7.1 gfx1100", 110000, {0xc0065800, 0, 0xffffffff, 0xff, 0, 0, 0, 0x00004381},
       "ACQUIRE_MEM size=0xffffffffff base=0x0 interval=0x0 control=0x4381 engine=0x0 header_flags=0x0"},
      {"6.4.3 gfx1100", 110000, {0xc0065800, 0, 0x3f, 0, 0xf1200000, 0x7, 0, 0x00004381},
       "ACQUIRE_MEM size=0x3f base=0x7f1200000 interval=0x0 control=0x4381 engine=0x0 header_flags=0x0"},
      {"all, inside the PM4-IB packet", 90010, {0xc0023f00, 0x00001000, 0x7f12, 0x00800007},
       "INDIRECT_BUFFER address=0x7f1200001000 count=0x7 chain=0x0 valid=0x1 vmid=0x0 cache_policy=0x0 "
       "privileged=0x0 header_flags=0x0"},
  };
  return packets;
}

}  // namespace golden
