#include "tools/vgpu/kernel/gpu_runner.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "tools/vgpu/kernel/fault_report.h"
#include "tools/vgpu/kernel/fault_signal.h"
#include "tools/vgpu/kernel/in_model.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr int kStepsBeforeSleep = 200;    // idle looks before the thread arms the doorbells and sleeps
constexpr uint32_t kMostHeldSteps = 500;  // hostile mode holds an interrupt back for so many looks at the queues
constexpr uint64_t kStepsBetweenEvictions = 50;
constexpr int64_t kShortestPollUs = 20;  // while a packet waits on memory
constexpr int64_t kLongestPollUs = 500;
constexpr uint32_t kSqDoorbellMask = 0x3ff;  // an SQ message of the trap handler: doorbell id, then exception mask
constexpr uint32_t kSqMaskShift = 10;
constexpr uint32_t kSqMaskBits = 0x3fff;

}  // namespace

uint64_t gpu_clock_now(const GpuConfig& config) {
  timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  uint64_t hz = config.gpu_clock_hz;
  uint64_t offset = 0;
  if (config.hostile.skewed_clocks) {
    // Another rate (up to 400 ppm off) and an origin that has nothing to do with the host's.
    hz += hz * (config.seed % 401) / 1'000'000;
    offset = 0x123456789ull * (config.seed % 97 + 1);
  }
  const auto nanoseconds = static_cast<uint64_t>(t.tv_nsec);  // times a rate below 10 GHz: fits
  return static_cast<uint64_t>(t.tv_sec) * hz + nanoseconds * hz / 1'000'000'000 + offset;
}

GpuRunner::GpuRunner(Machine& machine, const Gpu& gpu, AddressSpace& space, EventTable& events, SmiStreams& smi)
    : machine_(machine),
      gpu_(gpu),
      space_(space),
      events_(events),
      smi_(smi),
      gate_(DoorbellGate::create(machine.options.doorbell_trap)),
      cp_(CommandProcessor::create(gpu.config, space, *this)) {}

