// What all queues of one simulated GPU share: its description, memory, shader cores, caches, clock, and the outbox of
// reports to the driver model.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "codeobj/target.h"
#include "pm4/caps.h"
#include "tools/vgpu/cp/command_processor.h"
#include "tools/vgpu/cp/gpu_memory.h"
#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/memory/cache_model.h"

namespace vgpu {

/// Reports are collected while the processor's lock is held and delivered after it was released (see InterruptSink).
class Outbox {
 public:
  using Report = std::function<void(InterruptSink&)>;
  void post(Report report) { reports_.push_back(std::move(report)); }
  std::vector<Report> take() { return std::exchange(reports_, {}); }

 private:
  std::vector<Report> reports_;
};

/// splitmix64: all luck of hostile mode comes from the seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t bound) { return next() % bound; }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

struct GpuContext {
  const GpuConfig& config;
  const barehip::codeobj::Target& target;
  barehip::pm4::CapSet caps;
  InterruptSink& sink;  ///< for gpu_clock() only; reports go through the outbox
  GpuMemory memory;
  CacheModel* caches;  ///< null in strict mode
  ShaderEngine* engine = nullptr;
  Outbox outbox{};
  Random random;
  uint64_t trap_tba = 0;
  uint64_t trap_tma = 0;
  bool runtime_enabled = false;

  uint64_t packets = 0;  ///< started so far

  uint64_t clock() { return sink.gpu_clock(); }
  /// At each packet that starts in a ring.
  void count_packet() {
    if (++packets != config.reset_at_packet) return;
    outbox.post([](InterruptSink& to) { to.on_gpu_hang("the packet that the switch reset= names was reached"); });
  }
};

}  // namespace vgpu
