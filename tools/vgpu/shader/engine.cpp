#include "tools/vgpu/shader/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>
#include <unordered_map>

#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/shader/code_cache.h"
#include "tools/vgpu/shader/gpr_index.h"
#include "tools/vgpu/shader/launch.h"
#include "tools/vgpu/shader/memory_port.h"
#include "tools/vgpu/shader/residency.h"
#include "tools/vgpu/shader/scheduler.h"
#include "tools/vgpu/shader/trap.h"

namespace vgpu {
namespace {

class Engine final : public ShaderEngine, public WaveHost {
 public:
  Engine(const GpuConfig& config, const ShaderTarget& target, AddressSpace& memory, ShaderSink& sink)
      : config_(config),
        target_(target),
        memory_(memory),
        sink_(sink),
        port_(memory, sink.caches(), !config.hostile.no_pcie_atomics),
        code32_(*find_isa_target(config.gfx), true, port_),
        code64_(*find_isa_target(config.gfx), false, port_),
        residency_(config_, target),
        scheduler_(config.seed) {}

  DispatchId start(const Dispatch& dispatch) override;
  bool step(uint64_t budget) override;
  bool finished(DispatchId id) const override { return !dispatches_.contains(id); }
  void kill(DispatchId id) override;
  void suspend(DispatchId id) override;
  void resume(DispatchId id) override;
  uint32_t save(DispatchId id, std::vector<std::byte>& out) const override;
  void invalidate_l1(bool instruction, bool, bool) override {
    if (instruction) invalidate_code();
  }

  const GpuConfig& config() const override { return config_; }
  void invalidate_instructions() override { code_stale_ = true; }

  void interrupt(const Wave& wave, uint32_t data) override {
    messages_.push_back({wave.group->dispatch->dispatch, data, wave.priv});
  }
  uint64_t gpu_clock() override { return sink_.gpu_clock(); }
  uint64_t cycles() override { return instructions_ * 4; }

 private:
  struct Running {
    DispatchState state;
    std::map<uint64_t, std::unique_ptr<WorkGroup>> groups;  // resident ones, by number
    size_t to_restore = 0;                                  // groups that were resumed and have no compute unit yet
  };
  struct Message {
    Dispatch dispatch;
    uint32_t data;
    bool priv;
  };

  CodeCache& code_of(const Wave& wave) { return wave.wave32 ? code32_ : code64_; }
  void invalidate_code() {
    code32_.invalidate();
    code64_.invalidate();
    code_stale_ = false;
  }
  bool launch_some();
  bool launch_next(Running& running);
  bool restore_groups(Running& running);
  Running& running_of(const Wave& wave) { return *dispatches_.at(wave.group->dispatch->id); }
  uint64_t take_turn(Wave& wave, uint64_t limit);
  uint64_t execute(Wave& wave, uint64_t limit);
  template <bool kIndexed>
  uint64_t execute(Wave& wave, uint64_t limit);
  void settle(Wave& wave);
  void fault(Wave& wave);
  void report(DispatchState& state, const WaveError& error);
  void wave_gone(Wave& wave);
  void release_barrier(WorkGroup& group);
  void noise_in_scratch(const WorkGroup& group);
  void deliver_messages();
  void find_deadlocks();

  const GpuConfig config_;
  const ShaderTarget& target_;
  AddressSpace& memory_;
  ShaderSink& sink_;
  MemoryPort port_;
  CodeCache code32_, code64_;
  bool code_stale_ = false;  // some wave executed s_icache_inv in its turn
  Residency residency_;
  Scheduler scheduler_;
  std::unordered_map<DispatchId, std::unique_ptr<Running>> dispatches_;
  std::vector<DispatchId> order_;  // of start: older dispatches launch first
  std::vector<Message> messages_;
  std::vector<std::pair<Dispatch, WaveError>> errors_;
  static constexpr uint64_t kSleepersBeforeNap = 16;
  static constexpr std::chrono::microseconds kNap{50};

