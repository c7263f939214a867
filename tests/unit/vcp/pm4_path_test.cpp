// Compiled kernels launched through PM4: the client itself takes the descriptor apart and fills the registers.
#include "tests/unit/vcp/pm4_client.h"
#include "tests/unit/vcp/program.h"

using namespace vcp_test;

namespace {

template <class T>
T descriptor_field(Program& p, uint64_t descriptor, size_t offset) {
  T value;
  std::memcpy(&value, p.bench.host(descriptor + offset), sizeof(value));
  return value;
}

/// Private memory for every wave that the GPU holds of it.
struct Scratch {
  uint64_t va = 0;
  uint32_t tmpring = 0;
};

Scratch scratch_for(Program& p, bool gfx9) {
  constexpr uint32_t kWaveBytes = 64 * 1024, kWaves = 16;
  return {.va = p.buffer(uint64_t{kWaveBytes} * kWaves * (gfx9 ? 1 : 6)),
          .tmpring = kWaves | kWaveBytes / (gfx9 ? 1024 : 256) << 12};
}

/// The words of one launch, made of what would be an AQL packet.
std::vector<uint32_t> launch(Program& p, const aql::KernelDispatchPacket& packet, const Scratch& scratch = {}) {
  const bool gfx9 = p.bench.config.gfx == "gfx90a";
  const uint64_t descriptor = packet.kernel_object;
  const uint64_t code = descriptor + static_cast<uint64_t>(descriptor_field<int64_t>(p, descriptor, 16));
  const auto rsrc3 = descriptor_field<uint32_t>(p, descriptor, 44),
             rsrc1 = descriptor_field<uint32_t>(p, descriptor, 48),
             rsrc2 = descriptor_field<uint32_t>(p, descriptor, 52);
  const auto properties = descriptor_field<uint16_t>(p, descriptor, 56);
  std::vector<uint32_t> user;
  const auto qword = [&user](uint64_t v) {
    user.push_back(lo(v));
    user.push_back(hi(v));
  };
  if (properties & 1) {
    qword(scratch.va | 1ull << 63);
    user.push_back(0xffffffff);
    user.push_back(0xea4fac);
  }
  if (properties & 2) qword(0);  // dispatch pointer: none on this path
  if (properties & 4) qword(0);  // nor a queue
  if (properties & 8) qword(packet.kernarg_address);
  if (properties & 16) qword(0);
  if (properties & 32) qword(scratch.va);
  std::vector<uint32_t> words = {0xc0027600, 0x20c, lo(code >> 8), hi(code >> 8)};
  const auto set = [&words](uint32_t reg, const std::vector<uint32_t>& values) {
    words.push_back(0xc0007600 | static_cast<uint32_t>(values.size()) << 16);
    words.push_back(reg);
    words.insert(words.end(), values.begin(), values.end());
  };
  set(0x212, {rsrc1, rsrc2 | (packet.group_segment_size + 511) / 512 << 15});
  set(gfx9 ? 0x22d : 0x228, {rsrc3});
  set(0x218, {scratch.tmpring});
  if (!gfx9) set(0x210, {lo(scratch.va >> 8), hi(scratch.va >> 8)});
  if (!user.empty()) set(0x240, user);
  set(0x204, {0, 0, 0, packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z, 0, 0});
  const uint32_t wave32 = properties & 0x400 ? 0x8000 : 0;
  for (const uint32_t word :
       {0xc0031500u, packet.grid_size_x / packet.workgroup_size_x, 1u, 1u, 0x5u | wave32, 0xc0004600u, 0x407u}) {
    words.push_back(word);
  }
  return words;
}

std::vector<uint32_t> signal_words(uint64_t va) { return {0xc0064900, 0x514, 2u << 29, lo(va), hi(va), 0, 0, 0}; }

void run(Program& p, Pm4Client& client, std::vector<uint32_t> words, Signal& done) {
  const auto end = signal_words(done.va + offsetof(aql::AmdSignal, value));
  words.insert(words.end(), end.begin(), end.end());
  client.submit(words);
  REQUIRE(p.run_until(done));
}

}  // namespace

