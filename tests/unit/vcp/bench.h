// A GPU on the bench: command processor, page table, recorded reports and shader cores that run nothing, or what a test
// tells them to run.
#pragma once

#include <barehip/aql.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tools/vgpu/cp/command_processor.h"
#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/memory/address_space.h"

namespace vcp_test {

namespace aql = barehip::aql;

/// Shader cores that run nothing: a dispatch ends at once, or when the test says so.
class FakeEngine final : public vgpu::ShaderEngine {
 public:
  explicit FakeEngine(vgpu::ShaderSink& sink) : sink_(&sink) {}

  DispatchId start(const vgpu::Dispatch& dispatch) override {
    started.push_back(dispatch);
    if (on_start) on_start(dispatch);
    if (ends_at_once) ended.insert(started.size());
    return started.size();
  }
  bool step(uint64_t) override {
    if (!pending_error) return false;
    auto error = std::exchange(pending_error, nullptr);
    error();
    return true;
  }
  bool finished(DispatchId id) const override { return ended.contains(id); }
  void kill(DispatchId id) override { killed.insert(id); }
  void suspend(DispatchId id) override { suspended.insert(id); }
  void resume(DispatchId id) override { suspended.erase(id); }
  uint32_t save(DispatchId id, std::vector<std::byte>& out) const override {
    out.insert(out.end(), 100, static_cast<std::byte>(id));
    return 1;
  }
  void invalidate_l1(bool instruction, bool scalar, bool vector) override {
    invalidations.push_back({instruction, scalar, vector});
  }

  /// The next step reports this, as a wave of the dispatch that was started as number `id` (from 1).
  void fail(DispatchId id, vgpu::WaveError error) {
    pending_error = [this, id, error] { sink_->on_wave_error(started[id - 1], error); };
  }
  vgpu::ShaderSink& sink() { return *sink_; }

  bool ends_at_once = true;
  std::function<void(const vgpu::Dispatch&)> on_start;
  std::vector<vgpu::Dispatch> started;
  std::set<DispatchId> ended;
  std::set<DispatchId> killed;
  std::set<DispatchId> suspended;
  std::vector<std::array<bool, 3>> invalidations;  ///< instruction, scalar, vector

 private:
  vgpu::ShaderSink* sink_;
  std::function<void()> pending_error;
};

struct QueueError {
  uint32_t queue_id, doorbell_id, code;
  std::string text;
};

class Reports final : public vgpu::InterruptSink {
 public:
  uint64_t gpu_clock() override { return clock += 10; }
  void on_eop_interrupt(uint32_t id) override { eop.push_back(id); }
  void on_sdma_trap(uint32_t id) override { traps.push_back(id); }
  void on_sq_interrupt(uint32_t, uint32_t data, bool) override { sq.push_back(data); }
  void on_memory_fault(uint32_t queue_id, const vgpu::MemoryFault& fault, const vgpu::WaveError* wave) override {
    faults.push_back(fault);
    fault_queues.push_back(queue_id);
    faults_of_waves += wave != nullptr;
  }
  void on_queue_error(uint32_t queue_id, uint32_t doorbell_id, uint32_t code, const char* text) override {
    errors.push_back({queue_id, doorbell_id, code, text});
  }
  void on_wave_error(uint32_t, const vgpu::Dispatch&, const vgpu::WaveError& error) override {
    wave_errors.push_back(error);
  }

  void on_gpu_hang(const char* text) override { hangs.emplace_back(text); }

