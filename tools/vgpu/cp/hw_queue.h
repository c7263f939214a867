// What the scheduler knows about a queue, whatever its packets are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

/// A doorbell is noticed by its value changing. Forgetting it is what a remap does to a ring that came at that moment.
class Doorbell {
 public:
  explicit Doorbell(const std::atomic<uint64_t>* cell) : cell_(cell), seen_(read()) {}
  /// The new value, once per change.
  std::optional<uint64_t> poll() {
    const uint64_t now = read();
    if (now == seen_) return std::nullopt;
    seen_ = now;
    return now;
  }
  void forget() { seen_ = read(); }

 private:
  uint64_t read() const { return cell_ ? cell_->load(std::memory_order_acquire) : kDoorbellNeverRung; }
  const std::atomic<uint64_t>* cell_;
  uint64_t seen_;
};

class HwQueue {
 public:
  HwQueue(GpuContext& gpu, const QueueParams& params) : gpu_(gpu), params_(params), doorbell_(params.doorbell) {}
  virtual ~HwQueue() = default;
  HwQueue(const HwQueue&) = delete;
  HwQueue& operator=(const HwQueue&) = delete;

  const QueueParams& params() const { return params_; }
  bool active() const { return params_.percentage > 0 && params_.ring_bytes > 0 && !halted_; }
  bool halted() const { return halted_; }

  /// Bounded work. True when anything moved.
  virtual bool step() = 0;
  /// True when it waits on memory or on shader cores, so that step() must be called again without a doorbell.
  virtual bool waiting() const = 0;
  bool on_hardware() const { return on_hardware_; }
  /// Puts it on the hardware: its waves go on, the write index in memory is read again, and a doorbell that rang
  /// meanwhile is known only when the page still tells it.
  void map(bool doorbell_lost);
  /// Takes it off the hardware: its waves stand still and are written to its save area.
  void unmap();
  const SavedWaves& saved() const { return saved_; }
  /// Takes its waves off the shader cores for good.
  virtual void drop_waves() = 0;
  virtual void on_wave_error(const Dispatch& dispatch, const WaveError& error) {}

  virtual void set_cus(const CuMask& cus) { params_.cus = cus; }
  void update(uint64_t ring_va, uint32_t ring_bytes, uint32_t percentage, uint32_t priority) {
    params_.ring_va = ring_va;
    params_.ring_bytes = ring_bytes;
    params_.percentage = percentage;
    params_.priority = priority;
  }
  void halt() { halted_ = true; }

 protected:
  void report_fault(const MemoryFault& fault) {
    halt();
    gpu_.outbox.post([id = params_.queue_id, fault](InterruptSink& sink) { sink.on_memory_fault(id, fault, nullptr); });
  }
  void report_error(uint32_t exception_code, std::string text) {
    halt();
    gpu_.outbox.post([id = params_.queue_id, doorbell = params_.doorbell_id, exception_code, text = std::move(text)](
                         InterruptSink& sink) { sink.on_queue_error(id, doorbell, exception_code, text.c_str()); });
  }

  /// The write index in memory has to be read again.
  virtual void mapped(bool doorbell_lost) = 0;
  /// Its dispatches on the shader cores.
  virtual std::vector<ShaderEngine::DispatchId> dispatches() const { return {}; }

  GpuContext& gpu_;
  QueueParams params_;
  Doorbell doorbell_;

 private:
  void save_waves();

  SavedWaves saved_{};
  bool on_hardware_ = false;
  bool halted_ = false;
};

}  // namespace vgpu
