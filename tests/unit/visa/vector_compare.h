// When two results are the same for the vectors: bit for bit, but any NaN for any NaN.
#pragma once

#include <cstdint>
#include <string_view>

namespace vectors {

/// Dwords of a result of the operation named so. Approximate results may be a unit or two of the last place apart.
bool same_dword(std::string_view op, uint32_t expected, uint32_t actual, bool approximate);
/// A value of a type ("f16", "i64", "v2f16", ...).
bool same_value(std::string_view type, uint64_t expected, uint64_t actual, bool approximate);
/// A dword of unknown type.
bool same_of_any_type(uint32_t expected, uint32_t actual, bool approximate);

}  // namespace vectors
