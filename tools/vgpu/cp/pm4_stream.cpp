#include "tools/vgpu/cp/pm4_stream.h"

#include <optional>
#include <span>

#include "pm4/pm4.h"
#include "tools/vgpu/cp/cache_actions.h"
#include "tools/vgpu/cp/packet_trace.h"

namespace vgpu {
namespace {

namespace pm4 = barehip::pm4;

template <class T>
Pm4Outcome done(const MemResult<T>& result) {
  if (!result) return result.error();
  return Pm4Done{};
}

Pm4Refusal refuse(const char* packet, const char* what, uint64_t value) {
  return {std::string("PM4 ") + packet + " with " + what + " " + std::to_string(value)};
}

/// Nothing for a function that does not exist.
std::optional<bool> compare(pm4::Compare function, uint32_t value, uint32_t reference) {
  switch (function) {
    case pm4::Compare::kAlways: return true;
    case pm4::Compare::kLess: return value < reference;
    case pm4::Compare::kLessEqual: return value <= reference;
    case pm4::Compare::kEqual: return value == reference;
    case pm4::Compare::kNotEqual: return value != reference;
    case pm4::Compare::kGreaterEqual: return value >= reference;
    case pm4::Compare::kGreater: return value > reference;
  }
  return std::nullopt;
}

CacheActions release_actions(const GpuContext& gpu, uint16_t bits) {
  if (gpu.caps.has(pm4::Cap::kGcr)) {
    return {.vector = (bits & (pm4::release_gcr::kGlvInv | pm4::release_gcr::kGl1Inv)) != 0,
            .l2_write_back = (bits & pm4::release_gcr::kGl2Writeback) != 0,
            .l2_invalidate = (bits & pm4::release_gcr::kGl2Inv) != 0};
  }
  return {.vector = (bits & (pm4::release_coher::kTcl1 | pm4::release_coher::kTcl1Vol)) != 0,
          .l2_write_back = (bits & pm4::release_coher::kTcWriteback) != 0,
          .l2_invalidate = (bits & pm4::release_coher::kTc) != 0};
}

struct Runner {
  GpuContext& gpu;
  bool waves_running;

  /// A packet type without a function of its own below.
  template <class P>
  Pm4Outcome operator()(const P&) const {
    return Pm4Refusal{std::string("PM4 ") + P::kName + " (opcode " + std::to_string(P::kOp) +
                      ") is not supported here"};
  }

  Pm4Outcome operator()(const pm4::Nop&) const { return Pm4Done{}; }

  Pm4Outcome operator()(const pm4::AcquireMemCoher& p) const {
    apply_cache_actions(gpu, actions_from_coher(p.control));
    return Pm4Done{};
  }
  Pm4Outcome operator()(const pm4::AcquireMemGcr& p) const {
    apply_cache_actions(gpu, actions_from_gcr(p.control));
    return Pm4Done{};
  }

  Pm4Outcome operator()(const pm4::WriteData& p) const {
    if (p.target != pm4::WriteTarget::kMemory && p.target != pm4::WriteTarget::kL2) {
      return refuse("WRITE_DATA", "target", static_cast<uint64_t>(p.target));
    }
    uint64_t va = p.address & ~3ull;
    for (const uint32_t value : p.data) {
      if (auto stored = gpu.memory.store<uint32_t>(va, value); !stored) return stored.error();
      if (!p.no_increment) va += 4;
    }
    return Pm4Done{};
  }

  MemResult<uint64_t> copy_source(const pm4::CopyData& p) const {
    if (p.source == pm4::CopySource::kImmediate) return p.src;
    if (p.source == pm4::CopySource::kGpuClock) return gpu.clock();
    if (p.two_dwords) return gpu.memory.load<uint64_t>(p.src & ~7ull);
    const auto value = gpu.memory.load<uint32_t>(p.src & ~3ull);
    if (!value) return std::unexpected(value.error());
    return *value;
  }

