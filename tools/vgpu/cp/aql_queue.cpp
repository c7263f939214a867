#include "tools/vgpu/cp/aql_queue.h"

#include <algorithm>
#include <cstddef>

#include "pm4/pm4.h"
#include "tools/vgpu/cp/packet_trace.h"
#include "tools/vgpu/cp/signal.h"

namespace vgpu {
namespace {

using namespace barehip::aql;
using barehip::pm4::Cap;
using barehip::pm4::IndirectBuffer;
using barehip::pm4::Outcome;

constexpr int kStartsPerStep = 16;
constexpr size_t kMaxConcurrent = 16;  // dispatches of one queue on the shader cores at once
constexpr size_t kReorderWindow = 8;   // hostile out_of_order: how far ahead packets are looked at
constexpr uint64_t kMaxHold = 16;      // hostile out_of_order: polls that a finished packet may be held back
constexpr uint64_t kDropOneIn = 4;     // hostile drop_doorbells

/// queue_inactive_signal values, for runtimes without the driver's exception events.
QueueInactive inactive_reason(PacketError code) {
  switch (code) {
    case PacketError::kDispatchDim: return QueueInactive::kDispatchDimInvalid;
    case PacketError::kGroupSegment: return QueueInactive::kGroupSegmentInvalid;
    case PacketError::kCode: return QueueInactive::kCodeInvalid;
    case PacketError::kWorkGroupSize: return QueueInactive::kWorkgroupTooLarge;
    case PacketError::kRegisters: return QueueInactive::kOutOfVgprs;
    case PacketError::kVendorUnsupported: return QueueInactive::kVendorPacketUnsupported;
    default: return QueueInactive::kPacketUnsupported;
  }
}

bool condition_met(BarrierCondition condition, int64_t value, int64_t reference) {
  switch (condition) {
    case BarrierCondition::kEqual: return value == reference;
    case BarrierCondition::kNotEqual: return value != reference;
    case BarrierCondition::kLess: return value < reference;
    default: return value >= reference;
  }
}

}  // namespace

AqlQueue::AqlQueue(GpuContext& gpu, const QueueParams& params) : HwQueue(gpu, params) {}

std::vector<ShaderEngine::DispatchId> AqlQueue::dispatches() const {
  std::vector<ShaderEngine::DispatchId> ids;
  for (const Slot& slot : window_) {
    if (slot.dispatched) ids.push_back(slot.waves);
    if (slot.commands) slot.commands->state().append_dispatches(ids);
  }
  return ids;
}

uint64_t AqlQueue::slot_va(uint64_t index) const {
  return params_.ring_va + index % (params_.ring_bytes / kPacketBytes) * kPacketBytes;
}

bool AqlQueue::waiting() const { return looking_ || awaiting_scratch_ || any_running(); }

bool AqlQueue::any_running() const {
  return std::ranges::any_of(window_,
                             [](const Slot& s) { return s.state == State::kRunning || s.state == State::kHeld; });
}

bool AqlQueue::dispatches_running() const {
  return std::ranges::any_of(window_, [](const Slot& s) { return s.state == State::kRunning && s.dispatched; });
}

bool AqlQueue::all_done_before(size_t position) const {
  return std::all_of(window_.begin(), window_.begin() + static_cast<ptrdiff_t>(position),
                     [](const Slot& s) { return s.state == State::kDone; });
}

void AqlQueue::mapped(bool doorbell_lost) {
  if (doorbell_lost) {
    doorbell_.forget();
  } else if (const auto value = doorbell_.poll()) {
    doorbell_limit_ = std::max(doorbell_limit_, *value + 1);
  }
  looking_ = true;
}

void AqlQueue::drop_waves() {
  for (Slot& slot : window_) {
    if (slot.dispatched) gpu_.engine->kill(slot.waves);
    if (slot.commands) slot.commands->state().drop_waves(gpu_);
    slot.dispatched = false;
    if (slot.state == State::kRunning || slot.state == State::kHeld) slot.state = State::kFailed;
  }
  looking_ = awaiting_scratch_ = false;
}

bool AqlQueue::step() {
  bool progress = check_doorbell();
  progress |= poll_running();
  if (!halted() && awaiting_scratch_) progress |= scratch_answered();
  if (!halted() && !awaiting_scratch_) progress |= start_packets();
  while (!window_.empty() && window_.front().state == State::kDone) {
    window_.pop_front();
    ++base_;
  }
  return progress;
}

// ---- what may be looked at ----------------------------------------------------------------------------------

bool AqlQueue::check_doorbell() {
  const auto value = doorbell_.poll();
  if (!value) return false;
  if (gpu_.config.hostile.drop_doorbells && gpu_.random.one_in(kDropOneIn)) {
    mapped(true);
  } else {
    doorbell_limit_ = std::max(doorbell_limit_, *value + 1);
    looking_ = true;
  }
  return true;
}

/// Whether a packet at `position` was announced. The write index in memory counts too: clients ring late, once for a
/// batch, or with an index behind it.
MemResult<bool> AqlQueue::announced(size_t position) {
  const uint64_t index = base_ + position;
  if (index < limit_) return true;
  const auto written = gpu_.memory.load<uint64_t>(params_.write_ptr_va);
  if (!written) return std::unexpected(written.error());
  limit_ = std::max(*written, doorbell_limit_);
  return index < limit_;
}

/// True when the slot's header is valid; it is then remembered.
MemResult<bool> AqlQueue::fetch_header(size_t position) {
  const auto header = gpu_.memory.load<uint16_t>(slot_va(base_ + position));
  if (!header) return std::unexpected(header.error());
  if (window_.size() <= position) window_.resize(position + 1);
  window_[position].header = *header;
  return header_type(*header) != PacketType::kInvalid;
}

/// Positions of packets that may start now. In strict mode that is the first that has not started, or nothing; hostile
/// out_of_order lets packets without the barrier bit overtake.
std::vector<size_t> AqlQueue::startable() {
  const bool reorder = gpu_.config.hostile.out_of_order;
  std::vector<size_t> found;
  bool all_started = true;
  for (size_t position = 0; found.size() < (reorder ? kReorderWindow : 1); ++position) {
    if (position < window_.size() && window_[position].state != State::kEmpty) {
      const Slot& slot = window_[position];
      // The processor itself waits for dependencies and runs command buffers, one packet at a time.
      if (!reorder && slot.state == State::kRunning && !slot.dispatched) return {};
      continue;
    }
    if (position >= params_.ring_bytes / kPacketBytes) break;  // the next slot is still in use
    const auto visible = announced(position);
    const auto valid = visible && *visible ? fetch_header(position) : visible;
    if (!valid) {
      report_fault(valid.error());
      return {};
    }
    if (!*visible && all_started) looking_ = false;
    if (!*valid) break;
    all_started = false;
    const bool barrier = header_barrier(window_[position].header);
    if (!barrier || all_done_before(position)) found.push_back(position);
    if (barrier) break;
  }
  return found;
}

// ---- starting -----------------------------------------------------------------------------------------------

bool AqlQueue::start_packets() {
  bool progress = false;
  for (int n = 0; n < kStartsPerStep && looking_ && !awaiting_scratch_; ++n) {
    const auto candidates = startable();
    if (candidates.empty() || halted()) break;
    const size_t pick = candidates[candidates.size() > 1 ? gpu_.random.below(candidates.size()) : 0];
    if (start(pick) != Start::kStarted) break;
    progress = true;
    bool moved = false;
    if (!advance(pick, moved)) break;
  }
  return progress || halted();
}

AqlQueue::Start AqlQueue::start(size_t position) {
  Slot& slot = window_[position];
  auto ready = gpu_.memory.read(slot_va(base_ + position), slot.bytes.data(), slot.bytes.size());
  if (ready) {
    const auto view = read_queue_view(gpu_.memory, params_.read_ptr_va);
    if (view)
      view_ = *view;
    else
      ready = std::unexpected(view.error());
  }
  if (!ready) {
    report_fault(ready.error());
    return Start::kRefused;
  }
  const unsigned invalid_scope = 3;
  if ((slot.header & kHeaderReservedMask) || static_cast<unsigned>(header_acquire(slot.header)) == invalid_scope ||
      static_cast<unsigned>(header_release(slot.header)) == invalid_scope) {
    return refuse(PacketError::kReserved, "reserved bits in the packet header");
  }
  slot.profiled = view_.fields.queue_properties & kQueueEnableProfiling;
  Start result = Start::kStarted;
  switch (header_type(slot.header)) {
    case PacketType::kKernelDispatch: result = start_dispatch(position); break;
    case PacketType::kBarrierAnd:
    case PacketType::kBarrierOr: break;
    case PacketType::kVendorSpecific: result = start_vendor(position); break;
    case PacketType::kAgentDispatch: return refuse(PacketError::kUnsupported, "AGENT_DISPATCH: a GPU cannot run it");
    default:
      return refuse(PacketError::kUnsupported,
                    "packet type " + std::to_string(static_cast<unsigned>(header_type(slot.header))));
  }
  if (result != Start::kStarted) return result;
  gpu_.count_packet();
  trace_aql(gpu_, params_.queue_id, slot.as<std::array<uint32_t, kPacketBytes / 4>>());
  if (!slot.dispatched) {
    acquire(header_acquire(slot.header));
    slot.start_tick = gpu_.clock();
  }
  slot.state = State::kRunning;
  if (gpu_.config.hostile.early_read_index) {
    auto moved = gpu_.memory.store<uint16_t>(
        slot_va(base_ + position), make_header(PacketType::kInvalid, false, FenceScope::kNone, FenceScope::kNone));
    if (moved) moved = publish_read_index();
    if (!moved) report_fault(moved.error());
  }
  return Start::kStarted;
}

AqlQueue::Start AqlQueue::start_dispatch(size_t position) {
  Slot& slot = window_[position];
  const auto packet = slot.as<KernelDispatchPacket>();
  const auto running = std::ranges::count_if(window_, [](const Slot& s) { return s.state == State::kRunning; });
  if (static_cast<size_t>(running) >= kMaxConcurrent) return Start::kBlocked;
  DispatchPlan plan = plan_dispatch(gpu_, params_, view_, packet, slot_va(base_ + position), base_ + position);
  if (const auto* refusal = std::get_if<PacketRefusal>(&plan)) return refuse(refusal->code, refusal->text);
  if (const auto* wanted = std::get_if<ScratchWanted>(&plan)) return ask_for_scratch(position, *wanted);
  if (const auto* fault = std::get_if<MemoryFault>(&plan)) {
    report_fault(*fault);
    return Start::kRefused;
  }
  const Dispatch& dispatch = std::get<Dispatch>(plan);
  slot.uses_scratch = dispatch.scratch_waves > 0;
  // Two dispatches would be given the same slots of the queue's one scratch buffer.
  const bool scratch_taken = std::ranges::any_of(
      window_, [](const Slot& s) { return s.uses_scratch && (s.state == State::kRunning || s.state == State::kHeld); });
  if (slot.uses_scratch && scratch_taken) return Start::kBlocked;
  slot.scratch_once = slot.uses_scratch && (view_.fields.queue_properties & kQueueUseScratchOnce);
  acquire(header_acquire(slot.header));
  slot.start_tick = gpu_.clock();
  slot.waves = gpu_.engine->start(dispatch);
  slot.dispatched = true;
  return Start::kStarted;
}

AqlQueue::Start AqlQueue::start_vendor(size_t position) {
  Slot& slot = window_[position];
  const auto barrier = slot.as<VendorBarrierValuePacket>();
  const auto ib = slot.as<VendorPm4IbPacket>();
  if (barrier.vendor_format == static_cast<uint8_t>(VendorFormat::kBarrierValue) && barrier.reserved0 == 0) {
    if (!gpu_.caps.has(Cap::kAqlBarrierValue)) {
      return refuse(PacketError::kVendorUnsupported, "BARRIER_VALUE: this GPU's firmware has no such packet");
    }
    if (barrier.condition > static_cast<uint32_t>(BarrierCondition::kGreaterEqual)) {
      return refuse(PacketError::kVendorUnsupported,
                    "BARRIER_VALUE with condition " + std::to_string(barrier.condition));
    }
    return Start::kStarted;
  }
  if (ib.vendor_format != static_cast<uint16_t>(VendorFormat::kPm4Ib)) {
    return refuse(PacketError::kVendorUnsupported, "vendor packet format " + std::to_string(ib.vendor_format));
  }
  const auto decoded = barehip::pm4::decode(ib.indirect_buffer, gpu_.caps);
  const auto* indirect = std::get_if<IndirectBuffer>(&decoded.packet);
  if (decoded.outcome != Outcome::kPacket || !indirect || !indirect->valid || indirect->chain || indirect->count == 0 ||
      ib.dwords_remaining != kPm4IbDwordsRemaining) {
    return refuse(PacketError::kVendorUnsupported, "a PM4-IB packet without a valid INDIRECT_BUFFER");
  }
  slot.commands.emplace(
      gpu_,
      Pm4Origin{.queue_id = params_.queue_id, .doorbell_id = params_.doorbell_id, .dispatch_index = base_ + position});
  const Pm4Outcome entered = slot.commands->enter(gpu_, {.va = indirect->address, .dwords = indirect->count});
  if (const auto* fault = std::get_if<MemoryFault>(&entered)) {
    report_fault(*fault);
    return Start::kRefused;
  }
  return Start::kStarted;
}

AqlQueue::Start AqlQueue::refuse(PacketError code, const std::string& text) {
  if (!gpu_.runtime_enabled) raise_inactive(static_cast<uint64_t>(inactive_reason(code)));
  if (!halted()) report_error(static_cast<uint32_t>(code), text);
  return Start::kRefused;
}

void AqlQueue::acquire(FenceScope scope) {
  if (scope == FenceScope::kNone) return;
  // No fence of a packet reaches the instruction caches: whoever loads code invalidates them with ACQUIRE_MEM.
  gpu_.engine->invalidate_l1(false, true, true);
  if (!gpu_.caches) return;
  gpu_.caches->invalidate_l1(-1, true, true, false);
  if (scope == FenceScope::kSystem) gpu_.caches->invalidate_l2();
}

// ---- private memory -----------------------------------------------------------------------------------------

AqlQueue::Start AqlQueue::ask_for_scratch(size_t position, const ScratchWanted& wanted) {
  // The host frees the memory that the queue has, so nothing may still use it, and it looks for what is needed in the
  // packet at the read index.
  if (any_running() || !all_done_before(position)) return Start::kBlocked;
  raise_inactive(static_cast<uint64_t>(wanted.wave32 ? QueueInactive::kScratchWave32 : QueueInactive::kScratchWave64));
  awaiting_scratch_ = !halted();
  return Start::kBlocked;
}

bool AqlQueue::raise_inactive(uint64_t reason) {
  inactive_signal_ = view_.fields.queue_inactive_signal;
  const auto stored = store_signal(gpu_, inactive_signal_, static_cast<int64_t>(reason));
  if (!stored) report_fault(stored.error());
  return stored.has_value();
}

bool AqlQueue::scratch_answered() {
  const auto value = load_signal(gpu_, inactive_signal_);
  if (!value) {
    report_fault(value.error());
    return true;
  }
  if (*value != 0) return false;
  awaiting_scratch_ = false;
  return true;
}

// ---- running and completing ---------------------------------------------------------------------------------

bool AqlQueue::poll_running() {
  bool progress = false;
  for (size_t position = 0; position < window_.size() && !halted(); ++position) {
    Slot& slot = window_[position];
    if (slot.state == State::kHeld) {
      progress = true;
      if (slot.hold-- == 0) finish(position);
    } else if (slot.state == State::kRunning && !advance(position, progress)) {
      break;
    }
  }
  return progress || halted();
}

/// False when the queue halted. Sets `progress` when the packet completed (or is held back).
bool AqlQueue::advance(size_t position, bool& progress) {
  Slot& slot = window_[position];
  bool ended = false;
  if (slot.dispatched) {
    ended = gpu_.engine->finished(slot.waves);
  } else if (slot.commands) {
    ended = run_commands(*slot.commands);
  } else if (!dependencies_met(slot, ended)) {
    return false;
  }
  if (halted()) return false;
  if (!ended) return true;
  progress = true;
  if (gpu_.config.hostile.out_of_order) {
    slot.state = State::kHeld;
    slot.hold = static_cast<uint32_t>(gpu_.random.below(kMaxHold));
  } else {
    finish(position);
  }
  return !halted();
}

/// True when the command buffer ended, and with it its dispatches and end-of-pipe events.
bool AqlQueue::run_commands(Pm4Stream& commands) {
  const bool others = dispatches_running();
  if (auto settled = commands.state().settle(gpu_, others); !settled) {
    report_fault(settled.error());
    return false;
  }
  const Pm4Outcome outcome = commands.run_buffer(gpu_, others);
  if (const auto* refusal = std::get_if<Pm4Refusal>(&outcome)) refuse(PacketError::kVendorUnsupported, refusal->text);
  if (const auto* fault = std::get_if<MemoryFault>(&outcome)) report_fault(*fault);
  return std::holds_alternative<Pm4Done>(outcome) && commands.state().idle();
}

/// False when a dependency faulted.
bool AqlQueue::dependencies_met(const Slot& slot, bool& met) {
  const auto value_of = [this](uint64_t signal) {
    const auto value = load_signal(gpu_, signal);
    if (!value) report_fault(value.error());
    return value;
  };
  if (header_type(slot.header) == PacketType::kVendorSpecific) {
    const auto packet = slot.as<VendorBarrierValuePacket>();
    met = packet.signal == 0;
    if (met) return true;
    const auto value = value_of(packet.signal);
    if (value) met = condition_met(static_cast<BarrierCondition>(packet.condition), *value & packet.mask, packet.value);
    return value.has_value();
  }
  const bool all = header_type(slot.header) == PacketType::kBarrierAnd;
  bool none = true;
  met = all;
  for (const uint64_t signal : slot.as<BarrierPacket>().dep_signal) {
    if (signal == 0) continue;
    const auto value = value_of(signal);
    if (!value) return false;
    met = all ? met && *value == 0 : met || *value == 0;
    none = false;
  }
  met = met || none;
  return true;
}

void AqlQueue::finish(size_t position) {
  if (auto done = complete(position); !done) report_fault(done.error());
}

MemResult<void> AqlQueue::complete(size_t position) {
  Slot& slot = window_[position];
  uint64_t signal = 0;
  std::memcpy(&signal, slot.bytes.data() + offsetof(KernelDispatchPacket, completion_signal), sizeof(signal));
  const FenceScope release = header_release(slot.header);
  slot.state = State::kDone;
  slot.dispatched = false;
  if (signal != 0 && slot.profiled) {
    if (auto done = write_timestamps(gpu_, signal, slot.start_tick, gpu_.clock()); !done) return done;
  }
  if (gpu_.caches && release == FenceScope::kSystem) gpu_.caches->write_back_l2();
  if (!gpu_.config.hostile.early_read_index) {
    const uint16_t invalid = make_header(PacketType::kInvalid, false, FenceScope::kNone, FenceScope::kNone);
    if (auto done = gpu_.memory.store<uint16_t>(slot_va(base_ + position), invalid); !done) return done;
    if (auto done = publish_read_index(); !done) return done;
  }
  if (signal != 0) {
    if (auto done = decrement_signal(gpu_, signal); !done) return done;
  }
  if (slot.scratch_once) awaiting_scratch_ = raise_inactive(static_cast<uint64_t>(QueueInactive::kScratchOnceDone));
  return {};
}

MemResult<void> AqlQueue::publish_read_index() {
  const bool early = gpu_.config.hostile.early_read_index;
  const auto still = std::ranges::find_if(
      window_, [early](const Slot& s) { return early ? s.state == State::kEmpty : s.state != State::kDone; });
  const uint64_t index = base_ + static_cast<uint64_t>(still - window_.begin());
  if (index <= published_) return {};
  published_ = index;
  return gpu_.memory.store<uint64_t>(params_.read_ptr_va, index);
}

void AqlQueue::on_wave_error(const Dispatch& dispatch, const WaveError& error) {
  const uint64_t position = dispatch.dispatch_index - base_;
  if (position < window_.size()) window_[position].state = State::kFailed;
  // A halted wave without a trap handler is seen by nobody: the queue goes on until something waits for the packet.
  if (error.kind != WaveError::Kind::kTrapWithoutHandler) halt();
}

}  // namespace vgpu
