#include "tools/vgpu/memory/address_space.h"

#include <array>
#include <atomic>
#include <thread>

#include "tests/catch.h"

using vgpu::AddressSpace;
using vgpu::Mapping;

namespace {
std::array<std::byte, 3 * 4096> backing;

Mapping pages(uint64_t va, uint64_t count) { return {.va = va, .size = count * 4096, .host = backing.data()}; }
}  // namespace

TEST_CASE("a mapping is found by every byte of it and by no other") {
  AddressSpace space;
  REQUIRE(space.map(pages(0x10000, 2)));
  CHECK(space.find(0xffff).size == 0);
  CHECK(space.find(0x10000).va == 0x10000);
  CHECK(space.find(0x11fff).va == 0x10000);
  CHECK(space.find(0x12000).size == 0);
}

TEST_CASE("overlapping and unaligned mappings are refused and change nothing") {
  AddressSpace space;
  REQUIRE(space.map(pages(0x10000, 2)));
  const uint64_t generation = space.generation();
  CHECK_FALSE(space.map(pages(0x10000, 2)));
  CHECK_FALSE(space.map(pages(0x11000, 1)));
  CHECK_FALSE(space.map(pages(0xf000, 2)));
  CHECK_FALSE(space.map(pages(0xe000, 3)));
  CHECK_FALSE(space.map({.va = 0x20010, .size = 4096, .host = backing.data()}));
  CHECK_FALSE(space.map({.va = 0x20000, .size = 100, .host = backing.data()}));
  CHECK_FALSE(space.map({.va = 0x20000, .size = 0, .host = backing.data()}));
  CHECK_FALSE(space.map({.va = ~uint64_t{0xfff}, .size = 8192, .host = backing.data()}));
  CHECK(space.generation() == generation);
  CHECK(space.map(pages(0xf000, 1)));
  CHECK(space.map(pages(0x12000, 1)));
}

TEST_CASE("unmap takes exactly one mapping and moves the generation") {
  AddressSpace space;
  REQUIRE(space.map(pages(0x10000, 2)));
  CHECK_FALSE(space.unmap(0x10000, 4096));
  CHECK_FALSE(space.unmap(0x11000, 4096));
  CHECK_FALSE(space.unmap(0x20000, 4096));
  const uint64_t generation = space.generation();
  CHECK(space.unmap(0x10000, 8192));
  CHECK(space.generation() != generation);
  CHECK(space.find(0x10000).size == 0);
}

TEST_CASE("translations can be dropped without a change of the mappings") {
  AddressSpace space;
  REQUIRE(space.map(pages(0x10000, 1)));
  const uint64_t generation = space.generation();
  space.drop_translations();
  CHECK(space.generation() != generation);
  CHECK(space.find(0x10000).size == 4096);
}

TEST_CASE("unmap waits for a reader that entered before it") {
  AddressSpace space;
  REQUIRE(space.map(pages(0x10000, 1)));
  std::atomic<int> order{0};
  std::atomic<bool> entered{false};
  int reader_left = 0;
  std::thread reader([&] {
    const AddressSpace::ReadGuard guard(space);
    entered = true;
    while (space.find(0x10000).size != 0) std::this_thread::yield();  // the new table is visible before unmap returns
    reader_left = ++order;
  });
  while (!entered) std::this_thread::yield();
  REQUIRE(space.unmap(0x10000, 4096));
  const int unmapped = ++order;
  reader.join();
  CHECK(reader_left < unmapped);
}

TEST_CASE("many mappings with a reader inside all the time") {
  AddressSpace space;
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) (void)space.find(0x50000);
  });
  for (uint64_t i = 1; i <= 200; ++i) REQUIRE(space.map(pages(i * 0x10000, 1)));
  for (uint64_t i = 1; i <= 200; i += 2) REQUIRE(space.unmap(i * 0x10000, 4096));
  stop = true;
  reader.join();
  CHECK(space.find(0x20000).size == 4096);
  CHECK(space.find(0x10000).size == 0);
}
