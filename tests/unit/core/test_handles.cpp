// Handles: what was not given out, or not any more, finds nothing.
#include <memory>
#include <vector>

#include "runtime/core/handle_table.h"
#include "tests/catch.h"

using namespace barehip::runtime;

namespace {
struct Thing {
  int value = 0;
};
using Table = HandleTable<Thing, HandleKind::kEvent>;
}  // namespace

TEST_CASE("a live handle finds its object, a stale or foreign one nothing") {
  auto table = std::make_unique<Table>();
  Thing a{1}, b{2};
  const Handle first = table->insert(&a);
  REQUIRE(table->find(first) == &a);
  REQUIRE(table->erase(first) == &a);
  CHECK(table->find(first) == nullptr);
  CHECK(table->erase(first) == nullptr);

  const Handle second = table->insert(&b);  // takes the freed slot
  CHECK(second != first);
  CHECK(table->find(second) == &b);
  CHECK(table->find(first) == nullptr);

  for (Handle foreign : {Handle{0}, Handle{1}, Handle{2}, Handle{0xdeadbeef}, ~Handle{0}, second ^ 1, second ^ 0x10,
                         second + (Handle{1} << 24), reinterpret_cast<Handle>(&a)})
    CHECK(table->find(foreign) == nullptr);
}

TEST_CASE("handles of another kind are foreign") {
  auto events = std::make_unique<Table>();
  auto streams = std::make_unique<HandleTable<Thing, HandleKind::kStream>>();
  Thing thing;
  CHECK(streams->find(events->insert(&thing)) == nullptr);
}

TEST_CASE("many handles live at once, and finding one takes no lock") {
  auto table = std::make_unique<Table>();
  std::vector<Thing> things(3000);
  std::vector<Handle> handles;
  for (Thing& thing : things) handles.push_back(table->insert(&thing));
  const uint64_t locks = t_locks_taken;
  bool all = true;
  for (size_t i = 0; i < things.size(); ++i) all = all && table->find(handles[i]) == &things[i];
  CHECK(all);
  CHECK(t_locks_taken == locks);
}
