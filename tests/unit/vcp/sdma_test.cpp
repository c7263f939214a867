// SDMA queues: the packets and sequences that stock runtimes write (golden traces 5.2.3-d, 6.4.3-d-gfx1100), ring
// rules, and what an engine refuses. Dwords are written out, so that they do not come from the types that decode them.
#include "tests/unit/vcp/bench.h"

using namespace vcp_test;

namespace {

uint32_t lo(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t hi(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

using Dwords = std::vector<uint32_t>;

Dwords operator+(Dwords a, const Dwords& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Dwords poll(uint64_t va, uint32_t value) { return {0xb0000008, lo(va), hi(va), value, 0xffffffff, 0x0fff0004}; }
Dwords hdp_flush() { return {0x8, 0, 0x80000000, 0, 0, 0}; }
Dwords copy(uint64_t dst, uint64_t src, uint32_t bytes) {
  return {1, bytes - 1, 0, lo(src), hi(src), lo(dst), hi(dst)};
}
Dwords add64(uint64_t va, uint64_t addend) { return {0x5e00000a, lo(va), hi(va), lo(addend), hi(addend), 0, 0, 0}; }
Dwords fence(uint64_t va, uint32_t data) { return {5, lo(va), hi(va), data}; }
Dwords trap(uint32_t context) { return {6, context}; }

class SdmaClient {
 public:
  explicit SdmaClient(Bench& bench, uint32_t ring_bytes = 4096, uint32_t queue_id = 9)
      : bench_(bench),
        ring_va(bench.allocate(ring_bytes, 4096)),
        pointers_va(bench.allocate(64)),
        pointers(bench.host<uint64_t>(pointers_va)) {
    params.queue_id = queue_id;
    params.type = vgpu::QueueType::kSdma;
    params.ring_va = ring_va;
    params.ring_bytes = ring_bytes;
    params.write_ptr_va = pointers_va + 8;
    params.read_ptr_va = pointers_va + 16;
    params.priority = 15;
    params.doorbell_id = 40;
    params.doorbell = &doorbell;
    bench.cp->add_queue(params);
  }
  void write(const Dwords& dwords) {
    for (const uint32_t dword : dwords) {
      *bench_.host<uint32_t>(ring_va + written_ % params.ring_bytes) = dword;
      written_ += 4;
    }
  }
  void ring() {
    pointers[1] = written_;
    doorbell.store(written_);
  }
  void submit(const Dwords& dwords) {
    write(dwords);
    ring();
    bench_.run();
  }
  uint64_t read_pointer() const { return pointers[2]; }
  uint64_t written() const { return written_; }

 private:
  Bench& bench_;
  uint64_t written_ = 0;

 public:
  uint64_t ring_va;
  uint64_t pointers_va;
  uint64_t* pointers;
  vgpu::QueueParams params;
  std::atomic<uint64_t> doorbell{vgpu::kDoorbellNeverRung};
};

std::string refusal(Bench& bench, SdmaClient& queue, const Dwords& dwords) {
  queue.submit(dwords);
  REQUIRE(bench.reports.errors.size() == 1);
  CHECK(bench.reports.errors[0].code == 0);
  CHECK(bench.reports.errors[0].queue_id == 9);
  CHECK(queue.read_pointer() == 0);
  CHECK_FALSE(bench.cp->must_poll());
  return bench.reports.errors[0].text;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a stock copy with a dependency: polls both words, flushes, copies, signals, fences, traps") {
  Bench bench;
  SdmaClient queue(bench);
  Signal dependency(bench, 1), done(bench, 1);
  const uint64_t src = bench.allocate(0x10000), dst = bench.allocate(0x10000), mailbox = bench.allocate(8);
  for (int i = 0; i < 0x10000; ++i) bench.host<uint8_t>(src)[i] = static_cast<uint8_t>(i * 7);
  queue.submit(poll(dependency.va + 12, 0) + poll(dependency.va + 8, 0) + hdp_flush() + copy(dst, src, 0x10000) +
               add64(done.va + 8, ~0ull) + fence(mailbox, 7) + trap(7));
  CHECK(done.fields->value == 1);
  CHECK(queue.read_pointer() == 24);
  CHECK(bench.cp->must_poll());

  dependency.fields->value = 0;
  bench.run();
  CHECK(std::memcmp(bench.host(dst), bench.host(src), 0x10000) == 0);
  CHECK(done.fields->value == 0);
  CHECK(*bench.host<uint32_t>(mailbox) == 7);
  CHECK(bench.reports.traps == std::vector<uint32_t>{7});
  CHECK(queue.read_pointer() == queue.written());
  CHECK(bench.reports.eop.empty());
  CHECK_FALSE(bench.cp->must_poll());
}

TEST_CASE("gfx1100 wraps a copy in cache requests, gfx90a has no such packet") {
  const Dwords acquire{0x111, 0, 0xc3c00000, 0, 0}, release{0x111, 0, 0x80400000, 0, 0};
  {
    Bench bench(gfx1100_config());
    SdmaClient queue(bench);
    const uint64_t src = bench.allocate(64), dst = bench.allocate(64);
    *bench.host<uint32_t>(src) = 0x12345678;
    queue.submit(hdp_flush() + acquire + copy(dst, src, 64) + release);
    CHECK(*bench.host<uint32_t>(dst) == 0x12345678);
    CHECK(bench.engine->invalidations == std::vector<std::array<bool, 3>>{{false, true, true}});
    CHECK(bench.reports.errors.empty());
  }
  Bench bench;
  SdmaClient queue(bench);
  CHECK(contains(refusal(bench, queue, acquire), "GCR_REQ"));
}

TEST_CASE("the write pointer is the doorbell's; memory counts when the queue is mapped") {
  Bench bench;
  SdmaClient queue(bench);
  bench.run();
  const uint64_t at = bench.allocate(8);
  queue.write(fence(at, 1));
  queue.pointers[1] = queue.written();
  bench.run();
  CHECK(*bench.host<uint32_t>(at) == 0);
  bench.cp->update_queue(9, queue.params.ring_va, queue.params.ring_bytes, 100, 15);
  bench.run();
  CHECK(*bench.host<uint32_t>(at) == 1);
  CHECK(queue.read_pointer() == 16);
}

TEST_CASE("packets go round the end of the ring") {
  Bench bench;
  SdmaClient queue(bench, 4096);
  const uint64_t at = bench.allocate(8);
  for (uint32_t i = 0; i < 1500; ++i) queue.submit(fence(at, i) + trap(i));  // 24 bytes: straddles the end
  CHECK(*bench.host<uint32_t>(at) == 1499);
  CHECK(queue.read_pointer() == 1500 * 24);
  CHECK(bench.reports.traps.size() == 1500);
}

TEST_CASE("a packet that is not whole below the write pointer waits for its rest") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t at = bench.allocate(8);
  queue.submit({5, lo(at)});
  CHECK_FALSE(bench.cp->must_poll());
  CHECK(bench.reports.errors.empty());
  queue.submit({hi(at), 77});
  CHECK(*bench.host<uint32_t>(at) == 77);
}

TEST_CASE("zero dwords and NOPs with a count are skipped") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t at = bench.allocate(8);
  queue.submit(Dwords{0, 0, 3u << 16, 0xdead, 0xbeef, 0xffff} + fence(at, 5));
  CHECK(*bench.host<uint32_t>(at) == 5);
}

TEST_CASE("fills of each unit") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t at = bench.allocate(256);
  const auto fill = [](uint32_t unit, uint64_t va, uint32_t value, uint32_t count) {
    return Dwords{11 | unit << 30, lo(va), hi(va), value, count};
  };
  queue.submit(fill(2, at, 0xa1b2c3d4, 12 - 4) + fill(1, at + 34, 0x5566, 5) + fill(0, at + 65, 0x99, 2));
  CHECK(bench.reports.errors.empty());
  auto* words = bench.host<uint32_t>(at);
  CHECK(words[2] == 0xa1b2c3d4);
  CHECK(words[3] == 0);
  auto* halves = bench.host<uint16_t>(at + 34);
  CHECK(halves[2] == 0x5566);
  CHECK(halves[3] == 0);
  auto* bytes = bench.host<uint8_t>(at + 65);
  CHECK(bytes[2] == 0x99);
  CHECK(bytes[3] == 0);
}

TEST_CASE("writes, broadcast copies and timestamps") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t a = bench.allocate(64), b = bench.allocate(64), c = bench.allocate(64);
  queue.submit(Dwords{2, lo(a), hi(a), 2, 10, 20, 30} +
               Dwords{1u << 27 | 1, 11, 0, lo(a), hi(a), lo(b), hi(b), lo(c), hi(c)} +
               Dwords{0x20d, lo(a + 32), hi(a + 32)});
  CHECK(bench.host<uint32_t>(b)[2] == 30);
  CHECK(bench.host<uint32_t>(c)[2] == 30);
  CHECK(bench.host<uint32_t>(c)[3] == 0);
  CHECK(*bench.host<uint64_t>(a + 32) > 1000);
}

