// How the command processor and the SDMA engines reach memory: through the process's GPU page table, with faults.
//
// Every call takes its own ReadGuard, so none may be made while the shader cores run under one on this thread and none
// blocks an unmap for longer than one copy. Values that host threads also touch (headers, signals, write indices) are
// read and written with real host atomics.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <utility>

#include "tools/vgpu/memory/address_space.h"

namespace vgpu {

template <class T>
using MemResult = std::expected<T, MemoryFault>;

class GpuMemory {
 public:
  explicit GpuMemory(const AddressSpace& space) : space_(space) {}

  /// Plain copies; ranges may cross mappings. On a fault nothing before the faulting mapping is undone, as on hardware.
  MemResult<void> read(uint64_t va, void* out, uint64_t bytes);
  MemResult<void> write(uint64_t va, const void* data, uint64_t bytes);
  /// Like memmove when the ranges overlap within one mapping; SDMA does not promise more.
  MemResult<void> copy(uint64_t dst, uint64_t src, uint64_t bytes);
  /// Repeats the low `unit` bytes (1, 2 or 4) of `pattern` over [dst, dst + bytes).
  MemResult<void> fill(uint64_t dst, uint32_t pattern, uint32_t unit, uint64_t bytes);

  /// Single values, atomic when naturally aligned (what is not aligned is copied bytewise). Acquire and release.
  template <std::integral T>
  MemResult<T> load(uint64_t va);
  template <std::integral T>
  MemResult<void> store(uint64_t va, T value);

  /// Atomic read-modify-write with a host compare-and-swap, sequentially consistent; low address bits are dropped as
  /// hardware does. `next` may run more than once. Returns the old value.
  MemResult<uint64_t> update64(uint64_t va, const std::function<uint64_t(uint64_t)>& next);
  MemResult<uint32_t> update32(uint64_t va, const std::function<uint32_t(uint32_t)>& next);

  /// The mapping of `va`, or the fault that an access to it raises.
  MemResult<Mapping> mapping(uint64_t va, Access access);

 private:
  /// Host address of va and how many bytes from there lie in the same mapping. Needs a ReadGuard.
  struct Span {
    std::byte* host;
    uint64_t bytes;
  };
  MemResult<Span> span(uint64_t va, Access access);
  template <class T, class F>
  auto on_host(uint64_t va, Access access, F operation) -> MemResult<decltype(operation(std::declval<T*>()))>;

  const AddressSpace& space_;
  uint64_t generation_ = ~0ull;
  uint32_t next_entry_ = 0;
  std::array<Mapping, 8> recent_{};  ///< a TLB of whole mappings, filled round robin
};

}  // namespace vgpu
