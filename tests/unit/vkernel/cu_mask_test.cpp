// SET_CU_MASK's bits and the engines' masks, in the driver's symmetric order.
#include "tools/vgpu/kernel/cu_mask.h"

#include <vector>

#include "tests/catch.h"

using namespace vgpu;

namespace {

GpuConfig config(uint32_t cus, uint32_t engines, uint32_t arrays) {
  GpuConfig out;
  out.cu_count = cus;
  out.shader_engines = engines;
  out.arrays_per_engine = arrays;
  return out;
}

CuMask mapped(const GpuConfig& gpu, std::initializer_list<uint32_t> set, bool in_pairs) {
  std::vector<uint32_t> bits(4);
  for (const uint32_t bit : set) bits[bit / 32] |= 1u << bit % 32;
  return map_cu_mask(gpu, bits, in_pairs);
}

}  // namespace

TEST_CASE("bits go over the engines first, then over the units") {
  const GpuConfig gfx90a = config(104, 8, 1);
  CHECK(mapped(gfx90a, {0}, false) == CuMask{1});
  CHECK(mapped(gfx90a, {3, 8}, false) == CuMask{2, 0, 0, 1});
  CHECK(mapped(gfx90a, {103}, false) == CuMask{0, 0, 0, 0, 0, 0, 0, 1u << 12});
  CHECK(mapped(gfx90a, {104, 127}, false) == CuMask{});
}

TEST_CASE("where units work in pairs, two bits are one pair; arrays come before further units") {
  const GpuConfig gfx1100 = config(96, 6, 2);
  CHECK(mapped(gfx1100, {0, 1}, true) == CuMask{3});
  CHECK(mapped(gfx1100, {2, 3}, true) == CuMask{0, 3});
  CHECK(mapped(gfx1100, {12, 13}, true) == CuMask{3u << 16});
  CHECK(mapped(gfx1100, {24, 25}, true) == CuMask{3u << 2});
}

TEST_CASE("units beyond the bits stay off") {
  const std::vector<uint32_t> all{~0u};
  uint32_t on = 0;
  for (const uint32_t mask : map_cu_mask(config(104, 8, 1), all, false))
    on += static_cast<uint32_t>(__builtin_popcount(mask));
  CHECK(on == 32);
}
