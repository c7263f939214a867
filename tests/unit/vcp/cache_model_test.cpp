// The caches of hostile mode: what is stale until which invalidation, and what each memory type keeps out of L2.
#include "tools/vgpu/memory/cache_model.h"
#include "tests/catch.h"
#include "tools/vgpu/kernel/gpu_config.h"

#include <cstring>
#include <memory>

using namespace vgpu;
using Client = CacheModel::Client;

namespace {

constexpr uint64_t kVa = 0x40000000;

struct Caches {
  explicit Caches(MemType mtype, bool writable = true, bool executable = true) : page(new std::byte[4096]()) {
    config.cu_count = 4;
    config.hostile.stale_caches = true;
    REQUIRE(space.map(
        {.va = kVa, .size = 4096, .host = page.get(), .mtype = mtype, .writable = writable, .executable = executable}));
    model = CacheModel::create(config, space);
    REQUIRE(model);
  }
  uint32_t load(uint64_t offset, Client client = Client::kVector, uint32_t cu = 0, CachePolicy policy = {}) {
    uint32_t value = 0;
    MemoryFault fault;
    REQUIRE(model->load(client, cu, kVa + offset, &value, 4, policy, fault));
    return value;
  }
  void store(uint64_t offset, uint32_t value, uint32_t cu = 0, CachePolicy policy = {}) {
    MemoryFault fault;
    REQUIRE(model->store(cu, kVa + offset, &value, 4, policy, fault));
  }
  uint32_t& memory(uint64_t offset) { return *reinterpret_cast<uint32_t*>(page.get() + offset); }

  std::unique_ptr<std::byte[]> page;
  GpuConfig config;
  AddressSpace space;
  std::unique_ptr<CacheModel> model;
};

}  // namespace

TEST_CASE("strict mode has no cache model") {
  GpuConfig config;
  AddressSpace space;
  CHECK_FALSE(CacheModel::create(config, space));
}

TEST_CASE("stores to cached memory reach the host only by a write back") {
  Caches caches(MemType::kNC);
  caches.store(8, 5);
  CHECK(caches.memory(8) == 0);
  CHECK(caches.load(8) == 5);
  CHECK(caches.load(8, Client::kVector, 1) == 5);  // L2 is shared
  caches.model->write_back_l2();
  CHECK(caches.memory(8) == 5);
}

TEST_CASE("stores to uncached and coherent memory reach the host at once") {
  const auto mtype = GENERATE(MemType::kUC, MemType::kCC);
  Caches caches(mtype);
  caches.store(8, 5);
  CHECK(caches.memory(8) == 5);
}

TEST_CASE("what the host wrote is stale until L2 and the first level were invalidated") {
  Caches caches(MemType::kNC);
  CHECK(caches.load(0) == 0);
  caches.memory(0) = 9;
  CHECK(caches.load(0) == 0);
  caches.model->invalidate_l1(-1, true, true, true);
  CHECK(caches.load(0) == 0);
  caches.model->invalidate_l2();
  CHECK(caches.load(0) == 0);  // still in the first level, filled from the old L2 line
  caches.model->invalidate_l1(-1, true, true, true);
  CHECK(caches.load(0) == 9);
}

TEST_CASE("an L2 invalidation neither loses stores nor shows them to the host") {
  Caches caches(MemType::kRW);
  caches.store(0, 5);
  CHECK(caches.memory(0) == 0);
  caches.memory(8) = 9;  // the other half of the line, while L2 holds it
  caches.model->invalidate_l2();
  caches.model->invalidate_l1(-1, true, true, true);
  CHECK(caches.memory(0) == 0);
  CHECK(caches.load(0) == 5);
  CHECK(caches.load(8) == 9);
  caches.model->write_back_l2();
  CHECK(caches.memory(0) == 5);
}

TEST_CASE("uncached memory needs the first level's invalidation only, and a bypassing load nothing") {
  Caches caches(MemType::kUC);
  CHECK(caches.load(0) == 0);
  caches.memory(0) = 9;
  CHECK(caches.load(0) == 0);
  CHECK(caches.load(0, Client::kVector, 0, {.bypass_l1 = true}) == 9);
  CHECK(caches.load(0) == 9);
}

