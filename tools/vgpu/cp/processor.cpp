#include "tools/vgpu/cp/processor.h"

#include <algorithm>
#include <thread>

#include "tools/vgpu/cp/aql_queue.h"
#include "tools/vgpu/cp/pm4_queue.h"
#include "tools/vgpu/cp/sdma_queue.h"

namespace vgpu {
namespace {

constexpr uint32_t kSliceSteps = 64;           // steps that a set of queues stays on hardware when there are more
constexpr uint64_t kInstructionBudget = 8192;  // wave instructions a step
constexpr uint64_t kEvictOneIn = 50;           // hostile evict_user_pages: steps with work between two evictions
constexpr uint64_t kLongestAway = 100;         // and the steps that one lasts

bool is_compute(QueueType type) { return type == QueueType::kAql || type == QueueType::kPm4Compute; }

std::unique_ptr<HwQueue> make_queue(GpuContext& gpu, const QueueParams& params) {
  switch (params.type) {
    case QueueType::kAql: return std::make_unique<AqlQueue>(gpu, params);
    case QueueType::kPm4Compute: return std::make_unique<Pm4Queue>(gpu, params);
    default: return std::make_unique<SdmaQueue>(gpu, params);
  }
}

}  // namespace

class Processor::Managing {
 public:
  explicit Managing(Processor& processor) : processor_(processor) {
    processor_.managers_.fetch_add(1);
    processor_.mutex_.lock();
  }
  ~Managing() {
    processor_.managers_.fetch_sub(1);
    processor_.mutex_.unlock();
  }
  Managing(const Managing&) = delete;
  Managing& operator=(const Managing&) = delete;