TEST_CASE("atomics") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t at = bench.allocate(64);
  auto* value = bench.host<uint64_t>(at);
  const auto atomic = [at](uint32_t op, uint64_t src, uint64_t cmp = 0) {
    return Dwords{op << 25 | 10, lo(at), hi(at), lo(src), hi(src), lo(cmp), hi(cmp), 0};
  };
  *value = 100;
  queue.submit(atomic(0x2f, ~0ull));
  CHECK(*value == 99);
  queue.submit(atomic(0x30, 9));
  CHECK(*value == 90);
  queue.submit(atomic(0x28, 7, 91));
  CHECK(*value == 90);
  queue.submit(atomic(0x28, 7, 90));
  CHECK(*value == 7);
  queue.submit(atomic(0x27, 0x100000005));
  CHECK(*value == 0x100000005);
  queue.submit(atomic(0x0f, 0xffffffff));
  CHECK(*value == 0x100000004);
  queue.submit(atomic(0x31, static_cast<uint64_t>(-3)));
  CHECK(*value == static_cast<uint64_t>(-3));
  queue.submit(atomic(0x32, 12));
  CHECK(*value == 12);
  CHECK(bench.reports.errors.empty());
}

TEST_CASE("polls compare under a mask") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t at = bench.allocate(64);
  const auto function = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  const std::array<uint32_t, 7> unmet{0, 5, 6, 4, 5, 4, 5}, met{0, 4, 5, 5, 4, 5, 6};
  *bench.host<uint32_t>(at) = 0xf0 | unmet[function];
  queue.submit({8 | function << 28 | 1u << 31, lo(at), hi(at), 5, 0x0f, 0x0fff0004});
  CHECK(queue.read_pointer() == 0);
  *bench.host<uint32_t>(at) = 0xf0 | met[function];
  bench.run();
  CHECK(queue.read_pointer() == 24);
}