  std::vector<std::string> hangs;
  uint64_t clock = 1000;
  std::vector<uint32_t> eop, traps, sq, fault_queues;
  std::vector<vgpu::MemoryFault> faults;
  std::vector<QueueError> errors;
  std::vector<vgpu::WaveError> wave_errors;
  int faults_of_waves = 0;
};

inline vgpu::GpuConfig gfx90a_config() {
  vgpu::GpuConfig config;
  config.gfx = "gfx90a";
  config.gpu_id = 4660;
  config.cu_count = 104;
  config.shader_engines = 8;
  config.waves_per_cu = 32;
  config.lds_bytes_per_cu = 65536;
  config.shared_aperture = 0x1000000000000;
  config.private_aperture = 0x2000000000000;
  config.seed = 1;
  return config;
}

inline vgpu::GpuConfig gfx1100_config() {
  vgpu::GpuConfig config = gfx90a_config();
  config.gfx = "gfx1100";
  config.cu_count = 96;
  config.shader_engines = 6;
  config.arrays_per_engine = 2;
  return config;
}

/// Set by tests that link the real shader cores.
inline std::unique_ptr<vgpu::CommandProcessor> (*make_with_real_cores)(const vgpu::GpuConfig&, vgpu::AddressSpace&,
                                                                       vgpu::InterruptSink&) = nullptr;

/// Memory whose GPU address differs from its host address, so that nothing works by mistaking one for the other.
class Bench {
 public:
  static constexpr uint64_t kHeapVa = 0x7f0000000000;
  static constexpr uint64_t kHeapBytes = 4u << 20;

  enum class Cores { kFake, kReal };

  explicit Bench(vgpu::GpuConfig gpu = gfx90a_config(), Cores cores = Cores::kFake)
      : config(std::move(gpu)), heap_(static_cast<std::byte*>(std::aligned_alloc(4096, kHeapBytes))) {
    std::memset(heap_.get(), 0, kHeapBytes);
    REQUIRE(space.map({.va = kHeapVa,
                       .size = kHeapBytes,
                       .host = heap_.get(),
                       .mtype = vgpu::MemType::kUC,
                       .writable = true,
                       .executable = true,
                       .system = true}));
    if (cores == Cores::kReal) {
      cp = make_with_real_cores(config, space, reports);
    } else {
      cp = vgpu::CommandProcessor::create(config, space, reports,
                                          [this](const vgpu::GpuConfig&, vgpu::AddressSpace&, vgpu::ShaderSink& sink) {
                                            auto made = std::make_unique<FakeEngine>(sink);
                                            engine = made.get();
                                            return made;
                                          });
    }
    REQUIRE(cp);
  }

  uint64_t allocate(uint64_t bytes, uint64_t align = 64) {
    top_ = (top_ + align - 1) / align * align;
    const uint64_t va = kHeapVa + top_;
    top_ += bytes;
    REQUIRE(top_ <= kHeapBytes);
    return va;
  }
  template <class T = std::byte>
  T* host(uint64_t va) {
    return reinterpret_cast<T*>(heap_.get() + (va - kHeapVa));
  }

  /// Until nothing moves, or `most` steps.
  void run(int most = 1000) {
    for (int n = 0; n < most && cp->step(); ++n) {
    }
  }

  vgpu::GpuConfig config;
  vgpu::AddressSpace space;
  Reports reports;
  FakeEngine* engine = nullptr;
  std::unique_ptr<vgpu::CommandProcessor> cp;

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> heap_;
  uint64_t top_ = 0;
};

/// A signal as a runtime makes it.
struct Signal {
  Signal(Bench& bench, int64_t value, uint32_t event = 0)
      : va(bench.allocate(64)), fields(bench.host<aql::AmdSignal>(va)) {
    fields->kind = static_cast<int64_t>(aql::SignalKind::kUser);
    fields->value = value;
    if (event == 0) return;
    mailbox_va = bench.allocate(8, 8);
    mailbox = bench.host<uint64_t>(mailbox_va);
    fields->event_mailbox_ptr = mailbox_va;
    fields->event_id = event;
  }
  uint64_t va;
  aql::AmdSignal* fields;
  uint64_t mailbox_va = 0;
  uint64_t* mailbox = nullptr;
};

/// An AQL queue as a stock runtime makes and feeds it.
class AqlClient {
 public:
  explicit AqlClient(Bench& bench, uint32_t packets = 64, uint32_t queue_id = 0, uint32_t priority = 7)
      : bench_(bench),
        packets_(packets),
        inactive(bench, 0, 3),
        queue_va(bench.allocate(4096, 4096)),
        ring_va(bench.allocate(packets * 64, 4096)),
        queue(bench.host<aql::AmdQueue>(queue_va)) {
    for (uint32_t i = 0; i < packets; ++i) header(i) = static_cast<uint16_t>(aql::PacketType::kInvalid);
    queue->base_address = ring_va;
    queue->size = packets;
    queue->read_dispatch_id_field_base_byte_offset = offsetof(aql::AmdQueue, read_dispatch_id);
    queue->queue_properties = aql::kQueueIsPtr64;
    queue->queue_inactive_signal = inactive.va;
    params.queue_id = queue_id;
    params.ring_va = ring_va;
    params.ring_bytes = packets * 64;
    params.read_ptr_va = queue_va + offsetof(aql::AmdQueue, read_dispatch_id);
    params.write_ptr_va = queue_va + offsetof(aql::AmdQueue, write_dispatch_id);
    params.priority = priority;
    params.doorbell_id = queue_id + 100;
    params.doorbell = &doorbell;
    bench.cp->add_queue(params);
  }

