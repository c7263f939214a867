#include "runtime/core/context.h"

#include <algorithm>

#include "pm4/caps.h"
#include "pm4/pm4.h"
#include "runtime/core/copy_engine.h"
#include "runtime/core/environment.h"
#include "runtime/core/fences.h"
#include "runtime/core/hw_queue.h"
#include "runtime/core/log.h"
#include "runtime/core/properties.h"
#include "runtime/core/staging.h"
#include "runtime/core/stream_impl.h"
#include "runtime/gpu/trap_handler.h"

namespace barehip::runtime {
namespace {

codeobj::TargetId target_of(const GpuProperties& gpu) {
  codeobj::TargetId id{.processor = gpu.gfx};
  const codeobj::Target* target = codeobj::find_target(gpu.gfx);
  if (target && target->xnack) id.xnack = gpu.xnack ? codeobj::Feature::kOn : codeobj::Feature::kOff;
  if (target && target->sramecc) id.sramecc = gpu.sram_ecc ? codeobj::Feature::kOn : codeobj::Feature::kOff;
  return id;
}

/// Streams of HIP priority 1, 0, -1 share queues of these priorities.
constexpr QueuePriority kQueuePriority[] = {QueuePriority::kLow, QueuePriority::kNormal, QueuePriority::kHigh};

}  // namespace

DeviceContext::DeviceContext(Device& device, int ordinal, SignalCache& signals)
    : launch_blocking(environment().launch_blocking),
      device_(device),
      ordinal_(ordinal),
      signals_(signals),
      properties_(make_properties(device.properties())),
      target_(target_of(device.properties())) {}

DeviceContext::~DeviceContext() = default;

// ---- queues ------------------------------------------------------------------------------------------------------

/// What must be there before the first queue: the trap handler. And the commands for code loads.
Result<void> DeviceContext::prepare_first_queue() {
  if (prepared_) return {};
  auto handler = gpu::load_trap_handler(device_);
  if (!handler) return std::unexpected(handler.error());
  trap_handler_ = std::move(*handler);
  auto commands = gpu::make_code_invalidation(device_);
  if (!commands) return std::unexpected(commands.error());
  invalidate_commands_ = std::move(commands->memory);
  invalidate_dwords_ = commands->dwords;
  prepared_ = true;
  return {};
}

/// The class's queue with the fewest streams; a new one rather than a shared one while there may be more. Counts the
/// new stream. Needs the lock.
Result<HwQueue*> DeviceContext::pick_queue(int priority) {
  const auto row = static_cast<size_t>(1 - priority);
  auto& queues = queues_[row];
  const auto fewest = std::min_element(queues.begin(), queues.end(),
                                       [](const auto& a, const auto& b) { return a->streams < b->streams; });
  HwQueue* best = fewest == queues.end() ? nullptr : fewest->get();
  if (best == nullptr || (best->streams > 0 && queues.size() < environment().max_hw_queues)) {
    if (auto prepared = prepare_first_queue(); !prepared) return std::unexpected(prepared.error());
    auto queue = HwQueue::create(device_, signals_, kQueuePriority[row]);
    // Streams can share what there is when the GPU has no queue left.
    if (!queue && (best == nullptr || queue.error().code != ErrorCode::kOutOfResources))
      return std::unexpected(queue.error());
    if (queue) best = queues.emplace_back(std::move(*queue)).get();
  }
  ++best->streams;
  return best;
}

Result<void> DeviceContext::invalidate_code(HwQueue& queue) {
  const uint64_t epoch = code_epoch.load(std::memory_order_acquire);
  if (queue.code_epoch.load(std::memory_order_relaxed) == epoch || !g_fences.invalidate_code) return {};
  auto index = queue.run_pm4(invalidate_commands_.gpu_address(), invalidate_dwords_);
  if (!index) return std::unexpected(index.error());
  queue.code_epoch.store(epoch, std::memory_order_relaxed);
  return {};
}

std::vector<HwQueue*> DeviceContext::all_queues() {
  std::vector<HwQueue*> queues;
  std::lock_guard lock(mutex_);
  for (const auto& row : queues_)
    for (const auto& queue : row) queues.push_back(queue.get());
  return queues;
}

bool DeviceContext::idle() {
  for (HwQueue* queue : all_queues()) {
    const uint64_t tail = queue->aql().write_index();
    if (tail != 0 && !queue->complete(tail - 1)) return false;
  }
  return true;
}

Result<void> DeviceContext::synchronize() {
  if (auto healthy = check(); !healthy) return healthy;
  std::vector<std::pair<HwQueue*, SignalRef>> markers;
  for (HwQueue* queue : all_queues()) {
    const uint64_t tail = queue->aql().write_index();
    if (tail == 0) continue;
    auto signal = queue->marker(tail - 1);
    if (!signal) return std::unexpected(signal.error());
    if (*signal) markers.emplace_back(queue, std::move(*signal));
  }
  for (const auto& [queue, signal] : markers) {
    auto seen = signal->wait(WaitCondition::kLess, 1, &device_);
    if (!seen) return std::unexpected(seen.error());
  }
  return check();
}

// ---- streams -----------------------------------------------------------------------------------------------------

Result<Stream*> DeviceContext::null_stream() {
  std::lock_guard lock(mutex_);
  if (Stream* null = null_.load(std::memory_order_relaxed)) return null;
  auto queue = pick_queue(0);
  if (!queue) return std::unexpected(queue.error());
  streams_.push_back(std::make_unique<Stream>(*this, **queue, Stream::Kind::kNull, 0));
  null_.store(streams_.back().get(), std::memory_order_release);
  return streams_.back().get();
}

Result<Stream*> DeviceContext::make_stream(bool non_blocking, int priority) {
  const auto kind = non_blocking ? Stream::Kind::kNonBlocking : Stream::Kind::kBlocking;
  std::lock_guard lock(mutex_);
  auto queue = pick_queue(priority);
  if (!queue) return std::unexpected(queue.error());
  Stream* stream = nullptr;
  if (retired_.empty()) {
    streams_.push_back(std::make_unique<Stream>(*this, **queue, kind, priority));
    stream = streams_.back().get();
  } else {
    stream = retired_.back();
    retired_.pop_back();
    stream->reuse(**queue, kind, priority);
  }
  if (!non_blocking) blocking_.push_back(stream);
  return stream;
}

void DeviceContext::retire_stream(Stream& stream) {
  std::lock_guard lock(mutex_);
  std::erase(blocking_, &stream);
  --stream.queue().streams;
  retired_.push_back(&stream);
}

Result<void> DeviceContext::collect_blocking_tails(const HwQueue& except, std::vector<SignalRef>& out) {
  std::vector<Stream*> streams;
  {
    std::lock_guard lock(mutex_);
    streams = blocking_;
  }
  for (Stream* stream : streams) {
    if (&stream->queue() == &except) continue;
    auto signal = stream->tail_signal();
    if (!signal) return std::unexpected(signal.error());
    if (*signal) out.push_back(std::move(*signal));
  }
  return {};
}

// ---- copies ------------------------------------------------------------------------------------------------------

Result<CopyEngine*> DeviceContext::engine(CopyDirection direction) {
  const bool one_engine = device_.properties().num_sdma_engines < 2;
  const size_t which = one_engine ? 0 : static_cast<size_t>(direction);
  if (CopyEngine* engine = engines_[which].load(std::memory_order_acquire)) return engine;
  std::lock_guard lock(mutex_);
  if (!engine_owners_[which]) {
    if (auto prepared = prepare_first_queue(); !prepared) return std::unexpected(prepared.error());
    auto engine = CopyEngine::create(device_, static_cast<int>(which));
    if (!engine) return std::unexpected(engine.error());
    engine_owners_[which] = std::move(*engine);
    engines_[which].store(engine_owners_[which].get(), std::memory_order_release);
  }
  return engine_owners_[which].get();
}

Result<Staging*> DeviceContext::staging() {
  if (Staging* staging = staging_.load(std::memory_order_acquire)) return staging;
  std::lock_guard lock(mutex_);
  if (!staging_owner_) {
    auto made = Staging::create(device_);
    if (!made) return std::unexpected(made.error());
    staging_owner_ = std::move(*made);
    staging_.store(staging_owner_.get(), std::memory_order_release);
  }
  return staging_owner_.get();
}

}  // namespace barehip::runtime
