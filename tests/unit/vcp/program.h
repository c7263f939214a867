// Compiled kernels on a bench with the real shader cores. VCP_KERNELS is a list of target=file.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "codeobj/code_object.h"
#include "tests/unit/vcp/bench.h"

namespace vcp_test {

struct Variant {
  std::string gfx, path;
};

inline std::vector<Variant> variants() {
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

[[maybe_unused]] inline const bool kRealCores =
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

  uint64_t load_va() const { return load_va_; }

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

/// How many of the 64 * 40 results of the kernel `histogram`, on inputs i * 37, are wrong.
inline unsigned wrong_histograms(const unsigned* results) {
  unsigned wrong = 0;
  for (unsigned item = 0; item < 64 * 40; ++item) {
    unsigned counts[64], sum = 0;
    for (unsigned i = 0; i < 64; ++i) counts[i] = i;
    for (unsigned i = 0; i < 8; ++i) counts[(item + i) % 64 * 37 % 64] += item;
    for (unsigned i = 0; i < 64; ++i) sum += counts[i] * (i + 1);
    wrong += results[item] != sum;
  }
  return wrong;
}

}  // namespace vcp_test
