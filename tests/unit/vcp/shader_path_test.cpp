// From a packet in a ring to what a kernel did to memory: the command processor with the real shader cores, on compiled
// kernels of both targets.
#include "tests/unit/vcp/program.h"

using namespace vcp_test;

TEST_CASE("a kernel adds two vectors") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    const uint64_t a = p.buffer(4000), b = p.buffer(4000), c = p.buffer(4000);
    for (int i = 0; i < 1000; ++i) {
      p.data<int>(a)[i] = i;
      p.data<int>(b)[i] = 10 * i;
    }
    Signal done(p.bench, 1);
    p.queue.submit(p.packet("add", 16, done.va, a, b, c, 1000u));
    REQUIRE(p.run_until(done));
    int wrong = 0;
    for (int i = 0; i < 1000; ++i) wrong += p.data<int>(c)[i] != 11 * i;
    CHECK(wrong == 0);
    CHECK(p.data<int>(c)[1000] == 0);
  });
}

TEST_CASE("a kernel uses private memory that the handshake provided") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    const uint64_t in = p.buffer(256), out = p.buffer(64 * 40 * 4);
    for (unsigned i = 0; i < 64; ++i) p.data<unsigned>(in)[i] = i * 37;
    Signal done(p.bench, 1);
    p.queue.submit(p.packet("histogram", 40, done.va, in, out));
    REQUIRE(p.run_until(done));
    CHECK(wrong_histograms(p.data<unsigned>(out)) == 0);
  });
}

TEST_CASE("a kernel passes data through LDS") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    const uint64_t data = p.buffer(64 * 8 * 4);
    for (int i = 0; i < 64 * 8; ++i) p.data<int>(data)[i] = i;
    Signal done(p.bench, 1);
    p.queue.submit(p.packet("reverse", 8, done.va, data));
    REQUIRE(p.run_until(done));
    int wrong = 0;
    for (int i = 0; i < 64 * 8; ++i) wrong += p.data<int>(data)[i] != i / 64 * 64 + 63 - i % 64;
    CHECK(wrong == 0);
  });
}

TEST_CASE("a kernel that spins lets other queues and the host make progress") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    AqlClient other(p.bench, 64, 1);
    p.served.push_back(&other);
    const uint64_t flag = p.buffer(4), out = p.buffer(256), counter = p.buffer(4);
    Signal spun(p.bench, 1), counted(p.bench, 1);
    p.queue.submit(p.packet("wait_for", 1, spun.va, flag, out));
    for (int n = 0; n < 50; ++n) p.bench.cp->step();
    other.submit(p.packet("count", 4, counted.va, counter));
    REQUIRE(p.run_until(counted));
    CHECK(*p.data<unsigned>(counter) == 256);
    CHECK(spun.fields->value == 1);
    *p.data<int>(flag) = 6;
    REQUIRE(p.run_until(spun));
    CHECK(p.data<int>(out)[63] == 7);
  });
}

TEST_CASE("scalar atomics of gfx9 change memory once a wave and return the old value") {
  on_all_variants([](const Variant& variant) {
    if (variant.gfx != "gfx90a") return;
    Program p(variant);
    const uint64_t cell = p.buffer(8), out = p.buffer(8);
    p.data<unsigned>(cell)[0] = 10;
    p.data<unsigned>(cell)[1] = 3;
    Signal done(p.bench, 1);
    p.queue.submit(p.packet("scalar_atomics", 1, done.va, cell, out));
    REQUIRE(p.run_until(done));
    CHECK(p.data<unsigned>(cell)[0] == 15);
    CHECK(p.data<unsigned>(cell)[1] == 7);
    CHECK(p.data<unsigned>(out)[0] == 10);
    CHECK(p.data<unsigned>(out)[1] == 3);
  });
}

