// Instructions that the outside vectors do not have, against what the instruction set manuals say. Words are what LLVM
// 19 assembles the text beside them to.
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/catch.h"
#include "tests/unit/vshader/wave_bench.h"

using namespace vgpu;

namespace {

void run(WaveBench& bench, std::initializer_list<uint32_t> words) {
  const std::vector<uint32_t> code(words);
  REQUIRE(bench.execute(code));
  INFO(bench.wave().error.text);
  REQUIRE(bench.wave().state == WaveState::kRunning);
}

void set_lds(WaveBench& bench, uint32_t address, uint32_t value) { std::memcpy(bench.lds() + address, &value, 4); }
uint32_t lds_at(WaveBench& bench, uint32_t address) {
  uint32_t value;
  std::memcpy(&value, bench.lds() + address, 4);
  return value;
}
uint32_t memory_at(WaveBench& bench, uint32_t address) {
  uint32_t value;
  std::memcpy(&value, bench.memory() + address, 4);
  return value;
}
void set_memory(WaveBench& bench, uint32_t address, uint32_t value) {
  std::memcpy(bench.memory() + address, &value, 4);
}

uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }

/// A buffer resource in s[8:11] over the test's memory.
void set_buffer(WaveBench& bench, uint32_t stride, uint32_t records, uint32_t word3) {
  Wave& w = bench.wave();
  w.s[8] = static_cast<uint32_t>(WaveBench::kMemoryVa);
  w.s[9] = static_cast<uint32_t>(WaveBench::kMemoryVa >> 32) | stride << 16;
  w.s[10] = records;
  w.s[11] = word3;
}

constexpr uint32_t kXyzw = 4 | 5 << 3 | 6 << 6 | 7 << 9;

}  // namespace

TEST_CASE("DS instructions from memory to memory find the second place by the offset or the address") {
  WaveBench bench("gfx900", false);
  Wave& w = bench.wave();
  w.set_mask(kExecLo, 1);
  w.vgpr(0)[0] = 64;
  set_lds(bench, 64, 10);
  set_lds(bench, 64 + 16, 5);
  run(bench, {0xd9000004, 0});  // ds_add_src2_u32 v0 offset:4, in dwords
  CHECK(lds_at(bench, 64) == 15);
  // Offset bit 15: the distance is in the address' upper bits.
  w.vgpr(0)[0] = 3u << 17 | 64;
  run(bench, {0xd99a8008, 0});  // ds_write_src2_b64 v0 offset:32776: the address itself is out of the allocation
  CHECK(lds_at(bench, 64) == 15);
}

TEST_CASE("ds_condxchg32 replaces the dwords whose new value is marked") {
  WaveBench bench("gfx900", false);
  Wave& w = bench.wave();
  w.set_mask(kExecLo, 1);
  w.vgpr(0)[0] = 32;
  w.vgpr(2)[0] = 0x80000007;
  w.vgpr(3)[0] = 9;
  set_lds(bench, 40, 1);
  set_lds(bench, 44, 2);
  run(bench, {0xd8fc0008, 0x04000200});  // ds_condxchg32_rtn_b64 v[4:5], v0, v[2:3] offset:8
  CHECK(w.vgpr(4)[0] == 1);
  CHECK(w.vgpr(5)[0] == 2);
  CHECK(lds_at(bench, 40) == 7);
  CHECK(lds_at(bench, 44) == 2);
}

TEST_CASE("scalar buffer atomics stay inside the buffer") {
  WaveBench bench("gfx900", false);
  Wave& w = bench.wave();
  set_buffer(bench, 0, 0x28, 0);
  set_memory(bench, 0x10, 40);
  w.s[4] = 2;
  run(bench, {0xc10b0104, 0x10});  // s_buffer_atomic_add s4, s[8:11], 0x10 glc
  CHECK(w.s[4] == 40);
  CHECK(memory_at(bench, 0x10) == 42);
  set_memory(bench, 0x20, 7);
  w.s[4] = 1;
  w.s[5] = 0;
  w.s[6] = 7;
  w.s[7] = 0;
  run(bench, {0xc1870104, 0x20});  // s_buffer_atomic_cmpswap_x2 s[4:7], s[8:11], 0x20 glc
  CHECK(w.s[4] == 7);
  CHECK(memory_at(bench, 0x20) == 1);
  w.s[10] = 0x27;
  run(bench, {0xc1870104, 0x20});
  CHECK(w.s[4] == 0);
  CHECK(memory_at(bench, 0x20) == 1);
}

