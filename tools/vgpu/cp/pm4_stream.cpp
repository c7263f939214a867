#include "tools/vgpu/cp/pm4_stream.h"

#include <algorithm>
#include <span>

#include "tools/vgpu/cp/cache_actions.h"
#include "tools/vgpu/cp/packet_trace.h"

namespace vgpu {
namespace {

namespace pm4 = barehip::pm4;

MemResult<void> fire(GpuContext& gpu, const pm4::ReleaseMem& p) {
  apply_cache_actions(gpu, actions_from_release(gpu, p.cache_actions));
  MemResult<void> stored{};
  switch (p.data_kind) {
    case pm4::ReleaseData::kDword: stored = gpu.memory.store<uint32_t>(p.address, static_cast<uint32_t>(p.data)); break;
    case pm4::ReleaseData::kQword: stored = gpu.memory.store<uint64_t>(p.address, p.data); break;
    case pm4::ReleaseData::kGpuClock: stored = gpu.memory.store<uint64_t>(p.address, gpu.clock()); break;
    default: break;
  }
  if (!stored) return stored;
  if (p.interrupt == pm4::ReleaseInterrupt::kOnly || p.interrupt == pm4::ReleaseInterrupt::kAfterConfirm) {
    gpu.outbox.post([id = p.interrupt_context](InterruptSink& sink) { sink.on_eop_interrupt(id); });
  }
  return {};
}

}  // namespace

// ---- what runs behind the packets ---------------------------------------------------------------------------

void Pm4State::start(GpuContext& gpu, Dispatch dispatch) {
  running_.push_back({++started_, gpu.engine->start(dispatch)});
}

MemResult<void> Pm4State::settle(GpuContext& gpu, bool others_running) {
  std::erase_if(running_, [&gpu](const Running& r) { return gpu.engine->finished(r.id); });
  while (!events_.empty() && !others_running) {
    const Event& event = events_.front();
    if (!running_.empty() && running_.front().number <= event.after) break;
    const auto fired = fire(gpu, event.packet);
    events_.pop_front();
    if (!fired) return fired;
  }
  return {};
}

void Pm4State::drop_waves(GpuContext& gpu) {
  for (const Running& each : running_) gpu.engine->kill(each.id);
  running_.clear();
  events_.clear();
}

void Pm4State::append_dispatches(std::vector<ShaderEngine::DispatchId>& ids) const {
  for (const Running& each : running_) ids.push_back(each.id);
}

// ---- command buffers ----------------------------------------------------------------------------------------

Pm4Outcome Pm4Stream::run_ring_packet(GpuContext& gpu, const pm4::Packet& packet) {
  Pm4Outcome outcome = run_pm4_packet(gpu, state_, packet, false, false);
  const auto* call = std::get_if<Pm4Call>(&outcome);
  return call ? enter(gpu, *call) : outcome;
}

Pm4Outcome Pm4Stream::enter(GpuContext& gpu, const Pm4Call& call) {
  Buffer buffer{.dwords = std::vector<uint32_t>(call.dwords)};
  auto read = gpu.memory.read(call.va, buffer.dwords.data(), uint64_t{call.dwords} * sizeof(uint32_t));
  if (!read) return read.error();
  buffer_ = std::move(buffer);
  return Pm4Done{};
}

Pm4Outcome Pm4Stream::run_buffer(GpuContext& gpu, bool others_running) {
  while (buffer_) {
    if (buffer_->at == buffer_->dwords.size()) {
      buffer_.reset();
      break;
    }
    const auto decoded = pm4::decode(std::span(buffer_->dwords).subspan(buffer_->at), gpu.caps);
    if (decoded.outcome == pm4::Outcome::kNeedMore) return Pm4Refusal{"a PM4 packet is longer than its command buffer"};
    if (decoded.outcome == pm4::Outcome::kMalformed) return Pm4Refusal{decoded.error};
    Pm4Outcome outcome = run_pm4_packet(gpu, state_, decoded.packet, true, others_running);
    if (const auto* call = std::get_if<Pm4Call>(&outcome)) {
      trace_pm4(gpu, decoded.packet);
      if (outcome = enter(gpu, *call); !std::holds_alternative<Pm4Done>(outcome)) return outcome;
      continue;
    }
    const auto* done = std::get_if<Pm4Done>(&outcome);
    if (!done) return outcome;
    trace_pm4(gpu, decoded.packet);
    if (done->skip_dwords > buffer_->dwords.size() - buffer_->at - decoded.dwords) {
      return Pm4Refusal{"a PM4 packet skips past the end of its command buffer"};
    }
    buffer_->at += decoded.dwords + done->skip_dwords;
  }
  return Pm4Done{};
}

}  // namespace vgpu