TEST_CASE("another compute unit's store is stale in this one's vector cache") {
  Caches caches(MemType::kRW);
  CHECK(caches.load(64, Client::kVector, 1) == 0);
  caches.store(64, 3, 0);
  CHECK(caches.load(64, Client::kVector, 0) == 3);
  CHECK(caches.load(64, Client::kVector, 1) == 0);
  caches.model->invalidate_l1(0, true, false, false);
  CHECK(caches.load(64, Client::kVector, 1) == 0);
  caches.model->invalidate_l1(1, true, false, false);
  CHECK(caches.load(64, Client::kVector, 1) == 3);
}

TEST_CASE("vector, scalar and instruction caches are invalidated apart") {
  Caches caches(MemType::kUC);
  const auto client = GENERATE(Client::kVector, Client::kScalar, Client::kInstruction);
  caches.load(0, client);
  caches.memory(0) = 1;
  caches.model->invalidate_l1(-1, client != Client::kVector, client != Client::kScalar, client != Client::kInstruction);
  CHECK(caches.load(0, client) == 0);
  caches.model->invalidate_l1(-1, client == Client::kVector, client == Client::kScalar, client == Client::kInstruction);
  CHECK(caches.load(0, client) == 1);
}

TEST_CASE("atomics act in L2 on cached memory, on the host's bytes elsewhere") {
  const auto mtype = GENERATE(MemType::kNC, MemType::kUC);
  Caches caches(mtype);
  uint64_t old = 77;
  MemoryFault fault;
  CHECK(caches.load(16) == 0);
  REQUIRE(caches.model->atomic(0, kVa + 16, 4, [](uint64_t v) { return v + 3; }, old, fault));
  CHECK(old == 0);
  CHECK(caches.load(16) == 3);
  CHECK(caches.memory(16) == (mtype == MemType::kUC ? 3u : 0u));
  caches.model->write_back_l2();
  CHECK(caches.memory(16) == 3);
}

TEST_CASE("a write back changes only the bytes that were stored") {
  Caches caches(MemType::kNC);
  caches.store(0, 1);
  caches.memory(4) = 8;  // the host's neighbour in the same line
  caches.model->write_back_l2();
  CHECK(caches.memory(0) == 1);
  CHECK(caches.memory(4) == 8);
}

TEST_CASE("accesses across lines, and their faults") {
  Caches caches(MemType::kNC, true, false);
  uint8_t data[100], back[100] = {};
  for (int i = 0; i < 100; ++i) data[i] = static_cast<uint8_t>(i);
  MemoryFault fault;
  REQUIRE(caches.model->store(0, kVa + 30, data, 100, {}, fault));
  REQUIRE(caches.model->load(Client::kVector, 0, kVa + 30, back, 100, {}, fault));
  CHECK(std::memcmp(data, back, 100) == 0);

  CHECK_FALSE(caches.model->store(0, kVa + 4090, data, 100, {}, fault));
  CHECK(fault.va == kVa + 4096);
  CHECK(fault.not_present);
  CHECK_FALSE(caches.model->load(Client::kInstruction, 0, kVa, back, 8, {}, fault));
  CHECK_FALSE(fault.not_present);
}

TEST_CASE("lines of memory that was unmapped are gone, also where other memory took its place") {
  Caches caches(MemType::kNC);
  caches.store(0, 5);
  REQUIRE(caches.space.unmap(kVa, 4096));
  std::unique_ptr<std::byte[]> other(new std::byte[4096]());
  REQUIRE(caches.space.map({.va = kVa, .size = 4096, .host = other.get(), .mtype = MemType::kNC, .writable = true}));
  CHECK(caches.load(0) == 0);
  caches.model->write_back_l2();
  CHECK(caches.memory(0) == 0);
}

TEST_CASE("more lines than the caches hold are written back and found again") {
  constexpr uint64_t kBytes = 4u << 20;
  std::unique_ptr<std::byte[]> big(new std::byte[kBytes]());
  Caches caches(MemType::kNC);
  constexpr uint64_t kBig = 0x80000000;
  REQUIRE(caches.space.map({.va = kBig, .size = kBytes, .host = big.get(), .mtype = MemType::kRW, .writable = true}));
  for (uint64_t at = 0; at < kBytes; at += 64) caches.store(kBig - kVa + at, static_cast<uint32_t>(at));
  uint64_t wrong = 0;
  for (uint64_t at = 0; at < kBytes; at += 64) wrong += caches.load(kBig - kVa + at) != static_cast<uint32_t>(at);
  CHECK(wrong == 0);
}
