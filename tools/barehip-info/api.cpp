#include "tools/barehip-info/api.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/api/api_table.h"

namespace barehip::info {

namespace {

using Json = nlohmann::ordered_json;
using runtime::ApiFunction;

constexpr int kSonames[] = {5, 6, 7};

struct Count {
  int exported = 0;
  int implemented = 0;
  int refused() const { return exported - implemented; }
  void add(const ApiFunction& function) {
    ++exported;
    implemented += function.implemented;
  }
};

/// Soname 0 counts every function of the table.
Count count(int soname, std::string_view family = {}) {
  Count result;
  for (const ApiFunction& function : runtime::api_table())
    if ((soname == 0 || function.exported_by(soname)) && (family.empty() || function.family == family))
      result.add(function);
  return result;
}

/// In the table's order.
std::vector<std::string_view> families() {
  std::vector<std::string_view> names;
  for (const ApiFunction& function : runtime::api_table())
    if (names.empty() || names.back() != function.family) names.push_back(function.family);
  return names;
}

void print_json() {
  Json libraries = Json::object(), functions = Json::array();
  for (const int soname : kSonames) {
    const Count n = count(soname);
    libraries[fmt::format("libamdhip64.so.{}", soname)] = {
        {"exported", n.exported}, {"implemented", n.implemented}, {"refused", n.refused()}};
  }
  for (const ApiFunction& function : runtime::api_table()) {
    Json sonames = Json::array();
    for (const int soname : kSonames)
      if (function.exported_by(soname)) sonames.push_back(soname);
    functions.push_back({{"name", function.symbol},
                         {"family", function.family},
                         {"node", function.node},
                         {"libraries", sonames},
                         {"status", function.implemented ? "implemented" : "refused"}});
  }
  fmt::print("{}\n", Json{{"libraries", libraries}, {"functions", functions}}.dump(2));
}

void print_text() {
  for (const int soname : kSonames) {
    const Count n = count(soname);
    fmt::print("libamdhip64.so.{}: {} functions exported, {} implemented, {} refused (hipErrorNotSupported)\n", soname,
               n.exported, n.implemented, n.refused());
  }
  fmt::print("\n{:<16} {:>8} {:>12} {:>8}\n", "family", "exported", "implemented", "refused");
  for (const std::string_view family : families()) {
    const Count n = count(0, family);
    fmt::print("{:<16} {:>8} {:>12} {:>8}\n", family, n.exported, n.implemented, n.refused());
  }
  const Count all = count(0);
  fmt::print("{:<16} {:>8} {:>12} {:>8}\n", "all", all.exported, all.implemented, all.refused());
}

void print_markdown() {
  fmt::print("| library | exported | implemented | refused |\n|---|---|---|---|\n");
  for (const int soname : kSonames) {
    const Count n = count(soname);
    fmt::print("| `libamdhip64.so.{}` | {} | {} | {} |\n", soname, n.exported, n.implemented, n.refused());
  }
  fmt::print("\n| family | implemented | refused |\n|---|---|---|\n");
  for (const std::string_view family : families()) {
    const Count n = count(0, family);
    fmt::print("| {} | {} | {} |\n", family, n.implemented, n.refused());
  }
}

}  // namespace

int print_api(ApiFormat format) {
  switch (format) {
    case ApiFormat::kJson: print_json(); break;
    case ApiFormat::kMarkdown: print_markdown(); break;
    case ApiFormat::kText: print_text(); break;
  }
  return 0;
}

}  // namespace barehip::info
