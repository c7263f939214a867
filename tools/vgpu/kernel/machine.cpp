#include "tools/vgpu/kernel/machine.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <stdexcept>

namespace vgpu {

namespace {

constexpr uint64_t kLdsAperture = 1ull << 48;
constexpr uint64_t kScratchAperture = 2ull << 48;
constexpr uint32_t kFirstRenderMinor = 128;

// The driver hashes the card's identity to 16 bits. Any distinct non-zero numbers serve; these are not small, so that a
// client which confuses ids with indices fails.
uint32_t gpu_id_of(uint32_t index, uint64_t device_id) {
  return 0x8000u | ((static_cast<uint32_t>(device_id) * 0x9e37u + index * 0x2f1bu) >> 3 & 0x7fffu);
}

GpuConfig config_of(const Gpu& gpu) {
  const Card& card = gpu.card();
  GpuConfig config;
  config.gfx = card.gfx;
  config.gpu_id = gpu.gpu_id;
  config.cu_count = card.cu_count();
  config.shader_engines = static_cast<uint32_t>(card.prop("array_count") / card.prop("simd_arrays_per_engine"));
  config.arrays_per_engine = static_cast<uint32_t>(card.prop("simd_arrays_per_engine"));
  if (card.prop("num_cp_queues") != 0) config.compute_slots = static_cast<uint32_t>(card.prop("num_cp_queues"));
  config.waves_per_cu = static_cast<uint32_t>(card.prop("max_waves_per_simd") * card.prop("simd_per_cu"));
  config.max_slots_scratch_cu = static_cast<uint32_t>(card.prop("max_slots_scratch_cu"));
  config.lds_bytes_per_cu = static_cast<uint32_t>(card.prop("lds_size_in_kb") * 1024);
  config.num_xcc = static_cast<uint32_t>(std::max<uint64_t>(1, card.prop("num_xcc")));
  config.gpu_clock_hz = card.info("gpu_counter_freq") * 1000;
  config.shared_aperture = kLdsAperture;
  config.private_aperture = kScratchAperture;
  config.seed = gpu.options.seed;
  config.hostile = gpu.options.hostile;
  config.reset_at_packet = gpu.options.reset_at_packet;
  return config;
}

uint64_t system_memory_limit() {
  struct sysinfo memory{};
  sysinfo(&memory);
  const uint64_t total = uint64_t{memory.totalram} * memory.mem_unit;
  return (total - total / 16) & ~uint64_t{4095};  // the driver keeps a sixteenth for everybody else
}

}  // namespace

std::string store_name(size_t index) { return index == 0 ? "system" : "vram" + std::to_string(index - 1); }

Machine::Machine(Options chosen)
    : options(std::move(chosen)), log(options.log_path, options.defaults_path), trace(options.trace_path) {
  for (uint32_t i = 0; i < options.cards.size(); ++i) {
    Gpu gpu;
    gpu.options = options.cards[i];
    gpu.index = i;
    gpu.gpu_id = gpu_id_of(i, gpu.card().prop("device_id"));
    gpu.render_minor = kFirstRenderMinor + i;
    gpu.debug_memory_bytes = vgpu::debug_memory_bytes(gpu.card());
    gpu.config = config_of(gpu);
    if (trace.on()) gpu.config.trace = [this](const std::string& text) { trace.line(text); };
    gpus.push_back(std::move(gpu));
  }
  topology = make_topology(options, gpus);
  for (size_t i = 0; i <= gpus.size(); ++i) {
    const uint64_t bytes = i == 0 ? system_memory_limit() : gpus[i - 1].options.vram_bytes;
    stores.push_back(PageStore::create(store_name(i), bytes, options.shared_folder));
    if (stores.back() == nullptr) throw std::runtime_error("no memory for " + store_name(i));
  }
  dma_bufs = DmaBufs::create(options.shared_folder);
  if (dma_bufs == nullptr) throw std::runtime_error("no memory for the table of dma-bufs");
}

const Gpu* Machine::find_gpu(uint32_t gpu_id) const {
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.gpu_id == gpu_id; });
  return found == gpus.end() ? nullptr : &*found;
}

}  // namespace vgpu