  uint64_t sleepers_ = 0;  // turns in a row that ended in s_sleep
  DispatchId last_id_ = 0;
  uint64_t instructions_ = 0;
};

ShaderEngine::DispatchId Engine::start(const Dispatch& dispatch) {
  const DispatchId id = ++last_id_;
  auto running = std::make_unique<Running>();
  running->state.dispatch = dispatch;
  running->state.id = id;
  std::string why;
  if (!prepare_dispatch(config_, target_, running->state, why) ||
      !residency_.can_ever_fit(running->state, running->state.waves_per_group, why)) {
    running->state.target = &target_;
    running->state.stopped = true;
    report(running->state, {.kind = WaveError::Kind::kUnsupported, .pc = dispatch.code_va, .text = "launch: " + why});
  }
  dispatches_.emplace(id, std::move(running));
  order_.push_back(id);
  return id;
}

bool Engine::step(uint64_t budget) {
  bool progressed = false;
  while (budget > 0) {
    if (scheduler_.fresh_empty() || scheduler_.flip()) launch_some();
    Wave* wave = scheduler_.pop();
    if (!wave) break;
    const uint64_t ran = take_turn(*wave, std::min(budget, scheduler_.turn()));
    progressed = true;
    budget -= std::min(budget, std::max<uint64_t>(ran, 1));
    deliver_messages();
    if (sleepers_ > scheduler_.size() + kSleepersBeforeNap) {
      // Every wave sleeps until someone else stores something: leave the host's processors to that someone.
      sleepers_ = 0;
      std::this_thread::sleep_for(kNap);
      break;
    }
  }
  if (scheduler_.empty()) find_deadlocks();
  deliver_messages();
  return progressed;
}

// Launches one group of the first dispatch that has one waiting and room for it.
bool Engine::launch_some() {
  for (const DispatchId id : order_) {
    Running& running = *dispatches_.at(id);
    if (running.state.stopped || running.state.suspended) continue;
    if (running.to_restore > 0 && restore_groups(running)) return true;
    if (running.state.next_group == running.state.group_total) continue;
    if (launch_next(running)) return true;
  }
  return false;
}

bool Engine::launch_next(Running& running) {
  DispatchState& state = running.state;
  auto owned = std::make_unique<WorkGroup>();
  WorkGroup& group = *owned;
  if (!residency_.acquire(state, waves_in_group(state, state.next_group), group)) return false;
  launch_group(config_, state, state.next_group, group);
  running.groups.emplace(state.next_group++, std::move(owned));
  ++state.live_groups;
  group.host = this;
  for (Wave& wave : group.waves) {
    wave.memory = &port_;
    scheduler_.push_fresh(&wave);
  }
  if (config_.hostile.noisy_state) noise_in_scratch(group);
  return true;
}

void Engine::noise_in_scratch(const WorkGroup& group) {
  const AddressSpace::ReadGuard guard(memory_);
  port_.revalidate();
  const Dispatch& d = group.dispatch->dispatch;
  for (const uint32_t slot : group.scratch_slots) {
    const uint64_t base = d.scratch_base + uint64_t{slot} * d.scratch_wave_bytes;
    MemoryFault fault;
    std::byte* bytes = port_.translate(base, d.scratch_wave_bytes, Access::kWrite, fault);
    if (!bytes) continue;  // the wave will find out by itself
    uint64_t x = config_.seed + base;
    for (uint32_t i = 0; i < d.scratch_wave_bytes; ++i) {
      x = x * 6364136223846793005ull + 1442695040888963407ull;
      bytes[i] = static_cast<std::byte>(x >> 56);
    }
  }
}

uint64_t Engine::take_turn(Wave& wave, uint64_t limit) {
  uint64_t ran = 0;
  {
    const AddressSpace::ReadGuard guard(memory_);
    if (port_.revalidate()) {
      code32_.mappings_changed();
      code64_.mappings_changed();
    }
    ran = execute(wave, limit);
  }
  if (code_stale_) invalidate_code();
  instructions_ += ran;
  if (wave.state != WaveState::kYielded) sleepers_ = 0;
  settle(wave);
  return ran;
}

uint64_t Engine::execute(Wave& wave, uint64_t limit) {
  uint64_t ran = 0;
  do {
    if (wave.state == WaveState::kReindexed) {
      wave.state = WaveState::kRunning;
      wave.pc = wave.next_pc;
    }
    ran += gpr_indexed(wave) ? execute<true>(wave, limit - ran) : execute<false>(wave, limit - ran);
  } while (wave.state == WaveState::kReindexed);
  wave.instructions += ran;
  return ran;
}

template <bool kIndexed>
uint64_t Engine::execute(Wave& wave, uint64_t limit) {
  uint64_t ran = 0;
  CodeCache& code = code_of(wave);
  CodeCache::Page* page = nullptr;
  while (ran < limit) {
    const Inst* inst = code.fetch(wave, page);
    if (!inst) break;
    wave.next_pc = wave.pc + inst->size;
    if constexpr (kIndexed)
      execute_indexed(wave, *inst);
    else
      inst->exec(wave, *inst);
    ++ran;
    if (wave.state != WaveState::kRunning) break;
    wave.pc = wave.next_pc;
  }
  return ran;
}

// What the end of a turn means for the wave, its group and the dispatch.
void Engine::settle(Wave& wave) {
  switch (wave.state) {
    case WaveState::kRunning:
    case WaveState::kReindexed: scheduler_.push_tired(&wave); break;
    case WaveState::kYielded:
      ++sleepers_;
      wave.pc = wave.next_pc;
      wave.state = WaveState::kRunning;
      scheduler_.push_tired(&wave);
      break;
    case WaveState::kBarrier:
      wave.pc = wave.next_pc;
      ++wave.group->at_barrier;
      release_barrier(*wave.group);
      break;
    case WaveState::kHalted: wave.pc = wave.next_pc; break;
    case WaveState::kFaulted: fault(wave); break;
    case WaveState::kEnded: wave_gone(wave); break;
  }
}

void Engine::fault(Wave& wave) {
  DispatchState& state = *wave.group->dispatch;
  if (wave.error.text.empty() || wave.error.kind != WaveError::Kind::kTrapWithoutHandler) {
    const std::string text = code_of(wave).text_at(wave.pc);
    if (!text.empty()) wave.error.text = wave.error.text.empty() ? text : text + ": " + wave.error.text;
  }
  const bool handled = state.dispatch.trap_tba != 0 && !wave.priv && enter_trap_for_error(wave);
  // A memory fault reaches the driver by itself, whatever the wave's trap handler does.
  const bool silent = handled && wave.error.kind != WaveError::Kind::kMemoryFault;
  if (!silent) report(state, wave.error);
  if (handled) {
    state.trapped = true;
    scheduler_.push_tired(&wave);
  } else if (wave.error.kind == WaveError::Kind::kTrapWithoutHandler) {
    state.trapped = true;
    wave.state = WaveState::kHalted;
  } else {
    state.stopped = true;
    scheduler_.drop(&state);
  }
}

// The first error of a dispatch is the one that tells something; the rest follow from it.
void Engine::report(DispatchState& state, const WaveError& error) {
  if (state.reported) return;
  state.reported = true;
  errors_.emplace_back(state.dispatch, error);
}

void Engine::wave_gone(Wave& wave) {
  WorkGroup& group = *wave.group;
  --group.live_waves;
  if (group.live_waves != 0) {
    release_barrier(group);
    return;
  }
  Running& running = running_of(wave);
  DispatchState& state = running.state;
  residency_.release(state, group);
  running.groups.erase(group.number);
  --state.live_groups;
  if (state.live_groups == 0 && state.next_group == state.group_total) {
    std::erase(order_, state.id);
    dispatches_.erase(state.id);
  }
}

void Engine::release_barrier(WorkGroup& group) {
  if (group.at_barrier == 0 || group.at_barrier != group.live_waves) return;
  group.at_barrier = 0;
  for (Wave& wave : group.waves) {
    if (wave.state != WaveState::kBarrier) continue;
    wave.state = WaveState::kRunning;
    scheduler_.push_fresh(&wave);
  }
}

void Engine::kill(DispatchId id) {
  const auto found = dispatches_.find(id);
  if (found == dispatches_.end()) return;
  Running& running = *found->second;
  scheduler_.drop(&running.state);
  for (const auto& [number, group] : running.groups) {
    if (group->resident) residency_.move_out(running.state, *group);
    residency_.release_scratch(running.state, *group);
  }
  std::erase(order_, id);
  dispatches_.erase(found);
}

// ---- preemption ---------------------------------------------------------------------------------------------

void Engine::suspend(DispatchId id) {
  const auto found = dispatches_.find(id);
  if (found == dispatches_.end() || found->second->state.suspended) return;
  Running& running = *found->second;
  running.state.suspended = true;
  running.to_restore = 0;
  scheduler_.drop(&running.state);
  for (const auto& [number, group] : running.groups) {
    if (group->resident) residency_.move_out(running.state, *group);
    group->resident = false;
  }
}

void Engine::resume(DispatchId id) {
  const auto found = dispatches_.find(id);
  if (found == dispatches_.end() || !found->second->state.suspended) return;
  found->second->state.suspended = false;
  found->second->to_restore = found->second->groups.size();
  launch_some();
}

// One group that was suspended, onto whichever compute unit has room.
bool Engine::restore_groups(Running& running) {
  for (const auto& [number, owned] : running.groups) {
    WorkGroup& group = *owned;
    if (group.resident) continue;
    if (!residency_.move_in(running.state, group)) return false;
    group.resident = true;
    --running.to_restore;
    for (Wave& wave : group.waves) {
      if (wave.state == WaveState::kRunning || wave.state == WaveState::kReindexed) scheduler_.push_tired(&wave);
    }
    return true;
  }
  return false;
}

uint32_t Engine::save(DispatchId id, std::vector<std::byte>& out) const {
  const auto found = dispatches_.find(id);
  if (found == dispatches_.end()) return 0;
  const auto append = [&out](const void* data, size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    out.insert(out.end(), from, from + bytes);
  };
  uint32_t waves = 0;
  for (const auto& [number, owned] : found->second->groups) {
    const WorkGroup& group = *owned;
    bool first = true;
    for (const Wave& wave : group.waves) {
      if (wave.state == WaveState::kEnded) continue;
      append(wave.v, size_t{found->second->state.shape.vgpr_rows} * 64 * sizeof(uint32_t));
      append(wave.s, sizeof(uint32_t) * (kExecHi + 1));
      if (first) append(group.lds.get(), wave.lds_bytes);
      first = false;
      ++waves;
    }
  }
  return waves;
}

// The sink may call back into the driver model, which may wait for readers of the page table: so no guard is
// held here.
void Engine::deliver_messages() {
  while (!messages_.empty() || !errors_.empty()) {
    const auto messages = std::move(messages_);
    const auto errors = std::move(errors_);
    messages_.clear();
    errors_.clear();
    for (const auto& [dispatch, error] : errors) sink_.on_wave_error(dispatch, error);
    for (const Message& m : messages) sink_.on_shader_interrupt(m.dispatch, m.data, m.priv);
  }
}

// No wave is runnable. A dispatch with resident waves is then stuck in barriers or halts that nothing can
// end.
void Engine::find_deadlocks() {
  for (auto& [id, running] : dispatches_) {
    DispatchState& state = running->state;
    if (state.reported || state.trapped || state.suspended || running->to_restore > 0 || state.live_groups == 0) {
      continue;
    }
    WaveError error{.kind = WaveError::Kind::kDeadlock};
    uint32_t listed = 0;
    for (const auto& [number, owned] : running->groups) {
      const WorkGroup& group = *owned;
      for (const Wave& wave : group.waves) {
        if (wave.state == WaveState::kEnded || listed == 8) continue;
        if (listed++ == 0) {
          error.pc = wave.pc;
          error.workgroup = group.id;
          error.wave = wave.index;
          error.text = "no wave can make progress:";
        }
        char line[96];
        std::snprintf(line, sizeof line, " group %u,%u,%u wave %u %s at %#llx;", group.id[0], group.id[1], group.id[2],
                      wave.index, wave.state == WaveState::kBarrier ? "waits at a barrier" : "is halted",
                      static_cast<unsigned long long>(wave.pc));
        error.text += line;
      }
    }
    report(state, error);
  }
}

}  // namespace

std::unique_ptr<ShaderEngine> ShaderEngine::create(const GpuConfig& config, AddressSpace& memory, ShaderSink& sink) {
  const ShaderTarget* target = find_shader_target(config.gfx);
  if (!target) return nullptr;
  return std::make_unique<Engine>(config, *target, memory, sink);
}

}  // namespace vgpu
