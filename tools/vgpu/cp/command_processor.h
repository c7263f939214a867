// The command processor and SDMA engines of one simulated GPU: consumes user queues, honours headers, signals, fences.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "tools/vgpu/memory/address_space.h"
#include "tools/vgpu/shader/engine.h"

namespace vgpu {

enum class QueueType : uint8_t { kPm4Compute = 0, kSdma = 1, kAql = 2, kSdmaXgmi = 3, kSdmaByEngine = 4 };

/// A user queue as CREATE_QUEUE described it. Addresses are GPU virtual addresses of the owning process.
struct QueueParams {
  uint32_t queue_id = 0;
  QueueType type = QueueType::kAql;
  uint64_t ring_va = 0;
  uint32_t ring_bytes = 0;
  uint64_t read_ptr_va = 0;
  uint64_t write_ptr_va = 0;
  uint64_t ctx_save_va = 0;
  uint32_t ctx_save_bytes = 0;
  uint32_t ctl_stack_bytes = 0;
  uint32_t priority = 7;      ///< 0..15
  uint32_t percentage = 100;  ///< 0: inactive
  uint32_t sdma_engine = 0;
  CuMask cus = kAllCus;
  uint32_t doorbell_id = 0;  ///< index of the 8-byte doorbell in the process's doorbell page
  /// The model's own view of that doorbell. The driver model stores kDoorbellNeverRung there before add_queue():
  /// index 0 is a value that clients ring with, so the processor cannot tell "0" from "not yet" otherwise.
  const std::atomic<uint64_t>* doorbell = nullptr;
};

inline constexpr uint64_t kDoorbellNeverRung = ~0ull;

/// What the CP and SDMA engines tell the driver model. Everything but gpu_clock() is called on the GPU thread at the
/// end of step() with no lock of the processor held, so an implementation may take the driver's locks and may call
/// back into the processor. A report may arrive just after remove_queue() of its queue returned: ids are then unknown.
class InterruptSink {
 public:
  virtual ~InterruptSink() = default;
  /// The constant-rate GPU counter: packet timestamps, s_memrealtime, GET_CLOCK_COUNTERS.gpu. Called with the
  /// processor's lock held; takes no lock.
  virtual uint64_t gpu_clock() = 0;
  virtual void on_eop_interrupt(uint32_t context_id) = 0;  ///< CP end-of-pipe (event id)
  virtual void on_sdma_trap(uint32_t context_id) = 0;      ///< SDMA TRAP, low 28 bits
  /// s_sendmsg interrupt; `privileged`: sent by the trap handler, which the driver reads as queue and exceptions.
  virtual void on_sq_interrupt(uint32_t doorbell_id, uint32_t data, bool privileged) = 0;
  virtual void on_memory_fault(uint32_t queue_id, const MemoryFault& fault, const WaveError* wave) = 0;
  /// CP bad opcode: `exception_code` as KFD_EC_* (16 dispatch dim invalid .. 23 vendor packet unsupported); 0 when an
  /// SDMA engine halted (the driver has no code for that). The queue runs nothing more. Text is for a person.
  virtual void on_queue_error(uint32_t queue_id, uint32_t doorbell_id, uint32_t exception_code, const char* text) = 0;
  virtual void on_wave_error(uint32_t queue_id, const Dispatch& dispatch, const WaveError& error) = 0;
  /// GpuConfig::reset_at_packet was reached. Text is for a person.
  virtual void on_gpu_hang(const char* text) = 0;
};

/// What the last preemption of a queue wrote into its save area (kfd facts 5.3). Control stack entries lie below the
/// control stack's end, wave state from there on.
struct SavedWaves {
  uint32_t waves = 0;
  uint32_t control_stack_bytes = 0;
  uint32_t wave_state_bytes = 0;
};

/// One thread (the GPU thread) calls step(); queue management may come from any thread and takes effect between
/// steps. As the driver does, adding, updating and removing a queue takes all queues off the hardware and puts them
/// back: waves are saved and restored, maybe on other compute units, write indices in memory are read again. An
/// inactive queue stays off, its waves saved; remove_queue() drops them.
class CommandProcessor {
 public:
  using EngineFactory = std::function<std::unique_ptr<ShaderEngine>(const GpuConfig&, AddressSpace&, ShaderSink&)>;

  /// Null for a target without packet capabilities (pm4/caps.h). `config`, `memory` and `sink` outlive the processor.
  /// The second form lets a test bring its own shader cores.
  static std::unique_ptr<CommandProcessor> create(const GpuConfig& config, AddressSpace& memory, InterruptSink& sink);
  static std::unique_ptr<CommandProcessor> create(const GpuConfig& config, AddressSpace& memory, InterruptSink& sink,
                                                  const EngineFactory& engine);
  virtual ~CommandProcessor() = default;

  virtual void add_queue(const QueueParams& params) = 0;
  virtual void update_queue(uint32_t queue_id, uint64_t ring_va, uint32_t ring_bytes, uint32_t percentage,
                            uint32_t priority) = 0;
  virtual void remove_queue(uint32_t queue_id) = 0;
  /// Counts for dispatches that start after it.
  virtual void set_cu_mask(uint32_t queue_id, const CuMask& cus) = 0;
  /// Nothing while the queue is on the hardware.
  virtual std::optional<SavedWaves> saved_waves(uint32_t queue_id) = 0;
  /// A queue that faulted is evicted: it stays, and nothing of it ever runs again.
  virtual void evict_all() = 0;
  virtual void set_trap_handler(uint64_t tba, uint64_t tma) = 0;
  /// RUNTIME_ENABLE: queue errors reach the process through the driver's exception event. Without it (the default)
  /// the CP also stores the reason into queue_inactive_signal, as older firmware protocols and runtimes expect.
  virtual void set_runtime_enabled(bool enabled) = 0;

  /// Does a bounded amount of work. False: nothing to do until a doorbell, a signal or memory changes. Doorbells are
  /// read on every call, so a caller that arms them calls step() once more before it sleeps.
  virtual bool step() = 0;
  /// True when some queue waits on memory that may change without a doorbell (barrier dependency, poll, scratch
  /// handshake): the GPU thread must then call step() again soon instead of sleeping.
  virtual bool must_poll() const = 0;
};

}  // namespace vgpu
