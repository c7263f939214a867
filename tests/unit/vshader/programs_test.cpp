// Compiled programs on the shader cores: both targets, unoptimized and optimized, several schedules.
#include "tests/catch.h"
#include "tests/unit/vshader/machine.h"

using namespace vgpu;

namespace {

struct Variant {
  const char* gfx;
  const char* level;
  uint64_t seed;
  bool noisy;
};

Variant variant() {
  const char* gfx = GENERATE("gfx90a", "gfx1100");
  const char* level = GENERATE("0", "3", "3-wave64");
  const uint64_t seed = GENERATE(1u, 20u);
  return {gfx, level, seed, seed != 1};
}

struct Fixture {
  Fixture() : what(variant()), machine(what.gfx, what.seed, {.noisy_state = what.noisy}) {
    machine.load_kernels(what.level);
  }
  void must_run(const Dispatch& dispatch) {
    const bool done = machine.run(dispatch);
    INFO(what.gfx << " -O" << what.level << " seed " << what.seed);
    for (const WaveError& error : machine.errors) UNSCOPED_INFO(error.text);
    REQUIRE(machine.errors.empty());
    REQUIRE(done);
  }
  uint32_t wave() const { return std::string(what.gfx) == "gfx90a" || std::string(what.level) == "3-wave64" ? 64 : 32; }
  /// Lanes between which data can be exchanged: gfx11 keeps to halves of a 64-lane wave.
  uint32_t exchange() const { return std::string(what.gfx) == "gfx90a" ? 64 : 32; }
  Variant what;
  Machine machine;
};

}  // namespace

TEST_CASE("vector add, with a partial last work-group") {
  Fixture f;
  constexpr uint32_t n = 1000;
  const TestBuffer a = f.machine.allocate(n * 4), b = f.machine.allocate(n * 4), c = f.machine.allocate(n * 4);
  for (uint32_t i = 0; i < n; ++i) {
    a.as<float>()[i] = static_cast<float>(i);
    b.as<float>()[i] = 0.5f * static_cast<float>(i);
  }
  f.must_run(f.machine.dispatch("vadd", {.grid = {1000, 1, 1}, .group = {256, 1, 1}},
                                Arguments().add(c).add(a).add(b).add(n).add(256u).words()));
  for (uint32_t i = 0; i < n; ++i) REQUIRE(c.as<float>()[i] == 1.5f * static_cast<float>(i));
}

TEST_CASE("work-item and work-group ids in three dimensions") {
  Fixture f;
  constexpr uint32_t sx = 21, sy = 7, sz = 5, gx = 8, gy = 4, gz = 3;
  const TestBuffer out = f.machine.allocate(sx * sy * sz * 4);
  f.must_run(f.machine.dispatch("where", {.grid = {sx, sy, sz}, .group = {gx, gy, gz}},
                                Arguments().add(out).add(sx).add(sy).add(gx).add(gy).add(gz).words()));
  for (uint32_t z = 0; z < sz; ++z) {
    for (uint32_t y = 0; y < sy; ++y) {
      for (uint32_t x = 0; x < sx; ++x) {
        const uint32_t want = x % gx | y % gy << 8 | z % gz << 16 | x / gx << 20 | y / gy << 24 | z / gz << 28;
        REQUIRE(out.as<uint32_t>()[x + sx * (y + sy * z)] == want);
      }
    }
  }
}

TEST_CASE("transpose through LDS with a barrier") {
  Fixture f;
  constexpr uint32_t width = 48, height = 32;
  const TestBuffer in = f.machine.allocate(width * height * 4), out = f.machine.allocate(width * height * 4);
  for (uint32_t i = 0; i < width * height; ++i) in.as<float>()[i] = static_cast<float>(i);
  f.must_run(f.machine.dispatch("transpose", {.grid = {48, 32, 1}, .group = {16, 16, 1}},
                                Arguments().add(out).add(in).add(width).add(height).words()));
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      REQUIRE(out.as<float>()[x * height + y] == in.as<float>()[y * width + x]);
    }
  }
}

TEST_CASE("reduction with lane exchange, LDS and atomics") {
  Fixture f;
  constexpr uint32_t n = 3000;
  const TestBuffer in = f.machine.allocate(n * 4), total = f.machine.allocate(4);
  uint32_t want = 0;
  for (uint32_t i = 0; i < n; ++i) want += in.as<uint32_t>()[i] = i * 7 + 1;
  f.must_run(f.machine.dispatch("reduce", {.grid = {3072, 1, 1}, .group = {256, 1, 1}},
                                Arguments().add(total).add(in).add(n).add(256u).add(f.exchange()).words()));
  CHECK(*total.as<uint32_t>() == want);
}

