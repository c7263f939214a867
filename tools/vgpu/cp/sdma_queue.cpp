#include "tools/vgpu/cp/sdma_queue.h"

#include <algorithm>

#include "tools/vgpu/cp/packet_trace.h"

namespace vgpu {
namespace {

namespace sdma = barehip::pm4::sdma;

constexpr int kPacketsPerStep = 32;
constexpr uint64_t kHeadDwords = 16;  // longer than every packet without data of its own

}  // namespace

bool SdmaQueue::step() {
  bool progress = take_write_pointer();
  for (int n = 0; n < kPacketsPerStep && !halted(); ++n) {
    if (!buffer_ && (read_ == write_ || starved_)) break;
    if (!run_one()) break;
    progress = true;
  }
  return progress || halted();
}

// ---- fetching -----------------------------------------------------------------------------------------------

uint64_t SdmaQueue::available() const { return buffer_ ? buffer_->call.dwords - buffer_->at : announced(); }

MemResult<std::vector<uint32_t>> SdmaQueue::read_dwords(uint64_t first, uint64_t count) {
  if (!buffer_) return ring_dwords(first, count);
  std::vector<uint32_t> out(count);
  const uint64_t va = buffer_->call.va + (buffer_->at + first) * 4;
  if (auto read = gpu_.memory.read(va, out.data(), count * 4); !read) return std::unexpected(read.error());
  return out;
}

/// Reads the next packet whole into dwords_. False: it is not there yet, or the queue halted.
bool SdmaQueue::fetch() {
  uint64_t wanted = std::min(kHeadDwords, available());
  for (;;) {
    auto dwords = read_dwords(0, wanted);
    if (!dwords) {
      report_fault(dwords.error());
      return false;
    }
    const auto decoded = sdma::decode(*dwords, gpu_.caps);
    if (decoded.outcome == barehip::pm4::Outcome::kMalformed) return refuse(decoded.error);
    if (decoded.outcome == barehip::pm4::Outcome::kPacket) {
      dwords->resize(decoded.dwords);
      gpu_.count_packet();
      trace_sdma(gpu_, params_.queue_id, decoded.packet);
      dwords_ = std::move(*dwords);
      moved_bytes_ = 0;
      return true;
    }
    if (decoded.dwords > available()) {
      if (buffer_) return refuse("a packet is longer than its command buffer");
      starved_ = true;
      return false;
    }
    wanted = decoded.dwords;
  }
}

// ---- running ------------------------------------------------------------------------------------------------

bool SdmaQueue::run_one() {
  if (dwords_.empty()) {
    if (!fetch()) return false;
    if (!buffer_ && gpu_.config.hostile.early_read_index && !publish(read_ + dwords_.size() * 4)) return false;
  }
  const auto decoded = sdma::decode(dwords_, gpu_.caps);
  return apply(run_sdma_packet(gpu_, decoded.packet, moved_bytes_));
}

/// True when the queue may go on at once.
bool SdmaQueue::apply(const SdmaOutcome& outcome) {
  if (const auto* refusal = std::get_if<SdmaRefusal>(&outcome)) return refuse(refusal->text);
  if (const auto* fault = std::get_if<MemoryFault>(&outcome)) {
    report_fault(*fault);
    return false;
  }
  if (const auto* again = std::get_if<SdmaAgain>(&outcome)) return again->moved;
  if (const auto* call = std::get_if<SdmaCall>(&outcome)) {
    if (buffer_) return refuse("INDIRECT: inside a command buffer");
    // The engine fetches the ring in lines of 8 dwords and comes back to the line behind the packet.
    constexpr uint64_t kLine = 8;
    if ((read_ / 4 + sdma::Indirect::kDwords) % kLine != 0) {
      return refuse("INDIRECT: does not end on a boundary of 8 dwords");
    }
    buffer_ = Buffer{*call};
    dwords_.clear();
    return buffer_->call.dwords > 0 || finish(0);
  }
  const uint64_t skip = std::get<SdmaDone>(outcome).skip_dwords;
  const uint64_t length = dwords_.size() + skip;
  if (skip > 0 && length > available()) {
    if (buffer_) return refuse("COND_EXE: skips past the end of its command buffer");
    starved_ = true;  // runs again, whole, when what it skips has been written
    dwords_.clear();
    return false;
  }
  return finish(length);
}

/// Goes past `dwords` of the current buffer or ring; at a buffer's end, past the INDIRECT packet that called it.
bool SdmaQueue::finish(uint64_t dwords) {
  constexpr uint64_t kIndirectDwords = sdma::Indirect::kDwords;
  dwords_.clear();
  if (buffer_) {
    buffer_->at += dwords;
    if (buffer_->at < buffer_->call.dwords) return true;
    buffer_.reset();
    dwords = kIndirectDwords;
  }
  read_ += dwords * 4;
  return publish(read_);
}

bool SdmaQueue::publish(uint64_t position) {
  const auto stored = gpu_.memory.store<uint64_t>(params_.read_ptr_va, position);
  if (!stored) report_fault(stored.error());
  return stored.has_value();
}

}  // namespace vgpu
