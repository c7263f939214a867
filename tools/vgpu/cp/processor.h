// The command processor of one GPU for one process: owns the queues, lets them step in turn, runs the shader cores.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "tools/vgpu/cp/hw_queue.h"

namespace vgpu {

class Processor final : public CommandProcessor, private ShaderSink {
 public:
  Processor(const GpuConfig& config, const barehip::codeobj::Target& target, barehip::pm4::CapSet caps,
            AddressSpace& memory, InterruptSink& sink, const EngineFactory& engine);

  void add_queue(const QueueParams& params) override;
  void update_queue(uint32_t queue_id, uint64_t ring_va, uint32_t ring_bytes, uint32_t percentage,
                    uint32_t priority) override;
  void remove_queue(uint32_t queue_id) override;
  void set_cu_mask(uint32_t queue_id, const CuMask& cus) override;
  std::optional<SavedWaves> saved_waves(uint32_t queue_id) override;
  void evict_all() override;
  void set_trap_handler(uint64_t tba, uint64_t tma) override;
  void set_runtime_enabled(bool enabled) override;
  bool step() override;
  bool must_poll() const override { return must_poll_.load(std::memory_order_relaxed); }

 private:
  void on_wave_error(const Dispatch& dispatch, const WaveError& error) override;
  void on_shader_interrupt(const Dispatch& dispatch, uint32_t data, bool priv) override;
  uint64_t gpu_clock() override { return gpu_.clock(); }
  CacheModel* caches() override { return gpu_.caches; }

  /// The lock of whoever manages queues: the stepping thread lets it pass, however busy the GPU is.
  class Managing;
  HwQueue* find(uint32_t queue_id);
  void remap_all(bool doorbells_lost);
  void map_chosen(bool doorbells_lost);
  std::vector<HwQueue*> served();
  size_t active_compute_queues() const;
  bool rotate();
  bool evicted_steps();
  bool step_locked();

  std::mutex mutex_;
  std::atomic<uint32_t> managers_{0};
  std::atomic<bool> must_poll_{false};

  std::unique_ptr<CacheModel> cache_model_;
  GpuContext gpu_;
  std::unique_ptr<ShaderEngine> engine_;
  std::vector<std::unique_ptr<HwQueue>> queues_;  ///< destroyed before the engine that runs their waves
  size_t first_mapped_ = 0;                       ///< oversubscription: slots hold the compute queues from here on
  uint32_t slice_steps_ = 0;                      ///< since the last rotation
  size_t fruitless_ = 0;                          ///< queues that were on hardware since anything last moved
  uint64_t away_ = 0;                             ///< hostile evict_user_pages: steps until the queues come back
  uint32_t turn_ = 0;                             ///< rotates queues of equal priority
};

}  // namespace vgpu
