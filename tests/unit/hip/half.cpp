// Half precision conversions, against the compiler's own where it has them and against known values.
#include "runtime/api/half.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace barehip::runtime;

TEST_CASE("every half survives the way to float and back") {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    const float value = float_from_half(static_cast<uint16_t>(half));
    const bool nan = (half & 0x7c00) == 0x7c00 && (half & 0x3ff);
    if (nan) {
      CHECK(std::isnan(value));
      CHECK(std::isnan(float_from_half(half_from_float(value))));
    } else if (half_from_float(value) != half) {
      FAIL("half " << half << " became " << half_from_float(value));
    }
  }
}

TEST_CASE("floats between two halves round to the nearest, ties to even") {
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    const float low = float_from_half(static_cast<uint16_t>(half));
    const float high = float_from_half(static_cast<uint16_t>(half + 1));
    const float middle = low + (high - low) / 2;  // exact: a half has 11 bits, a float 24
    const uint32_t even = half & 1 ? half + 1 : half;
    if (half_from_float(middle) != even || half_from_float(std::nextafter(middle, low)) != half ||
        half_from_float(std::nextafter(middle, high)) != half + 1)
      FAIL("around half " << half);
  }
}

TEST_CASE("what no half can hold") {
  CHECK(half_from_float(65504.0f) == 0x7bff);
  CHECK(half_from_float(65519.99f) == 0x7bff);
  CHECK(half_from_float(65520.0f) == 0x7c00);
  CHECK(half_from_float(-1e30f) == 0xfc00);
  CHECK(half_from_float(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(half_from_float(-0.0f) == 0x8000);
}
