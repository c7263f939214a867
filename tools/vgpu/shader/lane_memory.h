// One lane's access to global memory, LDS or scratch.
//
// Scratch of a wave is interleaved by dwords: byte o of lane l lies at base + (o / 4) * 4 * lanes + l * 4 + o
// % 4 (facts on queues, scratch), so an access wider than a dword is split, each dword on its own. Loads and
// stores of naturally aligned dwords and qwords are single host accesses; atomics are host atomics, except in
// LDS, which one thread alone reaches.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "tools/vgpu/isa/inst.h"
#include "tools/vgpu/memory/cache_model.h"
#include "tools/vgpu/shader/memory_port.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {

enum class Space : uint8_t { kGlobal, kLds, kScratch };

/// Row k of a data or address operand.
inline uint32_t* operand_row(Wave& w, const Operand& o, uint32_t k = 0) {
  return w.v + (size_t{o.index} + k + (o.kind == Operand::Kind::kAgpr ? w.acc_base : 0)) * 64;
}

/// Calls fn(lane) for each set bit, lowest first; stops when the wave no longer runs (a lane faulted).
template <class Fn>
inline void for_lanes(const Wave& w, uint64_t mask, Fn fn) {
  while (mask != 0 && w.state == WaveState::kRunning) {
    fn(static_cast<uint32_t>(__builtin_ctzll(mask)));
    mask &= mask - 1;
  }
}

/// Copies the dwords of active lanes between a register row and memory, `stride` bytes from lane to lane.
inline void masked_copy_in(uint32_t* row, const std::byte* from, uint64_t exec, uint32_t stride) {
  if (exec == ~0ull && stride == 4) {
    std::memcpy(row, from, 256);
    return;
  }
  for (uint64_t left = exec; left != 0; left &= left - 1) {
    const int lane = __builtin_ctzll(left);
    std::memcpy(row + lane, from + lane * static_cast<int>(stride), 4);
  }
}
inline void masked_copy_out(std::byte* to, const uint32_t* row, uint64_t exec, uint32_t stride) {
  if (exec == ~0ull && stride == 4) {
    std::memcpy(to, row, 256);
    return;
  }
  for (uint64_t left = exec; left != 0; left &= left - 1) {
    const int lane = __builtin_ctzll(left);
    std::memcpy(to + lane * static_cast<int>(stride), row + lane, 4);
  }
}

/// Base of the wave's scratch: FLAT_SCRATCH, a pair of scalar registers on gfx9 and a hardware register on gfx11.
inline uint64_t scratch_base(const Wave& w) {
  return w.group->dispatch->target->gfx11 ? w.flat_scratch : w.s64(kFlatScratchLo);
}

CachePolicy cache_policy(const Wave& w, const Inst& i);

// The slow side: cache model, scratch, page borders, faults. They raise on failure.
bool load_global_slow(Wave& w, const Inst& i, uint32_t lane, uint64_t va, void* out, uint32_t size);
bool store_global_slow(Wave& w, const Inst& i, uint32_t lane, uint64_t va, const void* data, uint32_t size);
bool load_scratch(Wave& w, uint32_t lane, uint32_t offset, void* out, uint32_t size);
bool store_scratch(Wave& w, uint32_t lane, uint32_t offset, const void* data, uint32_t size);
/// Host address of bytes [offset, offset + size) of a lane's scratch, all in one dword. Null after raising.
std::byte* scratch_bytes(Wave& w, uint32_t lane, uint32_t offset, uint32_t size, Access access);
/// Which space a flat address is in; `address` becomes the offset for LDS and scratch.
Space flat_space(const Wave& w, uint64_t& address);

template <uint32_t kSize>
inline bool load_global(Wave& w, const Inst& i, uint32_t lane, uint64_t va, void* out) {
  MemoryFault fault;
  if (w.memory->caches() == nullptr) {
    if (const std::byte* from = w.memory->translate(va, kSize, Access::kRead, fault)) {
      std::memcpy(out, from, kSize);
      return true;
    }
  }
  return load_global_slow(w, i, lane, va, out, kSize);
}

template <uint32_t kSize>
inline bool store_global(Wave& w, const Inst& i, uint32_t lane, uint64_t va, const void* data) {
  MemoryFault fault;
  if (w.memory->caches() == nullptr) {
    if (std::byte* to = w.memory->translate(va, kSize, Access::kWrite, fault)) {
      std::memcpy(to, data, kSize);
      return true;
    }
  }
  return store_global_slow(w, i, lane, va, data, kSize);
}

/// LDS as DS instructions see it: outside of the allocation reads 0 and drops writes.
template <uint32_t kSize>
inline void load_lds(const Wave& w, uint32_t offset, void* out) {
  if (offset <= w.lds_bytes && kSize <= w.lds_bytes - offset)
    std::memcpy(out, w.lds + offset, kSize);
  else
    std::memset(out, 0, kSize);
}
template <uint32_t kSize>
inline void store_lds(Wave& w, uint32_t offset, const void* data) {
  if (offset <= w.lds_bytes && kSize <= w.lds_bytes - offset) std::memcpy(w.lds + offset, data, kSize);
}

void raise_misaligned(Wave& w, uint32_t lane, uint64_t address);
void raise_outside_lds(Wave& w, uint32_t lane, uint64_t offset);

template <class Operation>
inline bool atomic_global(Wave& w, uint32_t lane, uint64_t va, const typename Operation::T* data,
                          typename Operation::T& old) {
  using T = typename Operation::T;
  if ((va & (sizeof(T) - 1)) != 0) {
    raise_misaligned(w, lane, va);
    return false;
  }
  MemoryFault fault;
  if (CacheModel* caches = w.memory->caches()) {
    uint64_t previous = 0;
    const auto apply = [data](uint64_t value) {
      return static_cast<uint64_t>(Operation()(static_cast<T>(value), data));
    };
    if (!caches->atomic(w.group->cu, va, sizeof(T), apply, previous, fault)) {
      w.raise_fault(fault, lane);
      return false;
    }
    old = static_cast<T>(previous);
    return true;
  }
  std::byte* bytes = w.memory->translate(va, sizeof(T), Access::kWrite, fault);
  if (!bytes) {
    w.raise_fault(fault, lane);
    return false;
  }
  if (w.memory->loses_atomics(va)) {
    std::memset(&old, 0xff, sizeof old);  // what a read that nobody answers returns
    return true;
  }
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(bytes));
  old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, Operation()(old, data))) {
  }
  return true;
}

template <class Operation>
inline bool atomic_lds(Wave& w, uint32_t offset, const typename Operation::T* data, typename Operation::T& old) {
  using T = typename Operation::T;
  old = 0;
  if (offset > w.lds_bytes || sizeof(T) > w.lds_bytes - offset) return false;
  std::memcpy(&old, w.lds + offset, sizeof old);
  const T next = Operation()(old, data);
  std::memcpy(w.lds + offset, &next, sizeof next);
  return true;
}

template <class Operation>
inline bool atomic_scratch(Wave& w, uint32_t lane, uint32_t offset, const typename Operation::T* data,
                           typename Operation::T& old) {
  using T = typename Operation::T;
  if (!load_scratch(w, lane, offset, &old, sizeof old)) return false;
  const T next = Operation()(old, data);
  return store_scratch(w, lane, offset, &next, sizeof next);
}

}  // namespace vgpu
