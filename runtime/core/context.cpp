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
      epoch(device.epoch()),
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

Result<HwQueue*> DeviceContext::add_queue(int priority) {
  if (auto prepared = prepare_first_queue(); !prepared) return std::unexpected(prepared.error());
  size_t number = 0;
  while (number < kMaxQueues && by_number_[number]) ++number;
  if (number == kMaxQueues)
    return fail(ErrorCode::kOutOfResources, "create hardware queue", "a GPU has 256 queues at most");
  auto queue = HwQueue::create(device_, signals_, kQueuePriority[1 - priority]);
  if (!queue) return std::unexpected(queue.error());
  (*queue)->number_above_index = uint64_t{number} << HwQueue::kIndexBits;
  by_number_[number] = queue->get();
  return class_of(priority).emplace_back(std::move(*queue)).get();
}

/// The class's queue with the fewest streams, of those that hold nobody up; a new one rather than a shared one while
/// there may be more. Counts the new stream. Needs the lock.
Result<HwQueue*> DeviceContext::pick_queue(int priority) {
  QueueClass& queues = class_of(priority);
  const size_t limit = environment().max_hw_queues;
  const auto fewer = [](const auto& a, const auto& b) { return a->streams < b->streams; };
  HwQueue* best = nullptr;
  size_t shared = 0;
  for (const auto& queue : queues) {
    const uint64_t tail = queue->aql().write_index();
    if (queue->waits && queue->streams == 0 && (tail == 0 || queue->complete(tail - 1))) queue->waits = false;
    if (queue->waits) continue;
    ++shared;
    if (best == nullptr || queue->streams < best->streams) best = queue.get();
  }
  if (best == nullptr || (best->streams > 0 && shared < limit && queues.size() < 2 * limit)) {
    auto queue = queues.size() < 2 * limit ? add_queue(priority) : Result<HwQueue*>(nullptr);
    // Streams can share what there is when the GPU has no queue left.
    if (!queue && (queues.empty() || queue.error().code != ErrorCode::kOutOfResources)) return queue;
    if (queue && *queue) best = *queue;
    if (best == nullptr) best = std::min_element(queues.begin(), queues.end(), fewer)->get();
  }
  ++best->streams;
  return best;
}

HwQueue& DeviceContext::queue_for_wait(HwQueue& here, int priority) {
  std::lock_guard lock(mutex_);
  if (here.streams <= 1) here.waits = true;
  if (here.waits) return here;
  QueueClass& queues = class_of(priority);
  HwQueue* best = nullptr;
  for (const auto& queue : queues)
    if ((queue->waits || queue->streams == 0) && (best == nullptr || queue->streams < best->streams))
      best = queue.get();
  if ((best == nullptr || best->streams > 0) && queues.size() < 2 * size_t{environment().max_hw_queues})
    if (auto added = add_queue(priority)) best = *added;
  if (best == nullptr) return here;
  best->waits = true;
  ++best->streams;
  --here.streams;
  return *best;
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
  if (Stream* null = null_stream_if_made()) return null;
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
  const std::lock_guard moves(stream.wait_mutex);
  const Stream::Tail tail = stream.tail();
  std::lock_guard lock(mutex_);
  HwQueue& queue = *tail.queue;
  if (std::erase(blocking_, &stream) && tail.end && !queue.complete(tail.end - 1))
    orphans_.push_back({&queue, tail.end - 1});
  --queue.streams;
  retired_.push_back(&stream);
}

Result<DeviceContext::BlockingTails> DeviceContext::collect_blocking_tails(const HwQueue& own) {
  std::vector<Stream::Tail> tails;
  {
    std::lock_guard lock(mutex_);
    for (const Stream* stream : blocking_) tails.push_back(stream->tail());
    std::erase_if(orphans_, [](const Orphan& orphan) { return orphan.queue->complete(orphan.index); });
    for (const Orphan& orphan : orphans_) tails.push_back({orphan.queue, orphan.index + 1});
  }
  BlockingTails out;
  for (const Stream::Tail& tail : tails) {
    if (tail.end == 0) continue;
    if (tail.queue == &own) {
      out.own_tail = std::max(out.own_tail, tail.end);
      continue;
    }
    auto signal = tail.queue->marker(tail.end - 1);
    if (!signal) return std::unexpected(signal.error());
    if (*signal) out.signals.push_back(std::move(*signal));
  }
  return out;
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