TEST_CASE("COND_EXE skips what follows unless memory equals its reference") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t flag = bench.allocate(8), at = bench.allocate(8);
  const auto guarded = [&](uint32_t data) { return Dwords{9, lo(flag), hi(flag), 1, 4} + fence(at, data); };
  queue.submit(guarded(5) + trap(1));
  CHECK(*bench.host<uint32_t>(at) == 0);
  *bench.host<uint32_t>(flag) = 1;
  queue.submit(guarded(6) + trap(2));
  CHECK(*bench.host<uint32_t>(at) == 6);
  CHECK(bench.reports.traps == std::vector<uint32_t>{1, 2});
}

TEST_CASE("an INDIRECT packet runs its buffer and comes back") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t at = bench.allocate(8);
  const Dwords inside = fence(at, 8) + trap(3);
  const uint64_t buffer = bench.allocate(inside.size() * 4);
  std::memcpy(bench.host(buffer), inside.data(), inside.size() * 4);
  const auto call = [&](size_t dwords) {
    return Dwords{4, lo(buffer), hi(buffer), static_cast<uint32_t>(dwords), 0, 0};
  };
  queue.submit(Dwords{0, 0} + call(inside.size()) + trap(4));
  CHECK(*bench.host<uint32_t>(at) == 8);
  CHECK(bench.reports.traps == std::vector<uint32_t>{3, 4});
  CHECK(queue.read_pointer() == queue.written());

  queue.submit(call(inside.size() - 1));
  REQUIRE(bench.reports.errors.size() == 1);
  CHECK(contains(bench.reports.errors[0].text, "longer"));
}

