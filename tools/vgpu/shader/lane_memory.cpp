#include "tools/vgpu/shader/lane_memory.h"

#include <algorithm>
#include <cstdio>

namespace vgpu {

// Scope bits of loads: gfx9 GLC misses the compute unit's cache; on gfx942 SC0 and SC1 together ask for system scope;
// gfx11 GLC misses L0 (and DLC the cache behind it).
CachePolicy cache_policy(const Wave& w, const Inst& i) {
  const bool gfx942 = w.group->dispatch->target->gfx == "gfx942";
  return {.bypass_l1 = i.glc || i.dlc, .bypass_l2 = gfx942 && i.glc && i.dlc};
}

bool load_global_slow(Wave& w, const Inst& i, uint32_t lane, uint64_t va, void* out, uint32_t size) {
  MemoryFault fault;
  CacheModel* caches = w.memory->caches();
  const bool done =
      caches ? caches->load(CacheModel::Client::kVector, w.group->cu, va, out, size, cache_policy(w, i), fault)
             : w.memory->load(va, out, size, Access::kRead, fault);
  if (!done) w.raise_fault(fault, lane);
  return done;
}

bool store_global_slow(Wave& w, const Inst& i, uint32_t lane, uint64_t va, const void* data, uint32_t size) {
  MemoryFault fault;
  CacheModel* caches = w.memory->caches();
  const bool done = caches ? caches->store(w.group->cu, va, data, size, cache_policy(w, i), fault)
                           : w.memory->store(va, data, size, fault);
  if (!done) w.raise_fault(fault, lane);
  return done;
}

std::byte* scratch_bytes(Wave& w, uint32_t lane, uint32_t offset, uint32_t size, Access access) {
  const uint32_t lanes = w.lanes();
  const uint32_t lane_bytes = w.group->dispatch->dispatch.scratch_wave_bytes / lanes;
  if (offset >= lane_bytes) {
    w.raise(WaveError::Kind::kApertureViolation,
            "scratch offset " + std::to_string(offset) + " of " + std::to_string(lane_bytes) + " bytes per lane");
    w.error.lane = lane;
    return nullptr;
  }
  const uint64_t va = scratch_base(w) + uint64_t{offset / 4} * 4 * lanes + lane * 4 + offset % 4;
  MemoryFault fault;
  std::byte* bytes = w.memory->translate(va, size, access, fault);
  if (!bytes) w.raise_fault(fault, lane);
  return bytes;
}

bool load_scratch(Wave& w, uint32_t lane, uint32_t offset, void* out, uint32_t size) {
  auto* to = static_cast<std::byte*>(out);
  while (size != 0) {
    const uint32_t part = std::min(size, 4 - offset % 4);
    const std::byte* from = scratch_bytes(w, lane, offset, part, Access::kRead);
    if (!from) return false;
    std::memcpy(to, from, part);
    to += part;
    offset += part;
    size -= part;
  }
  return true;
}

bool store_scratch(Wave& w, uint32_t lane, uint32_t offset, const void* data, uint32_t size) {
  auto* from = static_cast<const std::byte*>(data);
  while (size != 0) {
    const uint32_t part = std::min(size, 4 - offset % 4);
    std::byte* to = scratch_bytes(w, lane, offset, part, Access::kWrite);
    if (!to) return false;
    std::memcpy(to, from, part);
    from += part;
    offset += part;
    size -= part;
  }
  return true;
}

Space flat_space(const Wave& w, uint64_t& address) {
  const uint32_t high = static_cast<uint32_t>(address >> 32);
  if (high != 0 && high == w.s[kSharedBase + 1]) {
    address &= 0xffffffffu;
    return Space::kLds;
  }
  if (high != 0 && high == w.s[kPrivateBase + 1]) {
    address &= 0xffffffffu;
    return Space::kScratch;
  }
  return Space::kGlobal;
}

void raise_misaligned(Wave& w, uint32_t lane, uint64_t address) {
  char text[64];
  std::snprintf(text, sizeof text, "atomic on the unaligned address %#llx", static_cast<unsigned long long>(address));
  w.raise(WaveError::Kind::kApertureViolation, text);
  w.error.lane = lane;
}

void raise_outside_lds(Wave& w, uint32_t lane, uint64_t offset) {
  w.raise(WaveError::Kind::kApertureViolation,
          "flat access to LDS byte " + std::to_string(offset) + " of " + std::to_string(w.lds_bytes));
  w.error.lane = lane;
}

}  // namespace vgpu