TEST_CASE("a store to nowhere is a fault that names the address and the lane") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    Signal done(p.bench, 1);
    p.queue.submit(p.packet("bad_store", 1, done.va, uint64_t{0x123456789000}));
    CHECK_FALSE(p.run_until(done, 200));
    REQUIRE(p.bench.reports.faults.size() == 1);
    CHECK(p.bench.reports.faults[0].va == 0x123456789000);
    CHECK(p.bench.reports.faults_of_waves == 1);
    REQUIRE(p.bench.reports.wave_errors.size() == 1);
    CHECK(p.bench.reports.wave_errors[0].pc != 0);
    CHECK_FALSE(p.bench.cp->must_poll());
  });
}

TEST_CASE("a trap without a handler hangs its queue in silence") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    Signal done(p.bench, 1);
    p.queue.submit(p.packet("trap", 1, done.va));
    CHECK_FALSE(p.run_until(done, 200));
    CHECK(p.bench.reports.faults.empty());
    CHECK(p.bench.reports.errors.empty());
    CHECK(p.bench.reports.sq.empty());
  });
}

TEST_CASE("stale caches: a host sees a kernel's cached store only after a system release") {
  on_all_variants([](const Variant& variant) {
    const auto stale = [](vgpu::Hostile& h) { h.stale_caches = true; };
    Program p(variant, stale, vgpu::MemType::kNC);
    const uint64_t from = p.buffer(256), to = p.buffer(256);
    Signal copied(p.bench, 1), released(p.bench, 1);
    p.data<int>(from)[5] = 55;
    p.queue.submit(p.packet("copy", 1, copied.va, from, to));  // agent scopes
    REQUIRE(p.run_until(copied));
    CHECK(p.data<int>(to)[5] == 0);
    p.queue.submit(barrier_packet({}, released.va));  // system scopes
    REQUIRE(p.run_until(released));
    CHECK(p.data<int>(to)[5] == 55);
  });
}

TEST_CASE("stale caches: a kernel sees what the host wrote only after a system acquire") {
  on_all_variants([](const Variant& variant) {
    const auto stale = [](vgpu::Hostile& h) { h.stale_caches = true; };
    Program p(variant, stale, vgpu::MemType::kNC);
    const uint64_t from = p.buffer(256), to = p.buffer(256);
    const auto copy = [&](uint16_t header) {
      Signal done(p.bench, 1);
      auto packet = p.packet("copy", 1, done.va, from, to);
      packet.header = header;
      p.queue.submit(packet);
      REQUIRE(p.run_until(done));
      return p.data<int>(to)[5];
    };
    p.data<int>(from)[5] = 1;
    CHECK(copy(0x1502) == 1);
    p.data<int>(from)[5] = 2;
    CHECK(copy(0x1302) == 1);  // agent acquire, system release
    CHECK(copy(0x1502) == 2);
  });
}

TEST_CASE("stale caches: new code at an old address needs the instruction caches invalidated") {
  on_all_variants([](const Variant& variant) {
    const auto stale = [](vgpu::Hostile& h) { h.stale_caches = true; };
    Program p(variant, stale);
    const uint64_t from = p.buffer(256), to = p.buffer(256);
    Signal first(p.bench, 1), second(p.bench, 1), third(p.bench, 1), acquired(p.bench, 1);
    p.data<int>(from)[5] = 9;
    auto packet = p.packet("copy", 1, first.va, from, to);
    p.queue.submit(packet);
    REQUIRE(p.run_until(first));
    CHECK(p.data<int>(to)[5] == 9);

    // The kernel's first instruction becomes s_endpgm.
    int64_t entry = 0;
    std::memcpy(&entry, p.bench.host(packet.kernel_object + 16), sizeof(entry));
    *p.bench.host<uint32_t>(packet.kernel_object + static_cast<uint64_t>(entry)) =
        p.bench.config.gfx == "gfx90a" ? 0xbf810000 : 0xbfb00000;
    p.data<int>(to)[5] = 0;
    packet.completion_signal = second.va;
    packet.header = 0x1502;
    p.queue.submit(packet);
    REQUIRE(p.run_until(second));
    CHECK(p.data<int>(to)[5] == 9);  // the old code ran

    p.data<int>(to)[5] = 0;
    const uint64_t ib = p.bench.allocate(64);
    const std::vector<uint32_t> commands =
        p.bench.config.gfx == "gfx90a" ? std::vector<uint32_t>{0xc0055800, 0x28840000, 0xffffffff, 0xff, 0, 0, 0}
                                       : std::vector<uint32_t>{0xc0065800, 0, 0xffffffff, 0xff, 0, 0, 0, 0x4381};
    std::memcpy(p.bench.host(ib), commands.data(), commands.size() * 4);
    aql::VendorPm4IbPacket acquire{};
    acquire.vendor_format = 1;
    acquire.indirect_buffer[0] = 0xc0023f00;
    acquire.indirect_buffer[1] = static_cast<uint32_t>(ib);
    acquire.indirect_buffer[2] = static_cast<uint32_t>(ib >> 32);
    acquire.indirect_buffer[3] = static_cast<uint32_t>(commands.size()) | 0x800000;
    acquire.dwords_remaining = 0xa;
    acquire.completion_signal = acquired.va;
    p.queue.submit(acquire);
    REQUIRE(p.run_until(acquired));
    packet.completion_signal = third.va;
    p.queue.submit(packet);
    REQUIRE(p.run_until(third));
    CHECK(p.data<int>(to)[5] == 0);
  });
}

