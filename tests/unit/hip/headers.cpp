// The headers as host C++: they compile, every value and layout is HIP's, and the vector types compute.
#include <cstddef>

#include <hip/channel_descriptor.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#define _Static_assert static_assert
#define _Alignof alignof
#include "header_checks.h"

#include "tests/catch.h"

extern "C" int headers_in_c(void);

TEST_CASE("the headers are C11") { CHECK(headers_in_c() == 7); }

TEST_CASE("vector types compute element by element") {
  float4 sum = make_float4(1, 2, 3, 4) + float4(10.0f) * 2.0f;
  CHECK(sum == make_float4(21, 22, 23, 24));
  sum -= 1.0f;
  CHECK(sum.x == 20.0f);
  CHECK(-int2(3, -4) == int2(-3, 4));
  CHECK((uint3(1, 2, 3) << 1u) == uint3(2, 4, 6));
  CHECK(2.0 * double2(1, 2) != double2(2, 3));
  const int3 indexed(7, 8, 9);
  CHECK(indexed[2] == 9);
}

TEST_CASE("dim3 fills with ones") {
  constexpr dim3 block(64);
  STATIC_REQUIRE(block.x == 64);
  STATIC_REQUIRE(block.y == 1);
  STATIC_REQUIRE(block.z == 1);
}
