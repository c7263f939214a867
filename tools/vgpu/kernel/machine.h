// The simulated machine: which GPUs it has, under which ids, and what its sysfs files say. Fixed once it is made.
#pragma once

#include <memory>
#include <vector>

#include "tools/vgpu/kernel/dma_buf.h"
#include "tools/vgpu/kernel/gpu_config.h"
#include "tools/vgpu/kernel/log.h"
#include "tools/vgpu/kernel/options.h"
#include "tools/vgpu/kernel/topology.h"
#include "tools/vgpu/kernel/trace.h"

namespace vgpu {

struct Gpu {
  CardOptions options;
  GpuConfig config;
  uint32_t index = 0;
  uint32_t gpu_id = 0;
  uint32_t render_minor = 0;
  uint32_t debug_memory_bytes = 0;
  const Card& card() const { return options.card; }
};

/// Names of the stores' files in a shared folder.
std::string store_name(size_t index);

struct Machine {
  /// Throws std::runtime_error when the system gives no memory for it.
  explicit Machine(Options chosen);

  Options options;
  std::vector<Gpu> gpus;
  FileTree topology;
  Log log;
  Trace trace;
  /// System memory first, then the VRAM of each GPU. Never null once the machine is made.
  std::vector<std::unique_ptr<PageStore>> stores;
  std::unique_ptr<DmaBufs> dma_bufs;

  const Gpu* find_gpu(uint32_t gpu_id) const;
  /// Takes back what dma-bufs held that nobody has any more.
  void collect() { dma_bufs->collect(stores); }
};

}  // namespace vgpu
