// Scalar memory: loads and stores of SGPRs, scalar buffers, clocks, scalar cache maintenance.
#include "tools/vgpu/shader/atomic_ops.h"
#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/lane_memory.h"
#include "tools/vgpu/shader/scalar_operand.h"

namespace vgpu {
namespace {

// Scalar accesses are dword-aligned: the low two address bits are ignored.
uint64_t scalar_offset(const Wave& w, const Inst& i) {
  const uint64_t soffset = i.src[1] ? scalar<uint32_t>(w, i.src[1]) : 0;
  return soffset + static_cast<uint64_t>(static_cast<int64_t>(i.imm));
}

bool load_scalar(Wave& w, uint64_t va, uint32_t* out, uint32_t dwords) {
  MemoryFault fault;
  if (CacheModel* caches = w.memory->caches()) {
    if (caches->load(CacheModel::Client::kScalar, w.group->cu, va, out, dwords * 4, {}, fault)) return true;
  } else if (const std::byte* from = w.memory->translate(va, dwords * 4, Access::kRead, fault)) {
    std::memcpy(out, from, dwords * 4);
    return true;
  } else if (w.memory->load(va, out, dwords * 4, Access::kRead, fault)) {
    return true;
  }
  w.raise_fault(fault, 0);
  return false;
}

bool store_scalar(Wave& w, uint64_t va, const uint32_t* data, uint32_t dwords) {
  MemoryFault fault;
  CacheModel* caches = w.memory->caches();
  const bool done = caches ? caches->store(w.group->cu, va, data, dwords * 4, {}, fault)
                           : w.memory->store(va, data, dwords * 4, fault);
  if (!done) w.raise_fault(fault, 0);
  return done;
}

template <uint32_t kDwords>
void load(Wave& w, const Inst& i) {
  const uint64_t va = (scalar<uint64_t>(w, i.src[0]) + scalar_offset(w, i)) & ~3ull;
  uint32_t value[kDwords];
  if (!load_scalar(w, va, value, kDwords)) return;
  std::memcpy(&w.s[i.dst[0].index], value, sizeof value);
}

template <uint32_t kDwords>
void store(Wave& w, const Inst& i) {
  const uint64_t va = (scalar<uint64_t>(w, i.src[0]) + scalar_offset(w, i)) & ~3ull;
  uint32_t value[kDwords];
  std::memcpy(value, &w.s[i.src[2].index], sizeof value);
  store_scalar(w, va, value, kDwords);
}

// V#: base 48 bits, stride 14 bits, number of records (of stride bytes when there is a stride).
struct ScalarBuffer {
  ScalarBuffer(const Wave& w, const Inst& i) {
    const uint32_t* words = &w.s[i.src[0].index];
    base = words[0] | uint64_t{words[1] & 0xffff} << 32;
    const uint64_t stride = words[1] >> 16 & 0x3fff;
    bytes = stride ? stride * words[2] : words[2];
  }
  uint64_t base, bytes;
};

template <uint32_t kDwords>
void buffer_load(Wave& w, const Inst& i) {
  const ScalarBuffer buffer(w, i);
  const uint64_t offset = scalar_offset(w, i) & ~3ull;
  uint32_t value[kDwords] = {};
  for (uint32_t k = 0; k < kDwords; ++k) {
    if (offset + k * 4 + 4 > buffer.bytes) continue;  // outside reads 0, dword by dword
    if (!load_scalar(w, (buffer.base & ~3ull) + offset + k * 4, &value[k], 1)) return;
  }
  std::memcpy(&w.s[i.dst[0].index], value, sizeof value);
}

template <uint32_t kDwords>
void buffer_store(Wave& w, const Inst& i) {
  const ScalarBuffer buffer(w, i);
  const uint64_t offset = scalar_offset(w, i) & ~3ull;
  for (uint32_t k = 0; k < kDwords; ++k) {
    if (offset + k * 4 + 4 > buffer.bytes) continue;
    if (!store_scalar(w, (buffer.base & ~3ull) + offset + k * 4, &w.s[i.src[2].index + k], 1)) return;
  }
}

// gfx9: dword k of this wave's scratch, without the lanes' interleaving.
template <uint32_t kDwords, bool kLoad>
void scratch(Wave& w, const Inst& i) {
  const uint64_t va = (scalar<uint64_t>(w, i.src[0]) + scalar_offset(w, i) * 64) & ~3ull;
  uint32_t value[kDwords];
  if (kLoad) {
    if (load_scalar(w, va, value, kDwords)) std::memcpy(&w.s[i.dst[0].index], value, sizeof value);
  } else {
    std::memcpy(value, &w.s[i.src[2].index], sizeof value);
    store_scalar(w, va, value, kDwords);
  }
}

// gfx9: one atomic of the whole wave; with GLC the old value comes back into the data's registers. ROCr's trap handler
// tells its queue's signal that way.
template <class Operation, uint32_t kOperands = 1>
void atomic(Wave& w, const Inst& i) {
  using T = typename Operation::T;
  const uint64_t va = (scalar<uint64_t>(w, i.src[0]) + scalar_offset(w, i)) & ~3ull;
  T data[2] = {};
  std::memcpy(data, &w.s[i.src[2].index], kOperands * sizeof(T));
  T old = 0;
  if (!atomic_global<Operation>(w, 0, va, data, old)) return;
  if (i.glc) std::memcpy(&w.s[i.dst[0].index], &old, sizeof old);
}

// Through a V#; outside of the buffer nothing happens and 0 comes back.
template <class Operation, uint32_t kOperands = 1>
void buffer_atomic(Wave& w, const Inst& i) {
  using T = typename Operation::T;
  const ScalarBuffer buffer(w, i);
  const uint64_t offset = scalar_offset(w, i) & ~3ull;
  T data[2] = {};
  std::memcpy(data, &w.s[i.src[2].index], kOperands * sizeof(T));
  T old = 0;
  const bool inside = offset + sizeof(T) <= buffer.bytes;
  if (inside && !atomic_global<Operation>(w, 0, (buffer.base & ~3ull) + offset, data, old)) return;
  if (i.glc) std::memcpy(&w.s[i.dst[0].index], &old, sizeof old);
}

void shader_time(Wave& w, const Inst& i) { set_scalar(w, i.dst[0], w.group->host->cycles()); }
void real_time(Wave& w, const Inst& i) { set_scalar(w, i.dst[0], w.group->host->gpu_clock()); }

void invalidate_scalar(Wave& w, const Inst&) {
  if (CacheModel* caches = w.memory->caches())
    caches->invalidate_l1(static_cast<int32_t>(w.group->cu), false, true, false);
}
void nothing(Wave&, const Inst&) {}  // scalar stores are written through at once; translations need no warming

namespace at = atomics;

// s_atomic_NAME and s_buffer_atomic_NAME, of 32 and 64 bits.
#define ATOMIC(name, fn, type)                                                                  \
  {"s_atomic_" name, atomic<fn<type##32_t>>}, {"s_atomic_" name "_x2", atomic<fn<type##64_t>>}, \
      {"s_buffer_atomic_" name, buffer_atomic<fn<type##32_t>>}, {                               \
    "s_buffer_atomic_" name "_x2", buffer_atomic<fn<type##64_t>>                                \
  }

constexpr ExecEntry kEntries[] = {
    {"s_load_b32", load<1>},
    {"s_load_b64", load<2>},
    {"s_load_b128", load<4>},
    {"s_load_b256", load<8>},
    {"s_load_b512", load<16>},
    {"s_store_b32", store<1>},
    {"s_store_b64", store<2>},
    {"s_store_b128", store<4>},
    {"s_buffer_load_b32", buffer_load<1>},
    {"s_buffer_load_b64", buffer_load<2>},
    {"s_buffer_load_b128", buffer_load<4>},
    {"s_buffer_load_b256", buffer_load<8>},
    {"s_buffer_load_b512", buffer_load<16>},
    {"s_buffer_store_b32", buffer_store<1>},
    {"s_buffer_store_b64", buffer_store<2>},
    {"s_buffer_store_b128", buffer_store<4>},
    {"s_scratch_load_b32", scratch<1, true>},
    {"s_scratch_load_b64", scratch<2, true>},
    {"s_scratch_load_b128", scratch<4, true>},
    {"s_scratch_store_b32", scratch<1, false>},
    {"s_scratch_store_b64", scratch<2, false>},
    {"s_scratch_store_b128", scratch<4, false>},
    ATOMIC("swap", at::Swap, uint),
    ATOMIC("add", at::Add, uint),
    ATOMIC("sub", at::Sub, uint),
    ATOMIC("smin", at::Min, int),
    ATOMIC("umin", at::Min, uint),
    ATOMIC("smax", at::Max, int),
    ATOMIC("umax", at::Max, uint),
    ATOMIC("and", at::And, uint),
    ATOMIC("or", at::Or, uint),
    ATOMIC("xor", at::Xor, uint),
    ATOMIC("inc", at::Increment, uint),
    ATOMIC("dec", at::Decrement, uint),
    {"s_atomic_cmpswap", atomic<at::CompareSwap<uint32_t>, 2>},
    {"s_atomic_cmpswap_x2", atomic<at::CompareSwap<uint64_t>, 2>},
    {"s_buffer_atomic_cmpswap", buffer_atomic<at::CompareSwap<uint32_t>, 2>},
    {"s_buffer_atomic_cmpswap_x2", buffer_atomic<at::CompareSwap<uint64_t>, 2>},
    {"s_memtime", shader_time},
    {"s_memrealtime", real_time},
    {"s_dcache_inv", invalidate_scalar},
    {"s_dcache_inv_vol", invalidate_scalar},
    {"s_gl1_inv", invalidate_scalar},
    {"s_dcache_wb", nothing},
    {"s_dcache_wb_vol", nothing},
    {"s_dcache_discard", nothing},
    {"s_dcache_discard_x2", nothing},
    {"s_atc_probe", nothing},
    {"s_atc_probe_buffer", nothing},
};

#undef ATOMIC

}  // namespace

std::span<const ExecEntry> smem_exec_entries() { return kEntries; }

}  // namespace vgpu