TEST_CASE("waves of an inactive queue stand still; on other compute units they go on where they were") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    const uint64_t flag = p.buffer(256), out = p.buffer(64 * 8 * 4);
    Signal done(p.bench, 1), other(p.bench, 1);
    AqlClient second(p.bench, 64, 9);
    p.served.push_back(&second);
    p.queue.submit(p.packet("wait_for", 8, done.va, flag, out));
    for (int n = 0; n < 50; ++n) {
      p.bench.cp->step();
      p.serve_scratch(p.queue);
    }
    const auto& q = p.queue.params;
    p.bench.cp->update_queue(q.queue_id, q.ring_va, q.ring_bytes, 0, 7);
    __atomic_store_n(p.data<int>(flag), 1, __ATOMIC_RELEASE);
    // Somebody else takes the compute units meanwhile.
    const uint64_t a = p.buffer(4096 * 4), b = p.buffer(4096 * 4), c = p.buffer(4096 * 4);
    second.submit(p.packet("add", 64, other.va, a, b, c, 4096u));
    REQUIRE(p.run_until(other));
    for (int n = 0; n < 50; ++n) p.bench.cp->step();
    CHECK(done.fields->value == 1);
    CHECK(p.data<int>(out)[0] == 0);
    p.bench.cp->update_queue(q.queue_id, q.ring_va, q.ring_bytes, 100, 7);
    REQUIRE(p.run_until(done));
    int wrong = 0;
    for (int i = 0; i < 64 * 8; ++i) wrong += p.data<int>(out)[i] != 2;
    CHECK(wrong == 0);
  });
}

TEST_CASE("waves run on the compute units of their queue's mask") {
  on_all_variants([](const Variant& variant) {
    const bool gfx11 = variant.gfx != "gfx90a";
    Program p(variant);
    vgpu::CuMask mask{};
    mask[3] = gfx11 ? 0xcu << 16 : 0x4u;  // engine 3: units 2 and 3 of its second array; or unit 2
    p.bench.cp->set_cu_mask(p.queue.params.queue_id, mask);
    const uint64_t out = p.buffer(64 * 20 * 4);
    Signal done(p.bench, 1);
    p.queue.submit(p.packet("where", 20, done.va, out));
    REQUIRE(p.run_until(done));
    for (int i = 0; i < 64 * 20; ++i) {
      const unsigned id = p.data<unsigned>(out)[i];
      if (gfx11) {
        REQUIRE((id >> 18 & 7) == 3);
        REQUIRE((id >> 16 & 1) == 1);
        REQUIRE((id >> 10 & 15) == 1);
      } else {
        REQUIRE((id >> 13 & 7) == 3);
        REQUIRE((id >> 8 & 15) == 2);
      }
    }
  });
}
