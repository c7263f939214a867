// Which devices the environment leaves, and the stack of launch configurations.
#include <set>
#include <string>

#include "runtime/core/environment.h"
#include "runtime/core/thread_state.h"
#include "tests/catch.h"

using namespace barehip::runtime;
using Devices = std::vector<uint32_t>;

namespace {
const std::vector<std::string> kUuids = {"GPU-00aa", "GPU-00bb", "GPU-00cc"};

Devices visible(const char* hip, const char* rocr = nullptr) {
  Environment e;
  if (hip) e.has_visible = true, e.visible = hip;
  if (rocr) e.has_rocr_visible = true, e.rocr_visible = rocr;
  return visible_devices(3, kUuids, e);
}
}  // namespace

TEST_CASE("visible devices: order of the list, ends at the first bad entry") {
  CHECK(visible(nullptr) == Devices{0, 1, 2});
  CHECK(visible("2,0") == Devices{2, 0});
  CHECK(visible("1, 2") == Devices{1, 2});
  CHECK(visible("0,7,1") == Devices{0});
  CHECK(visible("1,1,2") == Devices{1});
  CHECK(visible("").empty());
  CHECK(visible("-1").empty());
  CHECK(visible("1x").empty());
  CHECK(visible("GPU-00cc,0") == Devices{2, 0});
  CHECK(visible("GPU-00dd").empty());
}

TEST_CASE("HIP_VISIBLE_DEVICES counts within what ROCR_VISIBLE_DEVICES left") {
  CHECK(visible("1", "2,0") == Devices{0});
  CHECK(visible("GPU-00bb", "2,0").empty());
  CHECK(visible(nullptr, "GPU-00bb") == Devices{1});
}

TEST_CASE("the table of variables names each once, with a meaning") {
  std::set<std::string> names;
  for (const EnvironmentVariable& row : environment_table()) {
    CHECK(names.insert(row.name).second);
    CHECK(std::string(row.meaning).size() > 10);
  }
  CHECK(names.size() < 15);
}

TEST_CASE("configurations pop in reverse order; too few and too many are errors") {
  CHECK(pop_call_configuration().error().code == barehip::ErrorCode::kMissingConfiguration);
  for (uint32_t i = 0; i < 8; ++i) REQUIRE(push_call_configuration({.grid = {i, 1, 1}}));
  CHECK(push_call_configuration({}).error().code == barehip::ErrorCode::kInvalidConfiguration);
  for (uint32_t i = 8; i-- > 0;) CHECK(pop_call_configuration()->grid.x == i);
  CHECK_FALSE(pop_call_configuration());
}