TEST_CASE("prefix sums within rows by DPP") {
  Fixture f;
  const TestBuffer out = f.machine.allocate(256);
  f.must_run(f.machine.dispatch("row_sums", {}, Arguments().add(out).words()));
  for (uint32_t i = 0; i < 64; ++i) {
    uint32_t want = 0;
    for (uint32_t k = i / 16 * 16; k <= i; ++k) want += k + 1;
    REQUIRE(out.as<uint32_t>()[i] == want);
  }
}

TEST_CASE("atomics on global memory") {
  Fixture f;
  constexpr uint32_t n = 640;
  const TestBuffer cell = f.machine.allocate(64), wide = f.machine.allocate(8), sum = f.machine.allocate(4);
  const TestBuffer tickets = f.machine.allocate(n * 4);
  f.must_run(f.machine.dispatch("atomics", {.grid = {n, 1, 1}},
                                Arguments().add(cell).add(wide).add(sum).add(tickets).words()));
  CHECK(cell.as<uint32_t>()[0] == n);
  CHECK(cell.as<uint32_t>()[1] == n - 1);
  CHECK(cell.as<uint32_t>()[2] == 0xffffffffu);
  CHECK(*wide.as<uint64_t>() == uint64_t{n * (n - 1) / 2} << 32);
  CHECK(*sum.as<float>() == n * 0.5f);
  std::vector<bool> drawn(n);
  for (uint32_t i = 0; i < n; ++i) drawn[tickets.as<uint32_t>()[i]] = true;
  CHECK(drawn == std::vector<bool>(n, true));
}

TEST_CASE("recursion on the stack, of different depth per lane") {
  Fixture f;
  const TestBuffer out = f.machine.allocate(128 * 4);
  f.must_run(f.machine.dispatch("recurse", {.grid = {128, 1, 1}, .private_bytes = 4096},
                                Arguments().add(out).add(6u).words()));
  struct Host {
    static uint32_t climb(uint32_t n, uint32_t outer) {
      uint32_t local[4];
      for (uint32_t k = 0; k < 4; ++k) local[k] = n * 10 + k + outer;
      return n == 0 ? local[3] : climb(n - 1, local[n & 3]) + local[n & 3];
    }
  };
  for (uint32_t i = 0; i < 128; ++i) REQUIRE(out.as<uint32_t>()[i] == Host::climb(6 + (i & 1), i % 64));
}

TEST_CASE("private arrays with dynamic index, dwords and bytes") {
  Fixture f;
  constexpr uint32_t n = 50;
  const TestBuffer in = f.machine.allocate(n * 4), out = f.machine.allocate(256);
  for (uint32_t i = 0; i < n; ++i) in.as<uint32_t>()[i] = i * 2654435761u;
  f.must_run(f.machine.dispatch("private_array", {}, Arguments().add(out).add(in).add(n).words()));
  const uint32_t* data = in.as<uint32_t>();
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t local[24], sum = 0;
    unsigned char bytes[16];
    for (uint32_t k = 0; k < 24; ++k) local[k] = data[(t + k) % n];
    for (uint32_t k = 0; k < 16; ++k) bytes[k] = static_cast<unsigned char>(data[k % n] >> (k & 7));
    uint32_t at = data[t % n] % 24;
    for (uint32_t k = 0; k < 24; ++k) {
      local[at] += k;
      sum = sum * 3 + local[at] + bytes[(at + t) & 15];
      at = (at * 5 + t) % 24;
    }
    REQUIRE(out.as<uint32_t>()[t] == sum);
  }
}

TEST_CASE("generic pointers to LDS, private and global memory in one instruction") {
  Fixture f;
  const TestBuffer out = f.machine.allocate(256);
  f.must_run(f.machine.dispatch("generic", {}, Arguments().add(out).words()));
  for (uint32_t t = 0; t < 64; ++t) REQUIRE(out.as<uint32_t>()[t] == t * 2 + t * 3 + 7 + 100);
}