std::unique_ptr<GpuRunner> GpuRunner::create(Machine& machine, const Gpu& gpu, AddressSpace& space, EventTable& events,
                                             SmiStreams& smi) {
  std::unique_ptr<GpuRunner> runner(new GpuRunner(machine, gpu, space, events, smi));
  if (runner->cp_ == nullptr) return nullptr;
  // The client's signal handlers must not run on our thread.
  sigset_t all, before;
  sigfillset(&all);
  for (const int kept : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, kept);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  runner->thread_ = std::thread([self = runner.get()] { self->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return runner;
}

GpuRunner::~GpuRunner() {
  stop_ = true;
  gate_->kick();
  if (thread_.joinable()) thread_.join();
}

void GpuRunner::run() {
  pthread_setname_np(pthread_self(), "vgpu");
  const InModel inside;
  const GpuThreadScope scope;
  int idle = 0;
  int64_t poll_us = kShortestPollUs;
  uint64_t steps = gpu_.config.seed;
  while (!stop_.load()) {
    if (gpu_.config.hostile.evict_user_pages && ++steps % kStepsBetweenEvictions == 0) {
      // The driver stops the queues, looks where the pages went, writes the page table, and lets the queues go on.
      space_.drop_translations();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (machine_.trace.on()) record_doorbells();
    const bool worked = cp_->step();
    if (const uint64_t stray = GpuThreadScope::take_stray_access(); stray != 0) {
      machine_.log.report(describe_stray_access(gpu_, stray));
      raise_memory_fault({.va = stray, .access = Access::kRead, .not_present = true});
    }
    // Held back at most for a number of steps or until nothing else is to do: a queue may work without end for lack of
    // what the waiting host would do.
    if (!worked || ++held_steps_ >= kMostHeldSteps) deliver_held_events();
    if (worked) {
      idle = 0;
      poll_us = kShortestPollUs;
    } else if (cp_->must_poll()) {
      gate_->wait(poll_us);
      gate_->disarm();  // a page that was never let in traps its first store even now, and wait() took that message
      poll_us = std::min(poll_us * 2, kLongestPollUs);
    } else if (++idle < kStepsBeforeSleep) {
      std::this_thread::yield();
    } else {
      install_fault_handler();  // a test framework may have put its own one in our place
      gate_->arm();
      if (!cp_->step() && !stop_.load() && !cp_->must_poll()) gate_->wait(-1);
      gate_->disarm();
      idle = 0;
    }
  }
}

void GpuRunner::record_doorbells() {
  const std::lock_guard lock(queues_mutex_);
  for (auto& [id, queue] : queues_) {
    const uint64_t value = queue.doorbell == nullptr ? kDoorbellNeverRung : queue.doorbell->load();
    if (value == queue.recorded) continue;
    queue.recorded = value;
    machine_.trace.line("doorbell queue=" + std::to_string(id) + " value=" + std::to_string(value));
  }
}

void GpuRunner::add_queue(const QueueParams& params) {
  {
    std::lock_guard lock(queues_mutex_);
    queues_[params.queue_id] = {params.doorbell_id, params.ctx_save_va, params.type, params.doorbell};
  }
  cp_->add_queue(params);
  gate_->kick();
}

void GpuRunner::update_queue(uint32_t queue_id, uint64_t ring_va, uint32_t ring_bytes, uint32_t percentage,
                             uint32_t priority) {
  cp_->update_queue(queue_id, ring_va, ring_bytes, percentage, priority);
  gate_->kick();
}

void GpuRunner::remove_queue(uint32_t queue_id) {
  cp_->remove_queue(queue_id);
  std::lock_guard lock(queues_mutex_);
  queues_.erase(queue_id);
}

void GpuRunner::set_runtime_enabled(bool enabled) {
  runtime_enabled_ = enabled;
  cp_->set_runtime_enabled(enabled);
}

// ---- interrupts, on the GPU thread ---------------------------------------------------------------------------

uint64_t GpuRunner::gpu_clock() { return gpu_clock_now(gpu_.config); }

void GpuRunner::on_eop_interrupt(uint32_t context_id) {
  if (context_id == 0) return;  // no event asked for it
  event_interrupt(context_id, 32);
}

void GpuRunner::on_sdma_trap(uint32_t context_id) { event_interrupt(context_id & 0xfffffff, 28); }

void GpuRunner::event_interrupt(uint32_t id, uint32_t bits) {
  if (machine_.trace.on()) machine_.trace.line("interrupt event=" + std::to_string(id));
  if (!gpu_.config.hostile.event_mischief) {
    events_.on_signal_interrupt(id, bits);
    return;
  }
  const uint64_t roll = ++interrupts_ * 2654435761u + gpu_.config.seed;
  if (roll % 7 == 0) events_.wake_spuriously();
  held_events_.emplace_back(id, bits);
}

void GpuRunner::deliver_held_events() {
  // One interrupt may stand for several: the driver then finds the others by looking at all slots.
  for (const auto& [id, bits] : held_events_) events_.on_signal_interrupt(id, bits);
  held_events_.clear();
  held_steps_ = 0;
}

void GpuRunner::on_sq_interrupt(uint32_t, uint32_t data, bool privileged) {
  // From a trap handler the data names a queue and its exceptions; from a kernel it is an event's id.
  const uint64_t mask = data >> kSqMaskShift & kSqMaskBits;
  if (privileged && mask != 0 && raise_queue_exception(data & kSqDoorbellMask, mask)) return;
  event_interrupt(data & 0xffffff, 24);
}

void GpuRunner::raise_memory_fault(const MemoryFault& fault) {
  evicted_ = true;
  cp_->evict_all();
  uapi::MemoryException exception{};
  exception.not_present = fault.not_present ? 1 : 0;
  exception.read_only = fault.access == Access::kWrite ? 1 : 0;
  exception.va = fault.va & ~uint64_t{4095};
  exception.gpu_id = gpu_.gpu_id;
  events_.on_memory_exception(exception);
  char who[64];
  snprintf(who, sizeof who, "%x:%s", static_cast<unsigned>(getpid()), program_invocation_short_name);
  smi_.raise(SmiEvent::kVmFault, who);
}

// What the driver does with waves that never end: it resets the GPU, and the process's queues are gone.
void GpuRunner::raise_hang() {
  char reset[16];
  snprintf(reset, sizeof reset, "%x", ++resets_);
  smi_.raise(SmiEvent::kGpuPreReset, reset);
  evicted_ = true;
  cp_->evict_all();
  uapi::HwException exception{};  // whole GPU, cause: hang
  exception.memory_lost = 1;
  exception.gpu_id = gpu_.gpu_id;
  events_.on_hw_exception(exception);
  smi_.raise(SmiEvent::kGpuPostReset, reset);
}

void GpuRunner::on_memory_fault(uint32_t queue_id, const MemoryFault& fault, const WaveError* wave) {
  if (wave == nullptr) machine_.log.report(describe_packet_fault(gpu_, queue_id, fault));
  raise_memory_fault(fault);
}

bool GpuRunner::raise_queue_exception(uint32_t doorbell_id, uint64_t mask) {
  if (!runtime_enabled_.load()) return false;
  uint64_t save_area = 0;
  bool found = false;
  {
    std::lock_guard lock(queues_mutex_);
    for (const auto& [id, queue] : queues_) {
      if (queue.doorbell_id != doorbell_id) continue;
      save_area = queue.ctx_save_va;
      found = true;
    }
  }
  if (!found) return false;
  // The driver reads the header as user memory of the process and adds to the payload there.
  uapi::SaveAreaHeader header{};
  uint64_t payload = 0;
  if (!copy_from_user(&header, save_area, sizeof header) || header.err_payload_addr == 0) return true;
  if (!copy_from_user(&payload, header.err_payload_addr, sizeof payload)) return true;
  payload |= mask;
  if (!copy_to_user(header.err_payload_addr, &payload, sizeof payload)) return true;
  events_.on_queue_exception(header.err_event_id);
  return true;
}

void GpuRunner::on_queue_error(uint32_t queue_id, uint32_t doorbell_id, uint32_t exception_code, const char* text) {
  machine_.log.report(describe_queue_error(gpu_, queue_id, exception_code, text));
  if (exception_code >= uapi::kEcQueuePacketFirst && exception_code <= uapi::kEcQueuePacketLast) {
    raise_queue_exception(doorbell_id, uapi::exception_mask(exception_code));
  } else {
    raise_hang();  // an engine that stopped answers no preemption
  }
}

void GpuRunner::on_gpu_hang(const char* text) {
  machine_.log.report("GPU " + gpu_.config.gfx + ": reset: " + text);
  raise_hang();
}

void GpuRunner::on_wave_error(uint32_t queue_id, const Dispatch& dispatch, const WaveError& error) {
  machine_.log.report(describe_wave_error(gpu_, space_, queue_id, dispatch, error));
  // Neither can go on here: what hardware would do with the instruction is not modelled, and a deadlock never ends.
  if (error.kind == WaveError::Kind::kUnsupported || error.kind == WaveError::Kind::kDeadlock) raise_hang();
}

}  // namespace vgpu
