#include "tools/vgpu/cp/pm4_queue.h"

#include <algorithm>

#include "tools/vgpu/cp/packet_trace.h"

namespace vgpu {
namespace {

namespace pm4 = barehip::pm4;

constexpr int kPacketsPerStep = 64;
constexpr uint64_t kHeadDwords = 16;  // longer than every packet without data of its own

}  // namespace

Pm4Queue::Pm4Queue(GpuContext& gpu, const QueueParams& params)
    : RingQueue(gpu, params, "PM4", 4),
      stream_(gpu, Pm4Origin{.queue_id = params.queue_id, .doorbell_id = params.doorbell_id}) {
  stream_.state().registers.set_cus(params.cus);
}

std::vector<ShaderEngine::DispatchId> Pm4Queue::dispatches() const {
  std::vector<ShaderEngine::DispatchId> ids;
  stream_.state().append_dispatches(ids);
  return ids;
}

void Pm4Queue::set_cus(const CuMask& cus) {
  RingQueue::set_cus(cus);
  stream_.state().registers.set_cus(cus);
}

bool Pm4Queue::waiting() const {
  return remapped_ || stream_.in_buffer() || !stream_.state().idle() || (read_ != write_ && !starved_);
}

bool Pm4Queue::step() {
  bool progress = take_write_pointer();
  if (halted()) return true;
  if (auto settled = stream_.state().settle(gpu_, false); !settled) {
    report_fault(settled.error());
    return true;
  }
  for (int n = 0; n < kPacketsPerStep && !halted() && run_some(); ++n) progress = true;
  if (!halted()) publish();
  return progress || halted();
}

/// The next piece of the command buffer or of the ring. False: nothing to do, blocked, or halted.
bool Pm4Queue::run_some() {
  if (stream_.in_buffer()) return apply(stream_.run_buffer(gpu_, false));
  if (read_ == write_ || starved_) return false;
  return skip_dwords_ > 0 ? skip_some() : run_one();
}

bool Pm4Queue::skip_some() {
  const uint64_t part = std::min(skip_dwords_, announced());
  skip_dwords_ -= part;
  read_ += part * 4;
  return true;
}

bool Pm4Queue::run_one() {
  std::vector<uint32_t> dwords;
  if (!fetch(dwords)) return false;
  const auto decoded = pm4::decode(dwords, gpu_.caps);
  const Pm4Outcome outcome = stream_.run_ring_packet(gpu_, decoded.packet);
  const auto* done = std::get_if<Pm4Done>(&outcome);
  if (!done) return apply(outcome);
  gpu_.count_packet();
  trace_pm4(gpu_, params_.queue_id, decoded.packet);
  read_ += uint64_t{decoded.dwords} * 4;
  skip_dwords_ = done->skip_dwords;
  return true;
}

/// Reads the next packet whole. False: it is not there yet, or the queue halted.
bool Pm4Queue::fetch(std::vector<uint32_t>& dwords) {
  uint64_t wanted = std::min(kHeadDwords, announced());
  for (;;) {
    auto read = ring_dwords(0, wanted);
    if (!read) {
      report_fault(read.error());
      return false;
    }
    const auto decoded = pm4::decode(*read, gpu_.caps);
    if (decoded.outcome == pm4::Outcome::kMalformed) return refuse(decoded.error);
    if (decoded.outcome == pm4::Outcome::kPacket) {
      read->resize(decoded.dwords);
      dwords = std::move(*read);
      return true;
    }
    if (uint64_t{decoded.dwords} * 4 > params_.ring_bytes) return refuse("a packet is longer than its ring");
    if (decoded.dwords > announced()) {
      starved_ = true;
      return false;
    }
    wanted = decoded.dwords;
  }
}

/// True when the queue may go on at once.
bool Pm4Queue::apply(const Pm4Outcome& outcome) {
  if (const auto* refusal = std::get_if<Pm4Refusal>(&outcome)) return refuse(refusal->text);
  if (const auto* fault = std::get_if<MemoryFault>(&outcome)) {
    report_fault(*fault);
    return false;
  }
  return std::holds_alternative<Pm4Done>(outcome);
}

/// The engine fetches the ring in blocks and does not come back to a command buffer's packet: the pointer is past it
/// while the buffer runs.
bool Pm4Queue::publish() {
  if (published_ == read_) return true;
  published_ = read_;
  const auto index = static_cast<uint32_t>(read_ % params_.ring_bytes / 4);
  const auto stored = gpu_.memory.store<uint32_t>(params_.read_ptr_va, index);
  if (!stored) report_fault(stored.error());
  return stored.has_value();
}

void Pm4Queue::drop_waves() { stream_.state().drop_waves(gpu_); }

void Pm4Queue::on_wave_error(const Dispatch&, const WaveError& error) {
  // A halted wave without a trap handler is seen by nobody: the queue goes on until something waits for it.
  if (error.kind != WaveError::Kind::kTrapWithoutHandler) halt();
}

}  // namespace vgpu