TEST_CASE("an INDIRECT packet has to end on a boundary of 8 dwords") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t buffer = bench.allocate(64);
  queue.submit({4, lo(buffer), hi(buffer), 8, 0, 0});
  REQUIRE(bench.reports.errors.size() == 1);
  CHECK(contains(bench.reports.errors[0].text, "boundary of 8"));
}

TEST_CASE("a box is copied out of one image into another, in elements") {
  const bool gfx11 = GENERATE(false, true);
  Bench bench(gfx11 ? gfx1100_config() : gfx90a_config());
  SdmaClient queue(bench);
  // 2-byte elements. Source: rows of 40, slices of 400; from (3, 2, 1). Destination: rows of 16, slices of 160; to (5,
  // 1, 2). The box is 7 x 3 x 2.
  const uint64_t src = bench.allocate(2 * 400 * 4), dst = bench.allocate(2 * 160 * 5);
  for (uint16_t i = 0; i < 400 * 4; ++i) bench.host<uint16_t>(src)[i] = static_cast<uint16_t>(i + 1);
  queue.submit(Dwords{1 | 4u << 8 | 1u << 29, lo(src), hi(src), 3 | 2u << 16, 1 | 39u << 13, 399,  //
                      lo(dst), hi(dst), 5 | 1u << 16, 2 | 15u << 13, 159, 6 | 2u << 16, 1} +
               trap(1));
  REQUIRE(bench.reports.errors.empty());
  CHECK(bench.reports.traps == std::vector<uint32_t>{1});
  for (int z = 0; z < 5; ++z) {
    for (int y = 0; y < 10; ++y) {
      for (int x = 0; x < 16; ++x) {
        const bool inside = x >= 5 && x < 12 && y >= 1 && y < 4 && z >= 2 && z < 4;
        const int from = (z - 2 + 1) * 400 + (y - 1 + 2) * 40 + x - 5 + 3;
        REQUIRE(bench.host<uint16_t>(dst)[z * 160 + y * 16 + x] == (inside ? from + 1 : 0));
      }
    }
  }
}

TEST_CASE("a box deeper than the engine can count, or with elements that do not exist, is refused") {
  Bench bench;
  const uint64_t at = bench.allocate(64);
  const auto box = [&](uint32_t header, uint32_t depth) {
    return Dwords{header, lo(at), hi(at), 0, 0, 0, lo(at), hi(at), 0, 0, 0, 0, depth};
  };
  SdmaClient deep(bench), wide(bench, 4096, 10);
  deep.submit(box(1 | 4u << 8, 1u << 11));
  REQUIRE(bench.reports.errors.size() == 1);
  CHECK(contains(bench.reports.errors[0].text, "depth"));
  wide.submit(box(1 | 4u << 8 | 5u << 29, 0));
  REQUIRE(bench.reports.errors.size() == 2);
  CHECK(contains(bench.reports.errors[1].text, "16 bytes"));
}

TEST_CASE("packets of the driver alone are refused by name") {
  Bench bench;
  uint32_t id = 20;
  for (const auto& [word, name] : std::initializer_list<std::pair<uint32_t, const char*>>{
           {7, "SEM"}, {12, "PTEPDE"}, {14, "SRBM_WRITE"}, {15, "PRE_EXE"}, {32, "DUMMY_TRAP"}, {13, "TIMESTAMP"}}) {
    SdmaClient queue(bench, 4096, id++);
    bench.reports.errors.clear();
    queue.submit({word, 0, 0, 0, 0, 0, 0, 0});
    REQUIRE(bench.reports.errors.size() == 1);
    CHECK(contains(bench.reports.errors[0].text, name));
  }
}

TEST_CASE("a big copy takes several steps and does not hold up other queues") {
  Bench bench;
  SdmaClient slow(bench);
  constexpr uint64_t kBytes = 64u << 20, kVa = 0x100000000;
  std::unique_ptr<std::byte[]> big(new std::byte[kBytes]);  // not touched: the source is one page of it over and over
  REQUIRE(bench.space.map({.va = kVa, .size = kBytes, .host = big.get(), .writable = true}));
  slow.write(copy(kVa, kVa, kBytes) + trap(1));
  slow.ring();
  int steps = 0;
  while (bench.reports.traps.empty() && steps < 1000) {
    bench.cp->step();
    ++steps;
  }
  CHECK(steps > 1);
  CHECK(bench.reports.traps.size() == 1);
}

