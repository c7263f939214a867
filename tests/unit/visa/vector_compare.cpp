#include "tests/unit/visa/vector_compare.h"

#include <bit>
#include <cmath>
#include <cstdlib>

namespace vectors {
namespace {

bool is_nan32(uint32_t v) { return (v & 0x7fffffff) > 0x7f800000; }
bool is_nan16(uint32_t v) { return (v & 0x7fff) > 0x7c00; }
bool is_nan64(uint64_t v) { return (v & ~(uint64_t{1} << 63)) > 0x7ff0000000000000; }

bool same16(uint32_t expected, uint32_t actual, bool approximate) {
  expected &= 0xffff;
  actual &= 0xffff;
  if (expected == actual || (is_nan16(expected) && is_nan16(actual))) return true;
  return approximate && std::abs(static_cast<int>(expected) - static_cast<int>(actual)) <= 1;
}

bool same32(uint32_t expected, uint32_t actual, bool approximate) {
  if (expected == actual || (is_nan32(expected) && is_nan32(actual))) return true;
  if (!approximate) return false;
  const float e = std::bit_cast<float>(expected), a = std::bit_cast<float>(actual);
  return std::fabs(e - a) <= std::fabs(e) * 4e-7f || (std::fabs(e) < 1.2e-38f && std::fabs(a) < 1.2e-38f);
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

bool same_dword(std::string_view op, uint32_t expected, uint32_t actual, bool approximate) {
  if (expected == actual) return true;
  if (has(op, "f32") && same32(expected, actual, approximate)) return true;
  if (has(op, "f16")) return same16(expected, actual, approximate) && same16(expected >> 16, actual >> 16, approximate);
  // High dword of a double that is no number; or only a seed, which the division tests judge by what it leads to.
  if (has(op, "f64"))
    return approximate || ((expected & 0x7ff80000) == 0x7ff80000 && (actual & 0x7ff80000) == 0x7ff80000);
  return false;
}

bool same_value(std::string_view type, uint64_t expected, uint64_t actual, bool approximate) {
  const auto e = static_cast<uint32_t>(expected), a = static_cast<uint32_t>(actual);
  if (type == "f16") return same16(e, a, approximate);
  if (type == "v2f16") return same16(e, a, approximate) && same16(e >> 16, a >> 16, approximate);
  if (type == "f32") return same32(e, a, approximate);
  if (type == "f64") {
    const double x = std::bit_cast<double>(expected), y = std::bit_cast<double>(actual);
    return expected == actual || (is_nan64(expected) && is_nan64(actual)) ||
           (approximate && std::fabs(x - y) <= std::fabs(x) * 1e-7);
  }
  if (type == "i16") return (e & 0xffff) == (a & 0xffff);
  if (type == "i32" || type == "v2i16") return e == a;
  return expected == actual;
}

bool same_of_any_type(uint32_t expected, uint32_t actual, bool approximate) {
  if (same32(expected, actual, approximate)) return true;
  if (is_nan16(expected) || is_nan16(expected >> 16) || approximate)
    return same16(expected, actual, approximate) && same16(expected >> 16, actual >> 16, approximate);
  return (expected & 0x7ff80000) == 0x7ff80000 && (actual & 0x7ff80000) == 0x7ff80000;
}

}  // namespace vectors