TEST_CASE("a fork runs the smaller part first and join goes back for the other") {
  WaveBench bench("gfx900", false);
  Wave& w = bench.wave();
  w.mode = 0x3f0;
  w.pc = w.next_pc = 0x1000;
  w.set_mask(kExecLo, 0xff);
  w.set_s64(20, 0x7);        // three of eight go to the label
  w.s[24] = 0;               // depth of the stack before the fork
  run(bench, {0xb8140004});  // s_cbranch_i_fork s[20:21], 4
  CHECK(w.exec() == 0x7);
  CHECK(w.next_pc == 0x1000 + 4 + 16);
  w.pc = 0x2000;
  run(bench, {0xbe802e18});  // s_cbranch_join s24
  CHECK(w.exec() == 0xf8);
  CHECK(w.next_pc == 0x1004);
  w.pc = 0x2000;
  run(bench, {0xbe802e18});
  CHECK(w.next_pc == 0x2004);
  CHECK(w.mode == 0x3f0);
  // All one way: nothing to come back for.
  w.set_mask(kExecLo, 0x7);
  w.set_s64(22, 0x4000);
  run(bench, {0x94801614});  // s_cbranch_g_fork s[20:21], s[22:23]
  CHECK(w.next_pc == 0x4000);
  CHECK(w.mode == 0x3f0);
}

TEST_CASE("a subvector loop runs its body once for each half that has lanes") {
  for (const uint64_t lanes : {0x1'0000'0003ull, 0x3ull, 0x3'0000'0000ull, 0x0ull}) {
    WaveBench bench("gfx1100", false);
    Wave& w = bench.wave();
    w.set_mask(kExecLo, lanes);
    w.pc = 0x1000;
    std::vector<uint64_t> bodies;
    run(bench, {0xbb020004});  // s_subvector_loop_begin s2, 4
    if (w.next_pc == 0x1004) {
      for (int n = 0; n < 3; ++n) {
        bodies.push_back(w.exec());
        w.pc = 0x1010;
        run(bench, {0xbb82fffc});  // s_subvector_loop_end s2, -4
        if (w.next_pc == 0x1014) break;
      }
    }
    std::vector<uint64_t> wanted;
    if (lanes & 0xffffffff) wanted.push_back(lanes & 0xffffffff);
    if (lanes >> 32) wanted.push_back(lanes & 0xffffffff00000000);
    CHECK(bodies == wanted);
    CHECK(w.exec() == lanes);
  }
}

TEST_CASE("buffer formats of gfx9 come from the resource and convert both ways") {
  WaveBench bench("gfx90a", false);
  Wave& w = bench.wave();
  w.set_mask(kExecLo, 3);
  w.vgpr(0)[1] = 1;
  set_memory(bench, 0, 0x80ff7f00);
  set_memory(bench, 4, 0x01020304);
  const auto load = [&](uint32_t data_format, uint32_t number_format, uint32_t records = 2) {
    set_buffer(bench, 4, records, kXyzw | number_format << 12 | data_format << 15);
    run(bench, {0xe00c2000, 0x80020400});  // buffer_load_format_xyzw v[4:7], v0, s[8:11], 0 idxen
  };
  load(10, 0);  // 8_8_8_8 unorm
  CHECK(w.vgpr(4)[0] == 0);
  CHECK(w.vgpr(5)[0] == bits(127.0f / 255));
  CHECK(w.vgpr(6)[0] == bits(1.0f));
  CHECK(w.vgpr(7)[0] == bits(128.0f / 255));
  CHECK(w.vgpr(4)[1] == bits(4.0f / 255));
  load(10, 1);  // snorm: the lowest value is -1 too
  CHECK(w.vgpr(5)[0] == bits(1.0f));
  CHECK(w.vgpr(6)[0] == bits(-1.0f / 127));
  CHECK(w.vgpr(7)[0] == bits(-1.0f));
  load(10, 5);  // sint
  CHECK(w.vgpr(6)[0] == 0xffffffff);
  CHECK(w.vgpr(7)[0] == 0xffffff80);
  load(10, 4, 1);  // uint; the second record is out of range
  CHECK(w.vgpr(7)[0] == 0x80);
  CHECK(w.vgpr(7)[1] == 0);
  load(9, 0);  // 2_10_10_10: the last component is the highest two bits
  CHECK(w.vgpr(4)[0] == bits(static_cast<float>(0x80ff7f00 & 0x3ff) / 1023));
  CHECK(w.vgpr(7)[0] == bits(2.0f / 3));
  load(2, 7);  // 16 float: what the format lacks is 0, 0, 1
  CHECK(w.vgpr(4)[1] == bits(0x304 * 0x1p-24f));
  CHECK(w.vgpr(5)[1] == 0);
  CHECK(w.vgpr(7)[1] == bits(1.0f));

  w.vgpr(4)[0] = bits(0.5f);
  w.vgpr(5)[0] = bits(2.0f);
  w.vgpr(6)[0] = bits(-1.0f);
  w.vgpr(7)[0] = bits(1.0f);
  w.set_mask(kExecLo, 1);
  set_buffer(bench, 4, 2, kXyzw | 0 << 12 | 10 << 15);
  run(bench, {0xe01c2000, 0x80020400});  // buffer_store_format_xyzw v[4:7], v0, s[8:11], 0 idxen
  CHECK(memory_at(bench, 0) == 0xff00ff80);
  CHECK(memory_at(bench, 4) == 0x01020304);
  run(bench, {0xe02c2000, 0x80020400});  // buffer_load_format_d16_xyzw v[4:5], v0, s[8:11], 0 idxen
  CHECK(w.vgpr(4)[0] == 0x3c003804);     // 128/255 as a half, 1.0
  CHECK(w.vgpr(5)[0] == 0x3c000000);
}

