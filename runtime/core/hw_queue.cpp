#include "runtime/core/hw_queue.h"

#include <algorithm>
#include <cstring>

#include "pm4/pm4.h"
#include "runtime/core/fences.h"

namespace barehip::runtime {
namespace {

/// Copies everything behind the first dword, which publish() stores last.
void fill_body(void* slot, const void* packet) {
  std::memcpy(static_cast<uint8_t*>(slot) + 4, static_cast<const uint8_t*>(packet) + 4, aql::kPacketBytes - 4);
}

}  // namespace

HwQueue::HwQueue(std::unique_ptr<AqlQueue> aql, Memory kernarg, Signal epoch, SignalCache& signals)
    : signals_(signals),
      epoch_(std::move(epoch)),
      kernarg_memory_(std::move(kernarg)),
      kernarg_(kernarg_memory_.host_as<uint8_t>()),
      ring_(static_cast<uint8_t*>(aql->slot(0))),
      write_index_(&aql->write_dispatch_id()),
      doorbell_(&aql->doorbell()),
      descriptor_(aql->descriptor()),
      aql_(std::move(aql)) {}

Result<std::unique_ptr<HwQueue>> HwQueue::create(Device& device, SignalCache& signals, QueuePriority priority) {
  auto kernarg = Memory::allocate(device, uint64_t{kPackets} * kKernargSlotBytes, {.kind = MemoryKind::kHostUncached});
  if (!kernarg) return std::unexpected(kernarg.error());
  auto epoch = device.system().signals().acquire(0);
  if (!epoch) return std::unexpected(epoch.error());
  auto aql = AqlQueue::create(device, {.packets = kPackets, .priority = priority, .profiling = true});
  if (!aql) return std::unexpected(aql.error());
  return std::unique_ptr<HwQueue>(new HwQueue(std::move(*aql), std::move(*kernarg), std::move(*epoch), signals));
}

Result<void> HwQueue::allocate_big_kernarg() {
  std::lock_guard lock(mutex_);
  if (big_kernarg_memory_) return {};
  auto memory = Memory::allocate(device(), uint64_t{kPackets} * kBigKernargBytes, {.kind = MemoryKind::kHostUncached});
  if (!memory) return std::unexpected(memory.error());
  big_kernarg_memory_ = std::move(*memory);
  big_kernarg_.store(big_kernarg_memory_.host_as<uint8_t>(), std::memory_order_release);
  return {};
}

// ---- progress ----------------------------------------------------------------------------------------------------

void HwQueue::raise_floor(uint64_t floor) {
  uint64_t seen = floor_.load(std::memory_order_relaxed);
  while (seen < floor && !floor_.compare_exchange_weak(seen, floor, std::memory_order_acq_rel)) {
  }
}

void HwQueue::refresh_floor() { raise_floor(static_cast<uint64_t>(-epoch_.load()) * kQuarter); }

bool HwQueue::complete(uint64_t index) {
  if (index < floor_.load(std::memory_order_acquire)) return true;
  refresh_floor();
  std::lock_guard lock(mutex_);
  drain_uses();
  return index < floor_.load(std::memory_order_relaxed);
}

/// Drops the references of packets that are complete. Needs the lock.
void HwQueue::drain_uses() {
  if (last_marker_.signal && last_marker_.signal.done()) raise_floor(last_marker_.index + 1);
  while (!uses_.empty()) {
    const Use& use = uses_.front();
    if (use.index >= floor_.load(std::memory_order_relaxed)) {
      if (!use.completes || !use.signal.done()) return;
      raise_floor(use.index + 1);
    }
    uses_.pop_front();
  }
}

// ---- reserving -----------------------------------------------------------------------------------------------------

Result<void> HwQueue::await_room(uint64_t index) {
  refresh_floor();
  if (index - floor_.load(std::memory_order_acquire) < kPackets) return {};
  const auto quarters = static_cast<int64_t>((index - kPackets) / kQuarter + 1);
  auto seen = epoch_.wait(WaitCondition::kLess, 1 - quarters, &device());
  if (!seen) return std::unexpected(seen.error());
  refresh_floor();
  return {};
}

void HwQueue::publish_nothing(uint64_t index) {
  constexpr aql::BarrierPacket kNothing{};
  fill_body(slot(index), &kNothing);
  publish(index, aql::make_first_dword(g_fences.barrier, 0));
}

void HwQueue::publish_quarter_marker(uint64_t index) {
  aql::BarrierPacket packet{};
  packet.completion_signal = epoch_.handle();
  fill_body(slot(index), &packet);
  publish(index, aql::make_first_dword(g_fences.quarter_marker, 0));
}

void HwQueue::raise_quick_end(uint64_t index) {
  const uint64_t next_marker = index | (kQuarter - 1);
  const uint64_t end = std::min(next_marker, floor_.load(std::memory_order_acquire) + kPackets);
  uint64_t seen = quick_end_.load(std::memory_order_relaxed);
  while (seen < end && !quick_end_.compare_exchange_weak(seen, end, std::memory_order_acq_rel)) {
  }
}

Result<uint64_t> HwQueue::reserve() {
  uint64_t index = 0;
  if (try_reserve(index)) return index;
  while (true) {
    index = aql_->reserve();
    if (auto room = await_room(index); !room) return std::unexpected(room.error());
    if ((index & (kQuarter - 1)) == kQuarter - 1) {
      publish_quarter_marker(index);
      continue;
    }
    raise_quick_end(index);
    return index;
  }
}

// ---- markers and barriers -----------------------------------------------------------------------------------------

Result<HwQueue::Marker> HwQueue::submit_marker() {
  drain_uses();
  auto signal = signals_.take();
  if (!signal) return std::unexpected(signal.error());
  auto index = reserve();
  if (!index) return std::unexpected(index.error());
  aql::BarrierPacket packet{};
  packet.completion_signal = (*signal)->handle();
  uses_.push_back({*index, true, *signal});
  fill_body(slot(*index), &packet);
  publish(*index, aql::make_first_dword(g_fences.marker, 0));
  last_marker_ = {*index, *signal};
  return last_marker_;
}

Result<SignalRef> HwQueue::marker(uint64_t index) {
  if (complete(index)) return SignalRef{};
  std::lock_guard lock(mutex_);
  if (last_marker_.signal && last_marker_.index >= index) return last_marker_.signal;
  auto marker = submit_marker();
  if (!marker) return std::unexpected(marker.error());
  return marker->signal;
}

Result<HwQueue::Marker> HwQueue::record() {
  std::lock_guard lock(mutex_);
  return submit_marker();
}

Result<uint64_t> HwQueue::submit_barrier(std::span<const SignalRef> signals) {
  auto index = reserve();
  if (!index) return std::unexpected(index.error());
  aql::BarrierPacket packet{};
  for (size_t i = 0; i < signals.size(); ++i) {
    packet.dep_signal[i] = signals[i]->handle();
    uses_.push_back({*index, false, signals[i]});
  }
  fill_body(slot(*index), &packet);
  publish(*index, aql::make_first_dword(g_fences.barrier, 0));
  return *index;
}

Result<uint64_t> HwQueue::wait_for(std::span<const SignalRef> signals, std::span<const SignalRef> keep) {
  constexpr size_t kPerPacket = std::size(aql::BarrierPacket{}.dep_signal);
  std::lock_guard lock(mutex_);
  drain_uses();
  Result<uint64_t> last = 0;
  for (size_t i = 0; i < signals.size() && last; i += kPerPacket)
    last = submit_barrier(signals.subspan(i, std::min(kPerPacket, signals.size() - i)));
  if (last)
    for (const SignalRef& signal : keep) uses_.push_back({*last, false, signal});
  return last;
}

Result<uint64_t> HwQueue::run_pm4(uint64_t address, uint32_t dwords) {
  aql::VendorPm4IbPacket packet{};
  auto encoded = pm4::encode(pm4::IndirectBuffer{.address = address, .count = dwords}, {}, packet.indirect_buffer);
  if (!encoded) return std::unexpected(encoded.error());
  auto index = reserve();
  if (!index) return index;
  packet.dwords_remaining = aql::kPm4IbDwordsRemaining;
  fill_body(slot(*index), &packet);
  publish(*index, aql::make_first_dword(g_fences.code_invalidation, static_cast<uint16_t>(aql::VendorFormat::kPm4Ib)));
  return index;
}

Result<void> HwQueue::wait(uint64_t index) {
  auto signal = marker(index);
  if (!signal) return std::unexpected(signal.error());
  if (*signal) {
    auto seen = (**signal).wait(WaitCondition::kLess, 1, &device());
    if (!seen) return std::unexpected(seen.error());
  }
  if (const Error* error = device().error()) return std::unexpected(*error);
  return {};
}

}  // namespace barehip::runtime
