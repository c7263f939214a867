// The compiler's division sequences give the correctly rounded quotient, for ordinary numbers and for every edge.
// (But for denominators whose mantissa is all ones: refining a reciprocal does not reach the last bit there, with exact
// arithmetic either.)
#include <cmath>
#include <limits>
#include <random>

#include "tests/catch.h"
#include "tests/unit/visa/alu.h"

using alu::constant;
using alu::run;
using alu::vgpr;
using vgpu::OperandType;

namespace {

constexpr auto kF32 = OperandType::kF32;
constexpr auto kF64 = OperandType::kF64;

/// v0 / v1 -> v2, as clang 19 expands a float division with denormals.
void divide_f32(alu::Machine& m) {
  auto v = [](uint32_t n, bool neg = false) { return vgpr(n, kF32, neg); };
  const auto one = constant(0x3f800000, kF32);
  run(m, "v_div_scale_f32", v(3), {v(1), v(1), v(0)}, true);
  run(m, "v_rcp_f32", v(4), {v(3)});
  run(m, "v_fma_f32", v(5), {v(3, true), v(4), one});
  run(m, "v_fma_f32", v(4), {v(5), v(4), v(4)});
  run(m, "v_div_scale_f32", v(6), {v(0), v(1), v(0)}, true);
  run(m, "v_mul_f32", v(7), {v(6), v(4)});
  run(m, "v_fma_f32", v(8), {v(3, true), v(7), v(6)});
  run(m, "v_fma_f32", v(7), {v(8), v(4), v(7)});
  run(m, "v_fma_f32", v(8), {v(3, true), v(7), v(6)});
  run(m, "v_div_fmas_f32", v(2), {v(8), v(4), v(7)});
  run(m, "v_div_fixup_f32", v(2), {v(2), v(1), v(0)});
}

/// v[0:1] / v[2:3] -> v[4:5].
void divide_f64(alu::Machine& m) {
  auto v = [](uint32_t n, bool neg = false) { return vgpr(n, kF64, neg); };
  const auto one = constant(0x3ff0000000000000, kF64);
  run(m, "v_div_scale_f64", v(6), {v(2), v(2), v(0)}, true);
  run(m, "v_rcp_f64", v(8), {v(6)});
  run(m, "v_fma_f64", v(10), {v(6, true), v(8), one});
  run(m, "v_fma_f64", v(8), {v(8), v(10), v(8)});
  run(m, "v_fma_f64", v(10), {v(6, true), v(8), one});
  run(m, "v_fma_f64", v(8), {v(8), v(10), v(8)});
  run(m, "v_div_scale_f64", v(12), {v(0), v(2), v(0)}, true);
  run(m, "v_mul_f64", v(14), {v(12), v(8)});
  run(m, "v_fma_f64", v(16), {v(6, true), v(14), v(12)});
  run(m, "v_div_fmas_f64", v(4), {v(16), v(8), v(14)});
  run(m, "v_div_fixup_f64", v(4), {v(4), v(2), v(0)});
}

template <class T>
bool agree(T expected, T actual) {
  if (std::isnan(expected)) return std::isnan(actual);
  return expected == actual && std::signbit(expected) == std::signbit(actual);
}

template <class T>
std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> all = {T(0),
                        T(1),
                        T(3),
                        T(0.1),
                        L::min(),
                        L::max(),
                        L::denorm_min(),
                        L::infinity(),
                        L::quiet_NaN(),
                        L::min() * T(1.5),
                        L::max() / T(3),
                        L::denorm_min() * T(77),
                        std::nextafter(L::min(), T(0)),
                        std::nextafter(T(1), T(2)),
                        1 / L::min(),
                        1 / (L::min() * T(1.9)),
                        std::ldexp(T(1), L::max_exponent - 1),
                        std::ldexp(T(1.2), L::min_exponent + 20),
                        std::ldexp(T(1.7), L::max_exponent - 30)};
  const size_t positive = all.size();
  for (size_t n = 0; n < positive; ++n) all.push_back(-all[n]);
  return all;
}

}  // namespace

TEST_CASE("float division is correctly rounded") {
  std::mt19937 random(1);
  auto check = [](const std::vector<std::pair<float, float>>& pairs) {
    alu::Machine m;
    for (uint32_t l = 0; l < pairs.size(); ++l) {
      m.set_f32(0, l, pairs[l].first);
      m.set_f32(1, l, pairs[l].second);
    }
    divide_f32(m);
    for (uint32_t l = 0; l < pairs.size(); ++l) {
      const float expected = pairs[l].first / pairs[l].second, actual = m.f32(2, l);
      INFO(std::hexfloat << pairs[l].first << " / " << pairs[l].second << ": expected " << expected << ", got "
                         << actual);
      CHECK(agree(expected, actual));
    }
  };
  for (float a : edges<float>()) {
    std::vector<std::pair<float, float>> pairs;
    for (float b : edges<float>()) pairs.emplace_back(a, b);
    check(pairs);
  }
  for (int n = 0; n < 500; ++n) {
    std::vector<std::pair<float, float>> pairs(64);
    for (auto& [a, b] : pairs) {
      a = std::bit_cast<float>(static_cast<uint32_t>(random()));
      b = std::bit_cast<float>(static_cast<uint32_t>(random()));
    }
    check(pairs);
  }
}

TEST_CASE("double division is correctly rounded") {
  std::mt19937_64 random(1);
  auto check = [](const std::vector<std::pair<double, double>>& pairs) {
    alu::Machine m;
    for (uint32_t l = 0; l < pairs.size(); ++l) {
      m.set_f64(0, l, pairs[l].first);
      m.set_f64(2, l, pairs[l].second);
    }
    divide_f64(m);
    for (uint32_t l = 0; l < pairs.size(); ++l) {
      const double expected = pairs[l].first / pairs[l].second, actual = m.f64(4, l);
      INFO(std::hexfloat << pairs[l].first << " / " << pairs[l].second << ": expected " << expected << ", got "
                         << actual);
      CHECK(agree(expected, actual));
    }
  };
  for (double a : edges<double>()) {
    std::vector<std::pair<double, double>> pairs;
    for (double b : edges<double>()) pairs.emplace_back(a, b);
    check(pairs);
  }
  for (int n = 0; n < 500; ++n) {
    std::vector<std::pair<double, double>> pairs(64);
    for (auto& [a, b] : pairs) {
      a = std::bit_cast<double>(random());
      b = std::bit_cast<double>(random());
    }
    check(pairs);
  }
}