  uint16_t& header(uint64_t index) { return *bench_.host<uint16_t>(ring_va + index % packets_ * 64); }

  uint64_t reserve() { return queue->write_dispatch_id++; }

  /// Body first, then header and setup together.
  template <class Packet>
  void publish(uint64_t index, const Packet& packet) {
    static_assert(sizeof(Packet) == 64);
    auto* slot = bench_.host<std::byte>(ring_va + index % packets_ * 64);
    std::memcpy(slot + 4, reinterpret_cast<const std::byte*>(&packet) + 4, 60);
    uint32_t first = 0;
    std::memcpy(&first, &packet, 4);
    __atomic_store_n(reinterpret_cast<uint32_t*>(slot), first, __ATOMIC_RELEASE);
  }
  void ring(uint64_t value) { doorbell.store(value); }

  /// Reserve, publish, ring with the packet's own index. Returns that index.
  template <class Packet>
  uint64_t submit(const Packet& packet) {
    const uint64_t index = reserve();
    publish(index, packet);
    ring(index);
    return index;
  }

  uint64_t read_index() const { return queue->read_dispatch_id; }

 private:
  Bench& bench_;
  uint32_t packets_;

 public:
  Signal inactive;
  uint64_t queue_va;
  uint64_t ring_va;
  aql::AmdQueue* queue;
  vgpu::QueueParams params;
  std::atomic<uint64_t> doorbell{vgpu::kDoorbellNeverRung};
};

/// Fields of a 64-byte kernel descriptor at the offsets of LLVM's AMDGPU usage document.
struct Kernel {
  explicit Kernel(Bench& bench, uint16_t properties = 1 << 3, uint32_t rsrc2 = 2 << 1)
      : va(bench.allocate(4096, 4096)) {
    bytes = bench.host<std::byte>(va);
    set<int64_t>(16, 256);
    set<uint32_t>(52, rsrc2);
    set<uint16_t>(56, properties);
  }
  template <class T>
  Kernel& set(size_t offset, T value) {
    std::memcpy(bytes + offset, &value, sizeof(value));
    return *this;
  }
  uint64_t va;
  std::byte* bytes;
};

constexpr uint16_t kBarrierAgent = 0x0b02;  // stock user kernel
constexpr uint16_t kNoBarrier = 0x1402;     // stock upload kernel
constexpr uint16_t kMarker = 0x1503;        // stock end-of-work barrier

inline aql::KernelDispatchPacket dispatch_packet(uint64_t kernel, uint16_t header = kBarrierAgent,
                                                 uint64_t signal = 0) {
  aql::KernelDispatchPacket p{};
  p.header = header;
  p.setup = 3;
  p.workgroup_size_x = 64;
  p.workgroup_size_y = p.workgroup_size_z = 1;
  p.grid_size_x = 128;
  p.grid_size_y = p.grid_size_z = 1;
  p.kernel_object = kernel;
  p.completion_signal = signal;
  return p;
}

inline aql::BarrierPacket barrier_packet(std::vector<uint64_t> deps, uint64_t signal, uint16_t header = kMarker) {
  aql::BarrierPacket p{};
  p.header = header;
  for (size_t i = 0; i < deps.size(); ++i) p.dep_signal[i] = deps[i];
  p.completion_signal = signal;
  return p;
}

}  // namespace vcp_test