 private:
  Processor& processor_;
};

std::unique_ptr<CommandProcessor> CommandProcessor::create(const GpuConfig& config, AddressSpace& memory,
                                                           InterruptSink& sink, const EngineFactory& engine) {
  const auto* target = barehip::codeobj::find_target(config.gfx);
  const auto* packets = target ? barehip::pm4::find_packet_caps(target->gfx_target_version) : nullptr;
  if (!packets) return nullptr;
  return std::make_unique<Processor>(config, *target, packets->caps, memory, sink, engine);
}

Processor::Processor(const GpuConfig& config, const barehip::codeobj::Target& target, barehip::pm4::CapSet caps,
                     AddressSpace& memory, InterruptSink& sink, const EngineFactory& engine)
    : cache_model_(CacheModel::create(config, memory)),
      gpu_{.config = config,
           .target = target,
           .caps = caps,
           .sink = sink,
           .memory = GpuMemory(memory),
           .caches = cache_model_.get(),
           .random = Random(config.seed)},
      engine_(engine(config, memory, *this)) {
  gpu_.engine = engine_.get();
}

HwQueue* Processor::find(uint32_t queue_id) {
  const auto it = std::ranges::find_if(queues_, [=](const auto& q) { return q->params().queue_id == queue_id; });
  return it == queues_.end() ? nullptr : it->get();
}

// ---- management ---------------------------------------------------------------------------------------------

/// What the driver's scheduler does whenever its list of queues changes: all queues leave the hardware and come back.
void Processor::remap_all(bool doorbells_lost) {
  for (const auto& queue : queues_) queue->unmap();
  map_chosen(doorbells_lost);
  fruitless_ = 0;
}

/// Puts on the hardware what belongs there: SDMA queues have slots of their own, compute queues share the slots.
void Processor::map_chosen(bool doorbells_lost) {
  std::vector<HwQueue*> compute;
  std::vector<HwQueue*> chosen;
  for (const auto& queue : queues_) {
    if (is_compute(queue->params().type))
      compute.push_back(queue.get());
    else if (queue->active())
      chosen.push_back(queue.get());
  }
  size_t slots = gpu_.config.compute_slots;
  for (size_t n = 0; n < compute.size() && slots > 0; ++n) {
    HwQueue* queue = compute[(first_mapped_ + n) % compute.size()];
    if (!queue->active()) continue;
    chosen.push_back(queue);
    --slots;
  }
  for (const auto& queue : queues_) {
    if (std::ranges::find(chosen, queue.get()) == chosen.end()) queue->unmap();
  }
  for (HwQueue* queue : chosen) {
    if (!queue->on_hardware()) queue->map(doorbells_lost);
  }
}

void Processor::add_queue(const QueueParams& params) {
  const Managing lock(*this);
  queues_.push_back(make_queue(gpu_, params));
  remap_all(gpu_.config.hostile.drop_doorbells);
}

void Processor::update_queue(uint32_t queue_id, uint64_t ring_va, uint32_t ring_bytes, uint32_t percentage,
                             uint32_t priority) {
  const Managing lock(*this);
  HwQueue* queue = find(queue_id);
  if (!queue) return;
  queue->unmap();
  queue->update(ring_va, ring_bytes, percentage, priority);
  remap_all(gpu_.config.hostile.drop_doorbells);
}

void Processor::remove_queue(uint32_t queue_id) {
  const Managing lock(*this);
  const auto it = std::ranges::find_if(queues_, [=](const auto& q) { return q->params().queue_id == queue_id; });
  if (it == queues_.end()) return;
  (*it)->drop_waves();
  queues_.erase(it);
  remap_all(gpu_.config.hostile.drop_doorbells);
}

void Processor::set_cu_mask(uint32_t queue_id, const CuMask& cus) {
  const Managing lock(*this);
  HwQueue* queue = find(queue_id);
  if (!queue) return;
  queue->set_cus(cus);
  remap_all(gpu_.config.hostile.drop_doorbells);
}

std::optional<SavedWaves> Processor::saved_waves(uint32_t queue_id) {
  const Managing lock(*this);
  const HwQueue* queue = find(queue_id);
  if (!queue || queue->on_hardware()) return std::nullopt;
  return queue->saved();
}

void Processor::evict_all() {
  const Managing lock(*this);
  for (const auto& queue : queues_) {
    queue->halt();
    queue->drop_waves();
  }
}

void Processor::set_trap_handler(uint64_t tba, uint64_t tma) {
  const Managing lock(*this);
  gpu_.trap_tba = tba;
  gpu_.trap_tma = tma;
}

void Processor::set_runtime_enabled(bool enabled) {
  const Managing lock(*this);
  gpu_.runtime_enabled = enabled;
}

// ---- running ------------------------------------------------------------------------------------------------

bool Processor::step() {
  while (managers_.load() != 0) std::this_thread::yield();
  std::vector<Outbox::Report> reports;
  bool progress = false;
  {
    const std::lock_guard lock(mutex_);
    progress = step_locked();
    reports = gpu_.outbox.take();
  }
  for (const auto& report : reports) report(gpu_.sink);
  return progress || !reports.empty();
}

bool Processor::step_locked() {
  if (evicted_steps()) return true;
  bool progress = false;
  for (HwQueue* queue : served()) {
    progress |= queue->step();
    if (queue->halted()) queue->drop_waves();
  }
  progress |= engine_->step(kInstructionBudget);
  // Wave errors halt their queue from inside the engine, where nothing can be killed.
  for (const auto& queue : queues_) {
    if (queue->halted()) queue->drop_waves();
  }
  if (progress) fruitless_ = 0;
  const bool more = rotate();
  must_poll_.store(std::ranges::any_of(queues_, [](const auto& q) { return q->active() && q->waiting(); }),
                   std::memory_order_relaxed);
  return progress || more;
}

/// Hostile evict_user_pages: now and then the driver takes all queues off the hardware because user memory moves. Waves
/// stand still; a doorbell that rings meanwhile is seen by nobody, the write indices in memory are. True while away.
bool Processor::evicted_steps() {
  if (!gpu_.config.hostile.evict_user_pages) return false;
  const bool working = must_poll_.load(std::memory_order_relaxed);
  if (away_ == 0 && working && gpu_.random.one_in(kEvictOneIn)) away_ = 1 + gpu_.random.below(kLongestAway);
  if (away_ == 0) return false;
  if (--away_ == 0) remap_all(true);
  return true;
}

/// The queues that are on the hardware, in the order in which they are served: priority, then in turn.
std::vector<HwQueue*> Processor::served() {
  std::vector<HwQueue*> mapped;
  for (const auto& queue : queues_) {
    if (queue->on_hardware() && queue->active()) mapped.push_back(queue.get());
  }
  std::vector<HwQueue*> order;
  const size_t first = mapped.empty() ? 0 : ++turn_ % mapped.size();
  for (size_t n = 0; n < mapped.size(); ++n) {
    HwQueue* queue = mapped[(first + n) % mapped.size()];
    const auto lower = std::ranges::find_if(
        order, [queue](const HwQueue* other) { return other->params().priority < queue->params().priority; });
    order.insert(lower, queue);
  }
  return order;
}

size_t Processor::active_compute_queues() const {
  return static_cast<size_t>(
      std::ranges::count_if(queues_, [](const auto& q) { return is_compute(q->params().type) && q->active(); }));
}

/// With more active compute queues than slots, the next set is mapped when a slice ended or nothing moved. True while
/// queues remain that were not on hardware since anything last moved.
bool Processor::rotate() {
  const size_t slots = gpu_.config.compute_slots;
  const size_t active = active_compute_queues();
  if (active <= slots) return false;
  fruitless_ += slots;
  if (fruitless_ <= slots && ++slice_steps_ < kSliceSteps) return true;
  slice_steps_ = 0;
  first_mapped_ += slots;
  map_chosen(gpu_.config.hostile.drop_doorbells);
  return fruitless_ < active + slots;
}

// ---- what the shader cores tell -----------------------------------------------------------------------------

void Processor::on_wave_error(const Dispatch& dispatch, const WaveError& error) {
  if (HwQueue* queue = find(dispatch.queue_id)) queue->on_wave_error(dispatch, error);
  gpu_.outbox.post([dispatch, error](InterruptSink& sink) {
    sink.on_wave_error(dispatch.queue_id, dispatch, error);
    if (error.kind == WaveError::Kind::kMemoryFault) sink.on_memory_fault(dispatch.queue_id, error.fault, &error);
  });
}

void Processor::on_shader_interrupt(const Dispatch& dispatch, uint32_t data, bool priv) {
  gpu_.outbox.post([doorbell = dispatch.doorbell_id, data, priv](InterruptSink& sink) {
    sink.on_sq_interrupt(doorbell, data, priv);
  });
}

}  // namespace vgpu
