// What one simulated GPU is: the numbers of its device file that the command processor and shader cores need, and
// the switches of hostile mode.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace vgpu {

/// Things that real hardware may do and a kind model hides. All off is strict mode. Each is a switch of its own
/// (`vgpu run --hostile SEED[:name,name...]`), and each has a test that fails when the runtime's matching care is
/// taken out.
struct Hostile {
  bool early_read_index = false;  ///< read_dispatch_id moves when a packet starts, not when it ends
  bool out_of_order = false;      ///< packets without the barrier bit complete in any order
  bool drop_doorbells = false;    ///< a doorbell is lost by a queue remap; only the write index in memory survives
  bool stale_caches = false;      ///< caches by memory type and scope: a missing fence reads stale data
  bool noisy_state = false;       ///< registers, LDS and scratch start with noise
  bool skewed_clocks = false;     ///< GPU clock with another rate, offset and drift
  bool event_mischief = false;    ///< events late, merged or spurious
  bool eintr = false;             ///< ioctls end in EINTR now and then
  bool small_bar = false;         ///< VRAM is not (all) CPU visible
  bool no_mmio_remap = false;     ///< no MMIO remap page
  bool no_pcie_atomics = false;   ///< io_links say so, and atomics on host memory fail
  bool evict_user_pages = false;  ///< user pages move while in use (queues stop and resume)
};

class GpuConfig {
 public:
  std::string gfx;  ///< "gfx90a", "gfx1100"
  uint32_t gpu_id = 0;
  uint32_t cu_count = 0;           ///< active compute units over all XCCs
  uint32_t shader_engines = 0;     ///< over all XCCs
  uint32_t arrays_per_engine = 1;  ///< shader arrays of one engine
  uint32_t compute_slots = 24;     ///< compute queues that the hardware holds at once
  uint32_t waves_per_cu = 0;       ///< max_waves_per_simd * simd_per_cu
  uint32_t max_slots_scratch_cu = 0;
  uint32_t lds_bytes_per_cu = 0;
  uint32_t num_xcc = 1;
  uint64_t gpu_clock_hz = 0;      ///< constant-rate counter (s_memrealtime, packet timestamps)
  uint64_t shared_aperture = 0;   ///< LDS aperture base (0x1000000000000)
  uint64_t private_aperture = 0;  ///< scratch aperture base (0x2000000000000)
  uint64_t seed = 0;              ///< of the schedule; the same seed gives the same schedule
  Hostile hostile{};
  uint64_t reset_at_packet = 0;  ///< the GPU hangs and is reset when this packet starts, counted from 1; 0: never
  /// Takes one line per packet as it starts; null: no trace is kept. Called on the GPU thread.
  std::function<void(const std::string&)> trace;
};

}  // namespace vgpu
