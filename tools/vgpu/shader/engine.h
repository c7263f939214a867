// What the command processor asks of the shader cores: run one dispatch, given as the registers that real hardware
// would be programmed with (COMPUTE_* of facts on dispatch), whether they come from an AQL packet or from PM4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/vgpu/memory/address_space.h"

namespace vgpu {

class CacheModel;  // tools/vgpu/memory/cache_model.h
class GpuConfig;   // tools/vgpu/kernel/gpu_config.h: target, CU count, counters, seed, hostile switches

/// COMPUTE_STATIC_THREAD_MGMT: compute units that may run waves, by shader engine (of all XCCs in a row); the second
/// shader array's from bit 16.
using CuMask = std::array<uint32_t, 8>;
inline constexpr CuMask kAllCus{~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

/// Register state of one dispatch. All sizes in the units that the name says.
struct Dispatch {
  uint64_t code_va = 0;  ///< first instruction (256-aligned)
  uint32_t rsrc1 = 0;    ///< COMPUTE_PGM_RSRC1
  uint32_t rsrc2 = 0;    ///< COMPUTE_PGM_RSRC2 (LDS_SIZE field is ignored, see lds_bytes)
  uint32_t rsrc3 = 0;    ///< COMPUTE_PGM_RSRC3
  bool wave32 = false;
  std::array<uint32_t, 16> user_sgprs{};   ///< filled by the CP in descriptor order (AQL) or by USER_DATA (PM4)
  std::array<uint32_t, 3> grid{1, 1, 1};   ///< work-items; the last groups may be partial
  std::array<uint32_t, 3> group{1, 1, 1};  ///< work-items of a full work-group
  std::array<uint32_t, 3> first_group{};   ///< PM4 may start elsewhere than at 0: added to every work-group id
  CuMask cus = kAllCus;
  uint32_t lds_bytes = 0;           ///< static + dynamic
  uint64_t scratch_base = 0;        ///< backing memory; 0 when the kernel has none
  uint32_t scratch_wave_bytes = 0;  ///< COMPUTE_TMPRING_SIZE.WAVESIZE in bytes
  uint32_t scratch_waves = 0;       ///< how many waves may own a slot at once (over the whole GPU)
  uint64_t trap_tba = 0;            ///< second-level trap handler, 0 when none is set
  uint64_t trap_tma = 0;
  uint32_t doorbell_id = 0;  ///< what s_sendmsg(GET_DOORBELL) answers; names the queue to the driver
  uint32_t queue_id = 0;     ///< for reports
  uint64_t packet_va = 0;    ///< for reports and TTMPs: the AQL packet, 0 on the PM4 path
  uint64_t dispatch_index = 0;
};

/// Why a wave stopped the dispatch. Everything here is what vgpu can tell; hardware tells the driver far less.
struct WaveError {
  enum class Kind : uint8_t {
    kMemoryFault,         ///< page not mapped or permission lacks: KFD memory event
    kApertureViolation,   ///< LDS or scratch aperture misuse
    kIllegalInstruction,  ///< not an instruction of this target
    kUnsupported,         ///< an instruction that vgpu refuses; `text` names it
    kTrapWithoutHandler,  ///< s_trap with no handler: the wave is halted and nobody is told
    kDeadlock,            ///< no wave of the dispatch can make progress
  } kind{};
  MemoryFault fault{};
  uint64_t pc = 0;
  uint32_t lane = 0;
  std::array<uint32_t, 3> workgroup{};
  uint32_t wave = 0;  ///< within the work-group
  std::string text;   ///< instruction in assembler text and the reason
};

/// Called by the engine from inside step(). Implemented by the GPU model.
class ShaderSink {
 public:
  virtual ~ShaderSink() = default;
  /// Wave error; the dispatch never completes (its queue is evicted by the driver for memory faults).
  virtual void on_wave_error(const Dispatch& dispatch, const WaveError& error) = 0;
  /// s_sendmsg MSG_INTERRUPT: `data` is M0[23:0]; becomes an SQ interrupt to the driver.
  virtual void on_shader_interrupt(const Dispatch& dispatch, uint32_t data, bool priv) = 0;
  /// The constant-rate GPU counter (same time base as packet timestamps and GET_CLOCK_COUNTERS.gpu).
  virtual uint64_t gpu_clock() = 0;
  /// The caches that loads, stores, atomics and instruction fetches must go through, or null: memory is coherent.
  /// Asked once, when an engine is made.
  virtual CacheModel* caches() { return nullptr; }
};

/// All shader cores of one GPU for one address space. Not thread safe: one thread calls (it may use workers inside).
/// Several dispatches run concurrently; waves are preempted by an instruction budget, so spin-waits make progress.
class ShaderEngine {
 public:
  using DispatchId = uint64_t;

  static std::unique_ptr<ShaderEngine> create(const GpuConfig& config, AddressSpace& memory, ShaderSink& sink);
  virtual ~ShaderEngine() = default;

  virtual DispatchId start(const Dispatch& dispatch) = 0;
  /// Runs up to about `budget` wave instructions over all running dispatches. Returns whether any wave progressed.
  virtual bool step(uint64_t budget) = 0;
  /// True when every wave of it ended (or it was killed); errors were reported through the sink before.
  virtual bool finished(DispatchId id) const = 0;
  /// Drops the waves of a dispatch (queue destroyed, or evicted after a fault).
  virtual void kill(DispatchId id) = 0;

  /// Takes the waves of a dispatch off the compute units, which are free for others then. They keep their state and
  /// their scratch, and go on, maybe on other compute units, after resume(). No effect on one that has ended.
  virtual void suspend(DispatchId id) = 0;
  virtual void resume(DispatchId id) = 0;
  /// Appends what a preemption saves of its waves: vector registers, scalar registers, and LDS with the first wave of a
  /// work-group. Returns how many waves these are.
  virtual uint32_t save(DispatchId id, std::vector<std::byte>& out) const = 0;

  // Cache maintenance, as the fences of packets ask. No effect on memory that no cache holds (strict mode: coherent).
  virtual void invalidate_l1(bool instruction, bool scalar, bool vector) = 0;
};

}  // namespace vgpu
