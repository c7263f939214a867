#include "runtime/core/copy_engine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "codeobj/target.h"
#include "pm4/pm4.h"
#include "pm4/sdma.h"

namespace barehip::runtime {
namespace {

namespace sdma = pm4::sdma;

constexpr std::chrono::microseconds kRingNap{50};
constexpr uint8_t kMtypeUncached = 3;

constexpr uint32_t rotate_pattern(uint32_t pattern, uint64_t bytes) {
  const unsigned shift = static_cast<unsigned>(bytes % 4) * 8;
  return shift ? (pattern >> shift) | (pattern << (32 - shift)) : pattern;
}

}  // namespace

Result<std::unique_ptr<CopyEngine>> CopyEngine::create(Device& device, int engine) {
  const codeobj::Target* target = codeobj::find_target(device.properties().gfx);
  const pm4::PacketCaps* caps = target ? pm4::find_packet_caps(target->gfx_target_version) : nullptr;
  if (caps == nullptr)
    return fail(ErrorCode::kNotSupported, "create copy engine",
                "barehip has no table of copy packets for " + device.properties().gfx);
  auto queue = SdmaQueue::create(device, {.engine = engine});
  if (!queue) return std::unexpected(queue.error());
  return std::unique_ptr<CopyEngine>(new CopyEngine(std::move(*queue), *caps));
}

Result<void*> CopyEngine::room(uint32_t bytes) {
  while (true) {
    if (void* place = queue_->try_reserve(bytes)) return place;
    queue_->publish();
    if (const Error* error = queue_->error()) return std::unexpected(*error);
    if (!last_ || last_.done()) {  // only packets of this very transfer are in the ring
      std::this_thread::sleep_for(kRingNap);
      continue;
    }
    auto seen = last_->wait(WaitCondition::kLess, 1, &queue_->device());
    if (!seen) return std::unexpected(seen.error());
  }
}

template <class Packet>
Result<void> CopyEngine::emit(const Packet& packet) {
  auto place = room(Packet::kDwords * 4);
  if (!place) return std::unexpected(place.error());
  auto dwords = sdma::encode(packet, caps_.caps, {static_cast<uint32_t*>(*place), Packet::kDwords});
  if (!dwords) return std::unexpected(dwords.error());
  return {};
}

Result<void> CopyEngine::emit_begin(std::span<const SignalRef> after) {
  for (const SignalRef& signal : after) {
    // Signals go from 1 to 0, so the low word tells all.
    auto polled = emit(sdma::PollRegmem{.compare = sdma::Compare::kEqual,
                                        .memory = true,
                                        .address = signal->value_address(),
                                        .value = 0,
                                        .mask = 0xffffffff,
                                        .interval = 4,
                                        .retry = sdma::kRetryForever});
    if (!polled) return polled;
  }
  if (auto flushed = emit(sdma::hdp_flush()); !flushed) return flushed;
  if (!caps_.caps.has(pm4::Cap::kSdmaGcrReq)) return {};
  return emit(sdma::GcrReq{.control = pm4::gcr::kSdmaAcquire});
}

Result<void> CopyEngine::emit_copy_row(uint64_t dst, uint64_t src, uint64_t bytes) {
  while (bytes) {
    const auto now = static_cast<uint32_t>(std::min<uint64_t>(bytes, caps_.limits.sdma_max_copy_bytes));
    if (auto copied = emit(sdma::CopyLinear{.bytes = now, .src = src, .dst = dst}); !copied) return copied;
    dst += now;
    src += now;
    bytes -= now;
  }
  return {};
}

Result<void> CopyEngine::emit_fill_row(uint64_t dst, uint32_t pattern, uint64_t bytes) {
  while (bytes) {
    const bool dwords = dst % 4 == 0 && bytes >= 4;
    const uint64_t now = dwords ? std::min<uint64_t>(bytes, caps_.limits.sdma_max_fill_bytes) & ~uint64_t{3} : 1;
    const auto count = static_cast<uint32_t>(now);
    auto filled = dwords ? emit(sdma::fill_dwords(dst, pattern, count))
                         : emit(sdma::ConstFill{.unit = sdma::FillUnit::kByte, .dst = dst, .value = pattern & 0xff});
    if (!filled) return filled;
    pattern = rotate_pattern(pattern, now);
    dst += now;
    bytes -= now;
  }
  return {};
}

Result<void> CopyEngine::emit_end(const SignalRef& done) {
  if (caps_.caps.has(pm4::Cap::kSdmaGcrReq))
    if (auto written = emit(sdma::GcrReq{.control = pm4::gcr::kSdmaRelease}); !written) return written;
  // A fence and not an atomic: it needs no PCIe atomics, and nobody else writes this signal.
  const uint8_t mtype = caps_.caps.has(pm4::Cap::kSdmaMtype) ? kMtypeUncached : uint8_t{0};
  if (auto fenced = emit(sdma::Fence{.address = done->value_address(), .data = 0, .mtype = mtype}); !fenced)
    return fenced;
  if (done->mailbox() == 0) return {};
  if (auto mailed = emit(sdma::Fence{.address = done->mailbox(), .data = done->event_id(), .mtype = mtype}); !mailed)
    return mailed;
  return emit(sdma::Trap{.context = done->event_id()});
}

Result<void> CopyEngine::submit(const Transfer& transfer, std::span<const SignalRef> after, const SignalRef& done) {
  std::lock_guard lock(mutex_);
  auto result = emit_begin(after);
  for (uint64_t row = 0; row < transfer.rows && result; ++row) {
    const uint64_t dst = transfer.dst + row * transfer.dst_pitch;
    result = transfer.is_fill ? emit_fill_row(dst, transfer.pattern, transfer.row_bytes)
                              : emit_copy_row(dst, transfer.src + row * transfer.src_pitch, transfer.row_bytes);
  }
  if (result) result = emit_end(done);
  // The engine of gfx900 wants no shorter submission.
  while (result && queue_->reserved_bytes() - queue_->written_bytes() < caps_.limits.sdma_min_submit_dwords * 4)
    result = emit(sdma::Nop{});
  queue_->publish();
  last_ = done;
  return result;
}

}  // namespace barehip::runtime