TEST_CASE("work-groups that wait for a later one") {
  Fixture f;
  constexpr uint32_t groups = 40;
  const TestBuffer flag = f.machine.allocate(4), out = f.machine.allocate(groups * 256);
  f.must_run(f.machine.dispatch("wait_for_last", {.grid = {groups * 64, 1, 1}},
                                Arguments().add(flag).add(out).add(groups).words()));
  for (uint32_t i = 0; i < groups * 64; ++i) REQUIRE(out.as<uint32_t>()[i] == 42 + i / 64);
}

TEST_CASE("barrier over all work-groups of the grid") {
  Fixture f;
  constexpr uint32_t groups = 24;
  const TestBuffer counter = f.machine.allocate(4), data = f.machine.allocate(groups * 16);
  f.must_run(f.machine.dispatch("grid_barrier", {.grid = {groups * 128, 1, 1}, .group = {128, 1, 1}},
                                Arguments().add(counter).add(data).add(groups).words()));
  CHECK(data.as<uint32_t>()[0] == 1);
  CHECK(*counter.as<uint32_t>() == groups * 4);
}

TEST_CASE("waves that ended count as arrived at a barrier") {
  Fixture f;
  const TestBuffer out = f.machine.allocate(1024);
  f.must_run(f.machine.dispatch("early_end", {.grid = {256, 1, 1}, .group = {256, 1, 1}},
                                Arguments().add(out).add(f.wave()).words()));
  for (uint32_t i = 0; i < f.wave(); ++i) REQUIRE(out.as<uint32_t>()[i] == 5);
}

TEST_CASE("dynamic LDS") {
  Fixture f;
  constexpr uint32_t words = 3000;
  const TestBuffer out = f.machine.allocate(words * 4);
  f.must_run(f.machine.dispatch("dynamic_lds", {.dynamic_lds = words * 4}, Arguments().add(out).add(words).words()));
  for (uint32_t i = 0; i < words; ++i) REQUIRE(out.as<uint32_t>()[i] == (words - 1 - i) * (words - 1 - i));
}

TEST_CASE("double precision and narrow integers") {
  Fixture f;
  const TestBuffer a = f.machine.allocate(800), b = f.machine.allocate(800), out = f.machine.allocate(800);
  for (int i = 0; i < 100; ++i) {
    a.as<double>()[i] = i * 1.25 - 3;
    b.as<double>()[i] = i + 0.75;
  }
  f.must_run(
      f.machine.dispatch("doubles", {.grid = {128, 1, 1}}, Arguments().add(out).add(a).add(b).add(100u).words()));
  for (int i = 0; i < 100; ++i) {
    const double x = a.as<double>()[i], y = b.as<double>()[i];
    REQUIRE((out.as<double>()[i] == x * y + x / y || out.as<double>()[i] == __builtin_fma(x, y, x / y)));
  }
  const TestBuffer b8 = f.machine.allocate(64), o8 = f.machine.allocate(64), i16 = f.machine.allocate(128),
                   o16 = f.machine.allocate(128);
  for (int i = 0; i < 64; ++i) {
    b8.as<uint8_t>()[i] = static_cast<uint8_t>(i * 5);
    i16.as<int16_t>()[i] = static_cast<int16_t>(i * 1000 - 30000);
  }
  f.must_run(f.machine.dispatch("bytes", {}, Arguments().add(o8).add(b8).add(o16).add(i16).words()));
  for (int i = 0; i < 64; ++i) {
    REQUIRE(o8.as<uint8_t>()[i] == static_cast<uint8_t>(i * 5 + 3));
    REQUIRE(o16.as<uint16_t>()[i] == static_cast<uint16_t>(i * 1000 - 30000 - 5));
  }
}

TEST_CASE("a vector of registers with an index of run time") {
  Fixture f;
  const TestBuffer in = f.machine.allocate(64 * 16 * 4), out = f.machine.allocate(256);
  for (uint32_t i = 0; i < 64 * 16; ++i) in.as<uint32_t>()[i] = i * i + 7;
  const uint32_t at = 11;
  f.must_run(f.machine.dispatch("indexed", {}, Arguments().add(out).add(in).add(at).words()));
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t v[16], sum = 0;
    for (uint32_t k = 0; k < 16; ++k) v[k] = in.as<uint32_t>()[k * 64 + t];
    v[at] += 1000;
    for (const uint32_t value : v) sum = sum * 3 + value;
    REQUIRE(out.as<uint32_t>()[t] == sum + v[at * 7 & 15]);
  }
}
