#include "tools/vgpu/cp/signal.h"

#include <barehip/aql.h>

#include <cstddef>

namespace vgpu {
namespace {

using barehip::aql::AmdSignal;

struct Wake {
  uint64_t mailbox = 0;
  uint32_t event_id = 0;
};

// Read before the value changes: a spinning owner may free the signal as soon as it sees the new value.
MemResult<Wake> read_wake(GpuContext& gpu, uint64_t va) {
  const auto mailbox = gpu.memory.load<uint64_t>(va + offsetof(AmdSignal, event_mailbox_ptr));
  if (!mailbox) return std::unexpected(mailbox.error());
  const auto event_id = gpu.memory.load<uint32_t>(va + offsetof(AmdSignal, event_id));
  if (!event_id) return std::unexpected(event_id.error());
  return Wake{*mailbox, *event_id};
}

MemResult<void> deliver(GpuContext& gpu, const Wake& wake) {
  if (wake.mailbox == 0) return {};
  if (auto stored = gpu.memory.store<uint64_t>(wake.mailbox, wake.event_id); !stored) return stored;
  gpu.outbox.post([id = wake.event_id](InterruptSink& sink) { sink.on_eop_interrupt(id); });
  return {};
}

}  // namespace

MemResult<void> write_timestamps(GpuContext& gpu, uint64_t va, uint64_t start, uint64_t end) {
  if (auto done = gpu.memory.store<uint64_t>(va + offsetof(AmdSignal, start_ts), start); !done) return done;
  return gpu.memory.store<uint64_t>(va + offsetof(AmdSignal, end_ts), end);
}

MemResult<void> decrement_signal(GpuContext& gpu, uint64_t va) {
  const auto wake = read_wake(gpu, va);
  if (!wake) return std::unexpected(wake.error());
  const auto old = gpu.memory.update64(va + offsetof(AmdSignal, value), [](uint64_t value) { return value - 1; });
  if (!old) return std::unexpected(old.error());
  return deliver(gpu, *wake);
}

MemResult<void> store_signal(GpuContext& gpu, uint64_t va, int64_t value) {
  const auto wake = read_wake(gpu, va);
  if (!wake) return std::unexpected(wake.error());
  if (auto done = gpu.memory.store<int64_t>(va + offsetof(AmdSignal, value), value); !done) return done;
  return deliver(gpu, *wake);
}

MemResult<int64_t> load_signal(GpuContext& gpu, uint64_t va) {
  return gpu.memory.load<int64_t>(va + offsetof(AmdSignal, value));
}

}  // namespace vgpu