TEST_CASE("typed buffers of gfx11 use its one list of formats") {
  WaveBench bench("gfx1100", true);
  Wave& w = bench.wave();
  w.set_mask(kExecLo, 1);
  set_buffer(bench, 0, 64, kXyzw | 3u << 28);
  w.vgpr(4)[0] = bits(1.5f);
  w.vgpr(5)[0] = bits(1.0f / 3);
  w.vgpr(6)[0] = bits(1e9f);
  // tbuffer_store_format_xyz v[4:6], v0, s[8:11], 0 format:[BUF_FMT_10_11_11_FLOAT] offen
  run(bench, {0xe8f30000, 0x80420400});
  run(bench, {0xe8f10000, 0x80420400});  // tbuffer_load_format_xyz
  CHECK(w.vgpr(4)[0] == bits(1.5f));
  CHECK(std::fabs(std::bit_cast<float>(w.vgpr(5)[0]) - 1.0f / 3) < 1.0f / 256);
  CHECK(std::isinf(std::bit_cast<float>(w.vgpr(6)[0])));
  // The resource's own format, 22: 32_FLOAT.
  set_memory(bench, 4, bits(7.0f));
  set_buffer(bench, 4, 4, kXyzw | 22 << 12);
  w.vgpr(0)[0] = 1;
  run(bench, {0xe00c0000, 0x80820400});  // buffer_load_format_xyzw v[4:7], v0, s[8:11], 0 idxen
  CHECK(w.vgpr(4)[0] == bits(7.0f));
  CHECK(w.vgpr(7)[0] == bits(1.0f));
}

TEST_CASE("scalar floating point follows MODE and takes half constants") {
  WaveBench bench("gfx1150", true);
  Wave& w = bench.wave();
  w.s[2] = bits(2.5f);
  run(bench, {0xa004f202});  // s_add_f32 s4, s2, 1.0
  CHECK(w.s[4] == bits(3.5f));
  w.s[2] = bits(0x1p-30f);
  w.mode = 0x3f1;  // round up
  run(bench, {0xa004f202});
  CHECK(w.s[4] == bits(1.0f) + 1);
  w.mode = 0x3f0;
  run(bench, {0xa004f202});
  CHECK(w.s[4] == bits(1.0f));
  w.s[2] = bits(2.0f);
  w.s[3] = bits(5.0f);
  run(bench, {0xa2840302, 0x40400000});  // s_fmaak_f32 s4, s2, s3, 0x40400000
  CHECK(w.s[4] == bits(13.0f));
  run(bench, {0xbe846bf0});  // s_ceil_f16 s4, 0.5
  CHECK(w.s[4] == 0x3c00);
  w.s[2] = 0x7e00;
  w.s[3] = 0x3c00;
  run(bench, {0xbf5e0302});  // s_cmp_nlt_f16 s2, s3
  CHECK(w.scc() == 1);
  w.s[2] = bits(1.0009f);
  w.s[3] = bits(-1.0009f);
  run(bench, {0xa4040302});  // s_cvt_pk_rtz_f16_f32 s4, s2, s3
  CHECK(w.s[4] == 0xbc003c00);
}