TEST_CASE("what an SDMA engine refuses") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t at = bench.allocate(64);
  SECTION("an unknown op") { CHECK(contains(refusal(bench, queue, {0x77, 0, 0}), "119")); }
  SECTION("a register write") { CHECK(contains(refusal(bench, queue, {14 | 0xf0000000u, 0x10, 1}), "14")); }
  SECTION("a poll on a register") {
    CHECK(contains(refusal(bench, queue, {8 | 3u << 28, 0x10, 0x20, 1, 1, 0x0fff0004}), "register"));
  }
  SECTION("reserved bits") { CHECK(contains(refusal(bench, queue, {6 | 1u << 20, 1}), "TRAP")); }
  SECTION("a backwards copy, on 4.4") {
    auto dwords = copy(at, at, 4);
    dwords[0] |= 1u << 25;
    CHECK(contains(refusal(bench, queue, dwords), "backwards"));
  }
  SECTION("an atomic that does not exist") {
    CHECK(contains(refusal(bench, queue, {0x3fu << 25 | 10, lo(at), hi(at), 0, 0, 0, 0, 0}), "63"));
  }
  SECTION("a write pointer more than a ring ahead") {
    queue.doorbell.store(4096 + 4);
    bench.run();
    REQUIRE(bench.reports.errors.size() == 1);
  }
  SECTION("a write pointer inside a dword") {
    queue.doorbell.store(6);
    bench.run();
    REQUIRE(bench.reports.errors.size() == 1);
  }
}

TEST_CASE("an address that is not mapped is a fault, and halts the queue") {
  Bench bench;
  SdmaClient queue(bench);
  const uint64_t at = bench.allocate(64);
  constexpr uint64_t kNowhere = 0x5000000000;
  queue.submit(copy(kNowhere, at, 16) + trap(1));
  REQUIRE(bench.reports.faults.size() == 1);
  CHECK(bench.reports.faults[0].va == kNowhere);
  CHECK(bench.reports.faults[0].access == vgpu::Access::kWrite);
  CHECK(bench.reports.traps.empty());
}

TEST_CASE("a read-only page is read and not written") {
  Bench bench;
  SdmaClient queue(bench);
  static std::byte page[4096];
  REQUIRE(bench.space.map({.va = 0x200000000, .size = 4096, .host = page}));
  const uint64_t at = bench.allocate(64);
  queue.submit(copy(at, 0x200000000, 16));
  CHECK(bench.reports.faults.empty());
  queue.submit(copy(0x200000000, at, 16));
  REQUIRE(bench.reports.faults.size() == 1);
  CHECK_FALSE(bench.reports.faults[0].not_present);
}

TEST_CASE("without PCIe atomics the engine's atomics on host memory fail") {
  auto config = gfx90a_config();
  config.hostile.no_pcie_atomics = true;
  Bench bench(config);
  SdmaClient queue(bench);
  Signal done(bench, 1);
  CHECK(contains(refusal(bench, queue, add64(done.va + 8, ~0ull)), "PCIe"));
  CHECK(done.fields->value == 1);
}

TEST_CASE("a signal of an AQL packet starts a copy, and the copy's signal starts a packet") {
  Bench bench;
  SdmaClient sdma(bench);
  AqlClient aql_queue(bench);
  Signal kernel_done(bench, 1), copy_done(bench, 1), all_done(bench, 1);
  const uint64_t at = bench.allocate(64);
  sdma.submit(poll(kernel_done.va + 8, 0) + fence(at, 1) + add64(copy_done.va + 8, ~0ull));
  aql_queue.submit(barrier_packet({copy_done.va}, all_done.va));
  bench.run();
  CHECK(all_done.fields->value == 1);
  AqlClient other(bench, 64, 2);
  other.submit(barrier_packet({}, kernel_done.va));
  bench.run();
  CHECK(*bench.host<uint32_t>(at) == 1);
  CHECK(all_done.fields->value == 0);
}