TEST_CASE("PM4: a kernel adds two vectors") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    Pm4Client client(p.bench, 1024, 5);
    const uint64_t a = p.buffer(4000), b = p.buffer(4000), c = p.buffer(4000);
    for (int i = 0; i < 1000; ++i) {
      p.data<int>(a)[i] = i;
      p.data<int>(b)[i] = 10 * i;
    }
    Signal done(p.bench, 1);
    run(p, client, launch(p, p.packet("add", 16, 0, a, b, c, 1000u), scratch_for(p, variant.gfx == "gfx90a")), done);
    int wrong = 0;
    for (int i = 0; i < 1000; ++i) wrong += p.data<int>(c)[i] != 11 * i;
    CHECK(wrong == 0);
  });
}

TEST_CASE("PM4: a kernel passes data through LDS, and the next one does too") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    Pm4Client client(p.bench, 1024, 5);
    const Scratch scratch = scratch_for(p, variant.gfx == "gfx90a");
    const uint64_t data = p.buffer(64 * 8 * 4);
    for (int i = 0; i < 64 * 8; ++i) p.data<int>(data)[i] = i;
    for (int round = 0; round < 3; ++round) {
      Signal done(p.bench, 1);
      run(p, client, launch(p, p.packet("reverse", 8, 0, data), scratch), done);
    }
    int wrong = 0;
    for (int i = 0; i < 64 * 8; ++i) wrong += p.data<int>(data)[i] != (i & ~63) + 63 - (i & 63);
    CHECK(wrong == 0);
  });
}

TEST_CASE("PM4: a kernel uses private memory that the registers name") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    Pm4Client client(p.bench, 1024, 5);
    const uint64_t in = p.buffer(256), out = p.buffer(64 * 40 * 4);
    for (unsigned i = 0; i < 64; ++i) p.data<unsigned>(in)[i] = i * 37;
    Signal done(p.bench, 1);
    run(p, client, launch(p, p.packet("histogram", 40, 0, in, out), scratch_for(p, variant.gfx == "gfx90a")), done);
    CHECK(wrong_histograms(p.data<unsigned>(out)) == 0);
  });
}

TEST_CASE("PM4: groups that start later have the later groups' ids") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    Pm4Client client(p.bench, 1024, 5);
    const uint64_t from = p.buffer(64 * 8 * 4), to = p.buffer(64 * 8 * 4);
    for (int i = 0; i < 64 * 8; ++i) p.data<int>(from)[i] = i + 1;
    auto words = launch(p, p.packet("copy", 6, 0, from, to), scratch_for(p, variant.gfx == "gfx90a"));
    words[words.size() - 3] &= ~4u;  // not FORCE_START_AT_000
    const auto start = std::find(words.begin(), words.end(), 0x204u);
    REQUIRE(start != words.end());
    start[1] = 4;
    Signal done(p.bench, 1);
    run(p, client, words, done);
    for (int i = 0; i < 64 * 8; ++i) REQUIRE(p.data<int>(to)[i] == (i / 64 == 4 || i / 64 == 5 ? i + 1 : 0));
  });
}

TEST_CASE("a command buffer behind an AQL packet launches kernels; the packet completes when they have ended") {
  on_all_variants([](const Variant& variant) {
    Program p(variant);
    const uint64_t flag = p.buffer(256), out = p.buffer(256);
    const auto words = launch(p, p.packet("wait_for", 1, 0, flag, out), scratch_for(p, variant.gfx == "gfx90a"));
    const uint64_t buffer = p.bench.allocate(words.size() * 4, 64);
    // Without the flush at its end: the packet's own completion waits.
    std::memcpy(p.bench.host(buffer), words.data(), words.size() * 4 - 8);
    Signal done(p.bench, 1);
    aql::VendorPm4IbPacket packet{};
    packet.header = 0x1500;
    packet.vendor_format = 1;
    packet.indirect_buffer[0] = 0xc0023f00;
    packet.indirect_buffer[1] = lo(buffer);
    packet.indirect_buffer[2] = hi(buffer);
    packet.indirect_buffer[3] = static_cast<uint32_t>(words.size() - 2) | 0x800000;
    packet.dwords_remaining = 0xa;
    packet.completion_signal = done.va;
    p.queue.submit(packet);
    for (int n = 0; n < 50; ++n) p.bench.cp->step();
    CHECK(done.fields->value == 1);
    __atomic_store_n(p.data<int>(flag), 41, __ATOMIC_RELEASE);
    REQUIRE(p.run_until(done));
    CHECK(p.data<int>(out)[7] == 42);
  });
}
