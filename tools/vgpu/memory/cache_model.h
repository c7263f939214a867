// Caches that are not coherent, for hostile mode: a fence or an invalidation that a program forgot gives stale data.
//
// Strict mode has no CacheModel at all (a null pointer), so it costs nothing there. With one, the shader cores send
// every load, store, atomic and instruction fetch through it. It models what a program can observe, not timing:
//
//  - Per compute unit: a vector, a scalar and an instruction cache of clean lines. A hit may be stale. Vector stores
//    write through. They are emptied only by invalidate_l1(), never by time alone (a full cache drops lines by the
//    seed).
//  - Per GPU: an L2. Stores stay in it as dirty bytes until write_back_l2() (or a full cache evicts them), so the
//    host, SDMA engines and other GPUs do not see them; loads may hit lines that those changed since.
//
// Which pages L2 may hold is their memory type (kfd facts 8.5): kRW and kNC are cached; kCC and kUC bypass L2, so they
// are always coherent with the host once an access left the compute unit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tools/vgpu/memory/address_space.h"

namespace vgpu {

class GpuConfig;

/// What the instruction's cache bits ask (GLC/SLC/DLC, SC0/SC1, NT): `bypass_l1` for a load that must miss the compute
/// unit's cache (agent scope and wider), `bypass_l2` for one that must see memory (system scope on fine-grained data).
struct CachePolicy {
  bool bypass_l1 = false;
  bool bypass_l2 = false;
};

/// Thread safe. Callers hold no ReadGuard of the address space: each call takes its own. All functions return false
/// with `fault` filled and nothing done when a byte is not accessible. Ranges may cross lines and mappings.
class CacheModel {
 public:
  enum class Client : uint8_t { kVector, kScalar, kInstruction };

  /// Null unless config.hostile.stale_caches.
  static std::unique_ptr<CacheModel> create(const GpuConfig& config, AddressSpace& memory);
  virtual ~CacheModel() = default;

  virtual bool load(Client client, uint32_t cu, uint64_t va, void* out, uint32_t size, CachePolicy policy,
                    MemoryFault& fault) = 0;
  virtual bool store(uint32_t cu, uint64_t va, const void* data, uint32_t size, CachePolicy policy,
                     MemoryFault& fault) = 0;
  /// `apply` gets the current `size` (4 or 8) bytes in `value` and replaces them; `old` receives what was there. It is
  /// done at L2, or on memory with a compare-and-swap for pages that L2 does not hold; `apply` may then run again.
  virtual bool atomic(uint32_t cu, uint64_t va, uint32_t size, const std::function<uint64_t(uint64_t)>& apply,
                      uint64_t& old, MemoryFault& fault) = 0;

  /// `cu` below 0: all of them (a packet's acquire); else one (buffer_wbinvl1, buffer_gl0_inv, s_dcache_inv ...).
  virtual void invalidate_l1(int32_t cu, bool vector, bool scalar, bool instruction) = 0;
  virtual void write_back_l2() = 0;
  /// Clean bytes are forgotten. Dirty ones are neither lost nor written back: an acquire is no release.
  virtual void invalidate_l2() = 0;
};

}  // namespace vgpu
