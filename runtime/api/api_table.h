// The table of runtime/api.def at run time and at compile time: names, families, who exports what.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace barehip::runtime {

/// Observed stock libraries, as bits of ApiFunction::generations.
enum Generation : uint8_t { kHip52 = 1, kHip57 = 2, kHip64 = 4, kHip72 = 8 };

struct ApiFunction {
  std::string_view symbol;  ///< as exported (a few are C++ names)
  std::string_view family;
  std::string_view node;  ///< symbol version node
  uint8_t generations;    ///< Generation bits
  bool implemented;       ///< false: returns hipErrorNotSupported

  /// Whether libamdhip64.so.<soname> exports it.
  constexpr bool exported_by(int soname) const {
    const int mask = soname == 5 ? kHip52 | kHip57 : soname == 6 ? kHip64 : soname == 7 ? kHip72 : 0;
    return (generations & mask) != 0;
  }
};

inline constexpr ApiFunction kApiTable[] = {
#define BAREHIP_API(symbol, family, node, generations, implemented) {#symbol, family, node, generations, implemented},
#include "runtime/api/api_table.inc"
#undef BAREHIP_API
};

constexpr std::span<const ApiFunction> api_table() { return kApiTable; }

/// Index into api_table().
enum class ApiId : uint16_t {};

/// Compile-time only: an unknown name does not compile.
consteval ApiId api_id(std::string_view symbol) {
  for (uint16_t i = 0; i < std::size(kApiTable); ++i)
    if (kApiTable[i].symbol == symbol) return ApiId{i};
  throw "no such function in runtime/api.def";
}

constexpr const ApiFunction& api_function(ApiId id) { return kApiTable[static_cast<uint16_t>(id)]; }

}  // namespace barehip::runtime
