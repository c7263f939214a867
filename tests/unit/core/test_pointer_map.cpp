// The lock-free map from host stubs to kernels.
#include <thread>
#include <vector>

#include "runtime/core/pointer_map.h"
#include "tests/catch.h"

using barehip::runtime::PointerMap;

TEST_CASE("what was inserted is found, what was erased is not") {
  PointerMap<int> map;
  int values[200];
  const char keys[200] = {};
  CHECK(map.find(keys) == nullptr);
  CHECK(map.find(nullptr) == nullptr);
  for (int i = 0; i < 200; ++i) map.insert(keys + i, values + i);
  for (int i = 0; i < 200; ++i) REQUIRE(map.find(keys + i) == values + i);
  for (int i = 0; i < 200; i += 2) map.erase(keys + i);
  for (int i = 0; i < 200; ++i) REQUIRE(map.find(keys + i) == (i % 2 ? values + i : nullptr));
  map.insert(keys, values + 7);
  CHECK(map.find(keys) == values + 7);
  CHECK(map.find(nullptr) == nullptr);
  map.erase(&map);
  CHECK(map.find(&map) == nullptr);
}

TEST_CASE("readers see a growing map whole, and take no lock") {
  PointerMap<int> map;
  std::vector<int> values(5000);
  const std::vector<char> keys(values.size());
  map.insert(&keys[0], &values[0]);
  std::atomic<bool> lost{false};
  uint64_t reader_locks = 1;
  std::thread reader([&] {
    for (int i = 0; i < 20000; ++i)
      if (map.find(&keys[0]) != &values[0]) lost = true;
    reader_locks = barehip::runtime::t_locks_taken;
  });
  for (size_t i = 1; i < values.size(); ++i) map.insert(&keys[i], &values[i]);
  reader.join();
  CHECK_FALSE(lost);
  CHECK(reader_locks == 0);
}
