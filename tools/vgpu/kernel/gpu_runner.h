// The running part of one GPU for one process: its command processor, the thread that drives it, and what its
// interrupts do.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tools/vgpu/cp/command_processor.h"
#include "tools/vgpu/kernel/doorbell_gate.h"
#include "tools/vgpu/kernel/events.h"
#include "tools/vgpu/kernel/machine.h"
#include "tools/vgpu/kernel/smi.h"

namespace vgpu {

class GpuRunner final : private InterruptSink {
 public:
  /// What the interrupt side must know of a queue.
  struct QueueView {
    uint32_t doorbell_id = 0;
    uint64_t ctx_save_va = 0;
    QueueType type = QueueType::kAql;
    const std::atomic<uint64_t>* doorbell = nullptr;
    uint64_t recorded = ~uint64_t{0};  ///< the doorbell's value when a recording last looked
  };

  /// All references outlive the runner. Null when this model has no command processor for the GPU.
  static std::unique_ptr<GpuRunner> create(Machine& machine, const Gpu& gpu, AddressSpace& space, EventTable& events,
                                           SmiStreams& smi);
  ~GpuRunner();

  CommandProcessor& cp() { return *cp_; }
  DoorbellGate& gate() { return *gate_; }

  void add_queue(const QueueParams& params);
  void update_queue(uint32_t queue_id, uint64_t ring_va, uint32_t ring_bytes, uint32_t percentage, uint32_t priority);
  void remove_queue(uint32_t queue_id);
  void set_runtime_enabled(bool enabled);
  bool evicted() const { return evicted_.load(); }

 private:
  GpuRunner(Machine& machine, const Gpu& gpu, AddressSpace& space, EventTable& events, SmiStreams& smi);
  void run();
  /// Hostile mode holds event interrupts back, so that they come late and together, and wakes waiters for nothing.
  void event_interrupt(uint32_t id, uint32_t bits);
  void deliver_held_events();
  /// Doorbells that changed, as lines of the recording. Two stores between two looks are one line.
  void record_doorbells();
  void raise_memory_fault(const MemoryFault& fault);
  void raise_hang();
  /// Exceptions of a queue: into the payload that its save area names, then the event. False: nobody to tell.
  bool raise_queue_exception(uint32_t doorbell_id, uint64_t mask);

  uint64_t gpu_clock() override;
  void on_eop_interrupt(uint32_t context_id) override;
  void on_sdma_trap(uint32_t context_id) override;
  void on_sq_interrupt(uint32_t doorbell_id, uint32_t data, bool privileged) override;
  void on_memory_fault(uint32_t queue_id, const MemoryFault& fault, const WaveError* wave) override;
  void on_queue_error(uint32_t queue_id, uint32_t doorbell_id, uint32_t exception_code, const char* text) override;
  void on_wave_error(uint32_t queue_id, const Dispatch& dispatch, const WaveError& error) override;
  void on_gpu_hang(const char* text) override;

  Machine& machine_;
  const Gpu& gpu_;
  AddressSpace& space_;
  EventTable& events_;
  SmiStreams& smi_;
  uint32_t resets_ = 0;
  std::unique_ptr<DoorbellGate> gate_;
  std::unique_ptr<CommandProcessor> cp_;
  std::vector<std::pair<uint32_t, uint32_t>> held_events_;  // partial id and its bits; GPU thread only
  uint32_t held_steps_ = 0;
  uint64_t interrupts_ = 0;
  std::mutex queues_mutex_;
  std::map<uint32_t, QueueView> queues_;
  std::atomic<bool> runtime_enabled_{false}, evicted_{false}, stop_{false};
  std::thread thread_;
};

/// The constant-rate counter of a GPU, from the machine's boot clock.
uint64_t gpu_clock_now(const GpuConfig& config);

}  // namespace vgpu