  Pm4Outcome operator()(const pm4::CopyData& p) const {
    using enum pm4::CopySource;
    if (p.source != kMemory && p.source != kL2 && p.source != kImmediate && p.source != kGpuClock) {
      return refuse("COPY_DATA", "source", static_cast<uint64_t>(p.source));
    }
    using Target = pm4::CopyTarget;
    if (p.target != Target::kMemory && p.target != Target::kMemorySync && p.target != Target::kL2) {
      return refuse("COPY_DATA", "target", static_cast<uint64_t>(p.target));
    }
    const auto value = copy_source(p);
    if (!value) return value.error();
    if (p.two_dwords) return done(gpu.memory.store<uint64_t>(p.dst & ~7ull, *value));
    return done(gpu.memory.store<uint32_t>(p.dst & ~3ull, static_cast<uint32_t>(*value)));
  }

  Pm4Outcome operator()(const pm4::WaitRegMem& p) const {
    if (!p.memory) return Pm4Refusal{"PM4 WAIT_REG_MEM on a register"};
    if (p.operation != 0) return refuse("WAIT_REG_MEM", "operation", p.operation);
    const auto value = gpu.memory.load<uint32_t>(p.address & ~3ull);
    if (!value) return value.error();
    const auto met = compare(p.compare, *value & p.mask, p.reference);
    if (!met) return refuse("WAIT_REG_MEM", "function", static_cast<uint64_t>(p.compare));
    if (!*met) return Pm4Blocked{};
    return Pm4Done{};
  }

  Pm4Outcome operator()(const pm4::EventWrite& p) const {
    if (p.type != pm4::kEventCsPartialFlush) return refuse("EVENT_WRITE", "event", p.type);
    if (waves_running) return Pm4Blocked{};
    return Pm4Done{};
  }

  Pm4Outcome operator()(const pm4::ReleaseMem& p) const {
    if (waves_running) return Pm4Blocked{};
    apply_cache_actions(gpu, release_actions(gpu, p.cache_actions));
    MemResult<void> stored{};
    switch (p.data_kind) {
      case pm4::ReleaseData::kNone: break;
      case pm4::ReleaseData::kDword:
        stored = gpu.memory.store<uint32_t>(p.address & ~3ull, static_cast<uint32_t>(p.data));
        break;
      case pm4::ReleaseData::kQword: stored = gpu.memory.store<uint64_t>(p.address & ~7ull, p.data); break;
      case pm4::ReleaseData::kGpuClock: stored = gpu.memory.store<uint64_t>(p.address & ~7ull, gpu.clock()); break;
      default: return refuse("RELEASE_MEM", "data", static_cast<uint64_t>(p.data_kind));
    }
    if (!stored) return stored.error();
    if (p.interrupt == pm4::ReleaseInterrupt::kOnly || p.interrupt == pm4::ReleaseInterrupt::kAfterConfirm) {
      gpu.outbox.post([id = p.interrupt_context](InterruptSink& sink) { sink.on_eop_interrupt(id); });
    }
    return Pm4Done{};
  }
};

}  // namespace

Pm4Outcome Pm4Stream::run(GpuContext& gpu, bool waves_running) {
  while (at_ < dwords_.size()) {
    const auto decoded = pm4::decode(std::span(dwords_).subspan(at_), gpu.caps);
    if (decoded.outcome == pm4::Outcome::kNeedMore) return Pm4Refusal{"a PM4 packet is longer than its command buffer"};
    if (decoded.outcome == pm4::Outcome::kMalformed) return Pm4Refusal{decoded.error};
    Pm4Outcome outcome = std::visit(Runner{gpu, waves_running}, decoded.packet);
    if (!std::holds_alternative<Pm4Done>(outcome)) return outcome;
    trace_pm4(gpu, decoded.packet);
    at_ += decoded.dwords;
  }
  return Pm4Done{};
}

}  // namespace vgpu
