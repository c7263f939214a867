// What each PM4 packet does.
#include <optional>
#include <span>

#include "pm4/registers.h"
#include "tools/vgpu/cp/cache_actions.h"
#include "tools/vgpu/cp/pm4_stream.h"
#include "tools/vgpu/cp/tc_atomic.h"
#include "tools/vgpu/cp/text.h"

namespace vgpu {
namespace {

namespace pm4 = barehip::pm4;

/// GPU_HDP_FLUSH_REQ and _DONE of the bus interface, at the same place on all targets (nbio_7_4, nbio_4_3 headers).
constexpr uint32_t kHdpFlushReq = 0xe26, kHdpFlushDone = 0xe27;

template <class T>
Pm4Outcome done(const MemResult<T>& result) {
  if (!result) return result.error();
  return Pm4Done{};
}

Pm4Refusal refuse(const char* packet, const std::string& why) { return {std::string("PM4 ") + packet + ": " + why}; }

Pm4Refusal refuse(const char* packet, const char* what, uint64_t value) {
  return refuse(packet, what + (" " + std::to_string(value)));
}

template <class T>
std::optional<bool> compare(pm4::Compare function, T value, T reference) {
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

struct Runner {
  GpuContext& gpu;
  Pm4State& state;
  bool in_buffer;
  bool others_running;

  bool busy() const { return others_running || state.waves_running(); }

  Pm4Outcome operator()(const pm4::Nop&) const { return Pm4Done{}; }

  // ---- registers and dispatches ----

  Pm4Outcome operator()(const pm4::SetShReg& p) const {
    uint32_t offset = p.offset;
    for (const uint32_t value : p.data) {
      if (auto refused = state.registers.write(offset++, value)) return refuse(p.kName, *refused);
    }
    return Pm4Done{};
  }

  Pm4Outcome operator()(const pm4::SetUconfigReg& p) const {
    return refuse(p.kName, "register " + hex(pm4::kUconfigRegBase + p.offset) +
                               ": no register of that space is modelled (they serve profilers)");
  }

  Pm4Outcome dispatch(const char* name, const std::array<uint32_t, 3>& dims, uint32_t initiator) const {
    if (!state.can_dispatch()) return Pm4Blocked{};
    auto planned = state.registers.dispatch(gpu, dims, initiator, state.origin());
    if (const auto* why = std::get_if<std::string>(&planned)) return refuse(name, *why);
    state.start(gpu, std::get<Dispatch>(planned));
    return Pm4Done{};
  }

  Pm4Outcome operator()(const pm4::DispatchDirect& p) const {
    return dispatch(p.kName, {p.dim_x, p.dim_y, p.dim_z}, p.initiator);
  }

  Pm4Outcome operator()(const pm4::DispatchIndirect& p) const {
    std::array<uint32_t, 3> dims{};
    if (auto read = gpu.memory.read(p.address, dims.data(), sizeof(dims)); !read) return read.error();
    return dispatch(p.kName, dims, p.initiator);
  }

  // ---- control ----

  Pm4Outcome operator()(const pm4::IndirectBuffer& p) const {
    if (!p.valid) return refuse(p.kName, "without its VALID bit");
    if (p.count == 0) return refuse(p.kName, "of 0 dwords");
    if (in_buffer && !p.chain) return refuse(p.kName, "inside a command buffer; the compute engine nests none");
    if (!in_buffer && p.chain) return refuse(p.kName, "chained from a ring");
    return Pm4Call{.va = p.address, .dwords = p.count, .chain = p.chain};
  }

  Pm4Outcome operator()(const pm4::CondExec& p) const {
    const auto value = gpu.memory.load<uint32_t>(p.address);
    if (!value) return value.error();
    return Pm4Done{.skip_dwords = *value == 0 ? p.count : 0};
  }

  Pm4Outcome operator()(const pm4::PredExec& p) const {
    if (!in_buffer) return refuse(p.kName, "in a ring; only command buffers may hold it");
    if (gpu.config.num_xcc > 1) return refuse(p.kName, "the dies of one GPU run as one in this model");
    return Pm4Done{.skip_dwords = p.xcc_mask & 1 ? 0u : p.count};
  }

  // ---- caches ----

  Pm4Outcome operator()(const pm4::AcquireMemCoher& p) const {
    apply_cache_actions(gpu, actions_from_coher(p.control));
    return Pm4Done{};
  }
  Pm4Outcome operator()(const pm4::AcquireMemGcr& p) const {
    apply_cache_actions(gpu, actions_from_gcr(p.control));
    return Pm4Done{};
  }

  // ---- memory ----

  Pm4Outcome operator()(const pm4::WriteData& p) const {
    if (p.data.empty()) return refuse(p.kName, "without data");
    if (p.target == pm4::WriteTarget::kRegister) return write_register(p.kName, p.address, p.data.front());
    if (p.target != pm4::WriteTarget::kMemory && p.target != pm4::WriteTarget::kL2) {
      return refuse(p.kName, "target", static_cast<uint64_t>(p.target));
    }
    if (p.address % 4 != 0) return refuse(p.kName, "to " + hex(p.address) + ", which is not 4-byte aligned");
    uint64_t va = p.address;
    for (const uint32_t value : p.data) {
      if (auto stored = gpu.memory.store<uint32_t>(va, value); !stored) return stored.error();
      if (!p.no_increment) va += 4;
    }
    return Pm4Done{};
  }

  MemResult<uint64_t> copy_source(const pm4::CopyData& p) const {
    if (p.source == pm4::CopySource::kImmediate) return p.src;
    if (p.source == pm4::CopySource::kGpuClock) return gpu.clock();
    if (p.source == pm4::CopySource::kAtomicReturn) return state.atomic_return;
    if (p.two_dwords) return gpu.memory.load<uint64_t>(p.src);
    const auto value = gpu.memory.load<uint32_t>(p.src);
    if (!value) return std::unexpected(value.error());
    return *value;
  }

  Pm4Outcome operator()(const pm4::CopyData& p) const {
    using enum pm4::CopySource;
    const bool from_memory = p.source == kMemory || p.source == kL2;
    if (p.source == kRegister || p.source == kPerfCounter) return refuse(p.kName, "from register " + hex(p.src));
    if (!from_memory && p.source != kImmediate && p.source != kGpuClock && p.source != kAtomicReturn) {
      return refuse(p.kName, "source", static_cast<uint64_t>(p.source));
    }
    using Target = pm4::CopyTarget;
    if (p.target == Target::kRegister || p.target == Target::kPerfCounter) {
      return refuse(p.kName, "to register " + hex(p.dst));
    }
    if (p.target != Target::kMemory && p.target != Target::kL2) {
      return refuse(p.kName, "target", static_cast<uint64_t>(p.target));
    }
    const uint64_t size = p.two_dwords ? 8 : 4;
    if (from_memory && p.src % size != 0) return refuse(p.kName, "from " + hex(p.src) + ", which is not aligned");
    if (p.dst % size != 0) return refuse(p.kName, "to " + hex(p.dst) + ", which is not aligned");
    const auto value = copy_source(p);
    if (!value) return value.error();
    if (p.two_dwords) return done(gpu.memory.store<uint64_t>(p.dst, *value));
    return done(gpu.memory.store<uint32_t>(p.dst, static_cast<uint32_t>(*value)));
  }

  Pm4Outcome operator()(const pm4::AtomicMem& p) const {
    constexpr uint8_t kOnce = 0, kLoop = 1;
    if (!atomic_known(p.operation)) return refuse(p.kName, "operation", p.operation);
    if (p.command != kOnce && p.command != kLoop) return refuse(p.kName, "command", p.command);
    if (atomic_wide(p.operation) && p.address % 8 != 0) return refuse(p.kName, "64 bits at " + hex(p.address));
    const auto old =
        run_atomic(gpu.memory, {.operation = p.operation, .va = p.address, .source = p.src, .compare = p.compare});
    if (!old) return old.error();
    state.atomic_return = *old;
    const uint64_t wanted = atomic_wide(p.operation) ? p.compare : static_cast<uint32_t>(p.compare);
    if (p.command == kLoop && atomic_is_compare_swap(p.operation) && *old != wanted) return Pm4Blocked{};
    return Pm4Done{};
  }

  // ---- waiting ----

  template <class T>
  Pm4Outcome poll_memory(const char* name, uint64_t va, pm4::Compare function, T reference, T mask) const {
    if (va % sizeof(T) != 0) return refuse(name, "on " + hex(va) + ", which is not aligned");
    const auto value = gpu.memory.load<T>(va);
    if (!value) return value.error();
    const auto met = compare<T>(function, *value & mask, reference);
    if (!met) return refuse(name, "function", static_cast<uint64_t>(function));
    if (!*met) return Pm4Blocked{};
    return Pm4Done{};
  }

  Pm4Outcome operator()(const pm4::WaitRegMem& p) const {
    constexpr uint8_t kWait = 0, kWriteThenWait = 1, kWaitPreemptable = 3;
    if (p.memory) {
      if (p.operation != kWait && p.operation != kWaitPreemptable) return refuse(p.kName, "operation", p.operation);
      return poll_memory<uint32_t>(p.kName, p.address, p.compare, p.reference, p.mask);
    }
    const auto first = static_cast<uint32_t>(p.address), second = static_cast<uint32_t>(p.address >> 32);
    if (p.operation == kWriteThenWait) {
      auto written = write_register(p.kName, first, p.reference);
      if (!std::holds_alternative<Pm4Done>(written)) return written;
    } else if (p.operation != kWait) {
      return refuse(p.kName, "operation", p.operation);
    }
    const uint32_t polled = p.operation == kWriteThenWait ? second : first;
    if (polled != kHdpFlushDone) return refuse(p.kName, "on register " + hex(polled));
    const auto met = compare<uint32_t>(p.compare, state.hdp_flush & p.mask, p.reference);
    if (!met) return refuse(p.kName, "function", static_cast<uint64_t>(p.compare));
    if (!*met) return refuse(p.kName, "for what HDP_FLUSH_DONE never says: " + hex(p.reference));
    return Pm4Done{};
  }

  Pm4Outcome operator()(const pm4::WaitRegMem64& p) const {
    if (!p.memory) return refuse(p.kName, "on register " + hex(p.address));
    if (p.operation != 0) return refuse(p.kName, "operation", p.operation);
    return poll_memory<uint64_t>(p.kName, p.address, p.compare, p.reference, p.mask);
  }

  /// Host memory is coherent here, so a flush of the host data path is over at once.
  Pm4Outcome write_register(const char* name, uint64_t number, uint32_t value) const {
    if (number != kHdpFlushReq) return refuse(name, "to register " + hex(number));
    state.hdp_flush = value;
    return Pm4Done{};
  }

  // ---- events ----

  Pm4Outcome operator()(const pm4::EventWrite& p) const {
    constexpr uint8_t kPartialFlushIndex = 4;
    if (p.type != pm4::kEventCsPartialFlush) return refuse(p.kName, "event", p.type);
    if (p.index != kPartialFlushIndex) return refuse(p.kName, "CS_PARTIAL_FLUSH with index", p.index);
    if (busy()) return Pm4Blocked{};
    return Pm4Done{};
  }

  Pm4Outcome operator()(const pm4::ReleaseMem& p) const {
    const bool end_of_pipe = p.event_index == pm4::kIndexEndOfPipe &&
                             (p.event_type == pm4::kEventCacheFlushAndInv || p.event_type == pm4::kEventBottomOfPipe);
    const bool shader_done = p.event_index == pm4::kIndexShaderDone && p.event_type == pm4::kEventComputeDone;
    if (!end_of_pipe && !shader_done) {
      return refuse(p.kName, "event " + std::to_string(p.event_type) + " with index " + std::to_string(p.event_index));
    }
    if (p.target > 1) return refuse(p.kName, "destination", p.target);
    if (p.interrupt > pm4::ReleaseInterrupt::kDataAfterConfirm) {
      return refuse(p.kName, "INT_SEL", static_cast<uint64_t>(p.interrupt));
    }
    if (p.data_kind > pm4::ReleaseData::kGpuClock)
      return refuse(p.kName, "DATA_SEL", static_cast<uint64_t>(p.data_kind));
    const uint64_t size = p.data_kind == pm4::ReleaseData::kDword ? 4 : 8;
    if (p.data_kind != pm4::ReleaseData::kNone && p.address % size != 0) {
      return refuse(p.kName, "to " + hex(p.address) + ", which is not aligned");
    }
    if (!state.can_wait()) return Pm4Blocked{};
    state.add_event(p);
    return done(state.settle(gpu, others_running));
  }
};

}  // namespace

Pm4Outcome run_pm4_packet(GpuContext& gpu, Pm4State& state, const pm4::Packet& packet, bool in_buffer,
                          bool others_running) {
  return std::visit(Runner{gpu, state, in_buffer, others_running}, packet);
}

}  // namespace vgpu
