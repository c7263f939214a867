// From a packet in a ring to what a kernel did to memory: the command processor with the real shader cores, on compiled
// kernels of both targets. VCP_KERNELS is a list of target=file.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "codeobj/code_object.h"
#include "tests/unit/vcp/bench.h"

using namespace vcp_test;

namespace {

struct Variant {
  std::string gfx, path;
};

std::vector<Variant> variants() {
  const char* list = std::getenv("VCP_KERNELS");
  REQUIRE(list != nullptr);
  std::vector<Variant> out;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ':');) {
    const size_t equals = item.find('=');
    out.push_back({item.substr(0, equals), item.substr(equals + 1)});
  }
  REQUIRE_FALSE(out.empty());
  return out;
}

[[maybe_unused]] const bool kRealCores =
    (make_with_real_cores = [](const vgpu::GpuConfig& config, vgpu::AddressSpace& space, vgpu::InterruptSink& sink) {
      return vgpu::CommandProcessor::create(config, space, sink);
    }) != nullptr;

/// A bench with real shader cores and one loaded code object.
class Program {
 public:
  explicit Program(const Variant& variant, void (*hostile)(vgpu::Hostile&) = nullptr,
                   vgpu::MemType mtype = vgpu::MemType::kUC)
      : bench(config_of(variant, hostile), Bench::Cores::kReal), queue(bench) {
    std::ifstream file(variant.path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    auto parsed = barehip::codeobj::CodeObject::parse(std::as_bytes(std::span(bytes_)));
    REQUIRE(parsed);
    code_ = std::make_unique<barehip::codeobj::CodeObject>(std::move(*parsed));
    load_va_ = bench.allocate(code_->load_bytes(), 4096);
    REQUIRE(code_->place(load_va_, std::span(bench.host(load_va_), code_->load_bytes())));
    // Buffers lie apart from the rest, in memory of the type under test.
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, kDataBytes)));
    std::memset(data_.get(), 0, kDataBytes);
    REQUIRE(bench.space.map(
        {.va = kDataVa, .size = kDataBytes, .host = data_.get(), .mtype = mtype, .writable = true, .system = true}));
  }

  template <class T>
  T* data(uint64_t va) {
    return reinterpret_cast<T*>(data_.get() + (va - kDataVa));
  }
  uint64_t buffer(uint64_t size) {
    const uint64_t va = kDataVa + used_;
    used_ += (size + 255) / 256 * 256;
    REQUIRE(used_ <= kDataBytes);
    return va;
  }

  template <class... Args>
  aql::KernelDispatchPacket packet(const char* name, uint32_t groups, uint64_t signal, Args... args) {
    const auto* kernel = code_->find_kernel(name);
    REQUIRE(kernel != nullptr);
    const uint64_t kernarg = bench.allocate(std::max<uint64_t>(kernel->kernarg_bytes, 64), 64);
    size_t argument = 0;
    [[maybe_unused]] const auto put = [&](auto value) {
      const auto& where = kernel->arguments.at(argument++);
      REQUIRE(where.size == sizeof(value));
      std::memcpy(bench.host(kernarg + where.offset), &value, sizeof(value));
    };
    (put(args), ...);
    auto p = dispatch_packet(load_va_ + kernel->descriptor_offset, kBarrierAgent, signal);
    p.grid_size_x = groups * 64;
    p.group_segment_size = kernel->group_bytes;
    p.private_segment_size = kernel->private_bytes;
    p.kernarg_address = kernarg;
    return p;
  }

  /// Provides private memory as a host does, when the queue asks.
  void serve_scratch(AqlClient& client) {
    auto& signal = client.inactive.fields->value;
    if (signal != 1 && signal != 0x400) return;
    constexpr uint32_t kLaneBytes = 1024;
    const bool wave32 = signal == 0x400;
    const bool gfx9 = bench.config.gfx == "gfx90a";
    const uint64_t bytes = 2u << 20;
    const uint64_t va = buffer(bytes);
    const uint32_t wave_bytes = kLaneBytes * (wave32 ? 32 : 64);
    auto* q = client.queue;
    q->compute_tmpring_size = (gfx9 ? 16u : 2u) | (wave_bytes / (gfx9 ? 1024 : 256)) << 12;
    q->scratch_resource_descriptor[0] = static_cast<uint32_t>(va);
    q->scratch_resource_descriptor[1] = static_cast<uint32_t>(va >> 32) | 1u << 31;
    q->scratch_resource_descriptor[2] = static_cast<uint32_t>(bytes);
    q->scratch_resource_descriptor[3] = 0xea4fac;  // stock runtime on gfx90a (golden trace 5.2.3-e)
    q->scratch_backing_memory_location = va;
    q->scratch_wave64_lane_byte_size = wave32 ? kLaneBytes / 2 : kLaneBytes;
    signal = 0;
  }

  /// Steps until the signal is 0 or nothing can change it any more.
  bool run_until(const Signal& done, int steps = 20000) {
    for (int n = 0; n < steps && done.fields->value != 0; ++n) {
      bench.cp->step();
      for (AqlClient* client : served) serve_scratch(*client);
      if (!bench.reports.faults.empty() || !bench.reports.errors.empty()) break;
    }
    for (const auto& error : bench.reports.errors) UNSCOPED_INFO("queue error: " << error.text);
    for (const auto& error : bench.reports.wave_errors)
      UNSCOPED_INFO("wave error at " << std::hex << error.pc - load_va_ << ": " << error.text);
    for (const auto& fault : bench.reports.faults) UNSCOPED_INFO("fault at " << std::hex << fault.va);
    return done.fields->value == 0;
  }

  Bench bench;
  AqlClient queue;
  std::vector<AqlClient*> served{&queue};  ///< whose private memory run_until() provides

 private:
  static vgpu::GpuConfig config_of(const Variant& variant, void (*hostile)(vgpu::Hostile&)) {
    auto config = variant.gfx == "gfx90a" ? gfx90a_config() : gfx1100_config();
    if (hostile) hostile(config.hostile);
    return config;
  }
  static constexpr uint64_t kDataVa = 0x300000000, kDataBytes = 8u << 20;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::vector<char> bytes_;
  std::unique_ptr<barehip::codeobj::CodeObject> code_;
  std::unique_ptr<std::byte, Free> data_;
  uint64_t load_va_ = 0;
  uint64_t used_ = 0;
};

template <class F>
void on_all_variants(F test) {
  for (const Variant& variant : variants()) {
    INFO(variant.path);
    test(variant);
  }
}

}  // namespace

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
    unsigned wrong = 0;
    for (unsigned item = 0; item < 64 * 40; ++item) {
      unsigned counts[64], sum = 0;
      for (unsigned i = 0; i < 64; ++i) counts[i] = i;
      for (unsigned i = 0; i < 8; ++i) counts[(item + i) % 64 * 37 % 64] += item;
      for (unsigned i = 0; i < 64; ++i) sum += counts[i] * (i + 1);
      wrong += p.data<unsigned>(out)[item] != sum;
    }
    CHECK(wrong == 0);
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