TEST_CASE("8-bit floats of gfx942 have neither infinity nor negative zero") {
  WaveBench bench("gfx942", false);
  Wave& w = bench.wave();
  w.set_mask(kExecLo, 0xff);
  const float values[] = {1.0f, -240.0f, 248.0f, -0.0f, 0x1p-10f, 0x1p-11f, -0x1p-12f, 1.0625f};
  for (unsigned l = 0; l < 8; ++l) {
    w.vgpr(0)[l] = bits(values[l]);
    w.vgpr(1)[l] = bits(0.5f);
    w.vgpr(4)[l] = 0x11112222;
  }
  run(bench, {0xd2a24004, 0x00020300});  // v_cvt_pk_fp8_f32 v4, v0, v1 op_sel:[0,0,1]
  const uint32_t wanted[] = {0x40, 0xff, 0x80, 0x00, 0x01, 0x00, 0x00, 0x40};
  for (unsigned l = 0; l < 8; ++l) {
    INFO(l);
    CHECK(w.vgpr(4)[l] == (0x38000000 | wanted[l] << 16 | 0x2222));
  }
  w.mode |= 1u << 23;  // FP16_OVFL
  run(bench, {0xd2a24004, 0x00020300});
  CHECK((w.vgpr(4)[2] >> 16 & 0xff) == 0x7f);
  // Stochastic rounding: with the largest noise everything that is not exact goes up, with none it is cut off.
  w.vgpr(1)[7] = 0xffffffff;
  w.vgpr(1)[0] = 0xffffffff;
  run(bench, {0xd2a40004, 0x00020300});  // v_cvt_sr_fp8_f32 v4, v0, v1
  CHECK((w.vgpr(4)[7] & 0xff) == 0x41);
  CHECK((w.vgpr(4)[0] & 0xff) == 0x40);
  w.vgpr(0)[0] = 0x80c1;
  run(bench, {0x7e08ad00});  // v_cvt_pk_f32_fp8 v[4:5], v0
  CHECK(w.vgpr(4)[0] == bits(-1.125f));
  CHECK(std::isnan(std::bit_cast<float>(w.vgpr(5)[0])));
}

TEST_CASE("gfx90a flushes denormal halves in matrix and dot instructions, gfx942 does not") {
  for (const char* target : {"gfx90a", "gfx942"}) {
    WaveBench bench(target, false);
    Wave& w = bench.wave();
    w.set_mask(kExecLo, ~0ull);
    for (unsigned l = 0; l < 64; ++l) {
      w.vgpr(0)[l] = 0x00000001;  // the smallest denormal half
      w.vgpr(2)[l] = 0x00004000;  // 2.0
      w.vgpr(4)[l] = 0;
    }
    const uint32_t wanted = std::string_view(target) == "gfx90a" ? 0 : bits(0x1p-23f);
    run(bench, {0xd3ca0008, 0x02020500});  // v_mfma_f32_4x4x4f16 v[8:11], v[0:1], v[2:3], 0
    CHECK(w.vgpr(8)[0] == wanted);
    run(bench, {0xd3a34008, 0x1c120500});  // v_dot2_f32_f16 v8, v0, v2, v4
    CHECK(w.vgpr(8)[0] == wanted);
  }
}

TEST_CASE("doubles of gfx942's matrix instructions are negated by what chooses lanes elsewhere") {
  WaveBench bench("gfx942", false);
  Wave& w = bench.wave();
  const uint32_t two = static_cast<uint32_t>(std::bit_cast<uint64_t>(2.0) >> 32);
  for (unsigned l = 0; l < 64; ++l) w.vgpr(1)[l] = w.vgpr(3)[l] = w.vgpr(5)[l] = two;
  run(bench, {0xd3ef0008, 0x24120500});  // v_mfma_f64_4x4x4_4b_f64 v[8:9], v[0:1], v[2:3], v[4:5] neg:[1,0,0]
  CHECK(w.vgpr(9)[0] == static_cast<uint32_t>(std::bit_cast<uint64_t>(2.0 - 4 * 4.0) >> 32));
}

TEST_CASE("the mask of v_mad_i64_i32 is the sign of the exact sum") {
  WaveBench bench("gfx900", false);
  Wave& w = bench.wave();
  w.set_mask(kExecLo, 7);
  const int64_t addends[] = {-1, INT64_MAX, 5};
  for (unsigned l = 0; l < 3; ++l) {
    w.vgpr(0)[l] = l == 1 ? 1 : 0;
    w.vgpr(2)[l] = 1;
    w.vgpr(4)[l] = static_cast<uint32_t>(addends[l]);
    w.vgpr(5)[l] = static_cast<uint32_t>(static_cast<uint64_t>(addends[l]) >> 32);
  }
  run(bench, {0xd1e96a08, 0x04120500});  // v_mad_i64_i32 v[8:9], vcc, v0, v2, v[4:5]
  CHECK(w.vcc() == 1);
}

TEST_CASE("the larger of a number and any NaN in LDS is the number") {
  WaveBench bench("gfx900", false);
  Wave& w = bench.wave();
  w.set_mask(kExecLo, 3);
  w.vgpr(0)[1] = 4;
  w.vgpr(2)[0] = 0x7f800001;  // signaling
  w.vgpr(2)[1] = bits(1.0f);
  set_lds(bench, 0, bits(3.0f));
  set_lds(bench, 4, 0x7fc00000);
  run(bench, {0xd8260000, 0x00000200});  // ds_max_f32 v0, v2
  CHECK(lds_at(bench, 0) == bits(3.0f));
  CHECK(lds_at(bench, 4) == bits(1.0f));
}
