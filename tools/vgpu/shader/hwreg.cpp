#include "tools/vgpu/shader/hwreg.h"

#include <algorithm>

#include "tools/vgpu/isa/inst.h"
#include "tools/vgpu/shader/cu_place.h"
#include "tools/vgpu/shader/scalar_operand.h"
#include "tools/vgpu/shader/work_group.h"

namespace vgpu {
namespace {

// Numbers as in LLVM's SIDefines (Hwreg ids).
enum HwReg : uint32_t {
  kMode = 1,
  kStatus = 2,
  kTrapSts = 3,
  kHwId = 4,
  kGprAlloc = 5,
  kLdsAlloc = 6,
  kIbSts = 7,
  kShMemBases = 15,
  kTbaLo = 16,
  kTbaHi = 17,
  kTmaLo = 18,
  kTmaHi = 19,
  kFlatScratchLo11 = 20,
  kFlatScratchHi11 = 21,
  kXccId = 20,
  kHwId1 = 23,
  kHwId2 = 24,
  kShaderCycles = 29,
};

// A wave's place is made of its compute unit; which SIMD and slot of it is only a number to tell waves apart.
struct Place {
  explicit Place(const Wave& wave) {
    place = cu_place(wave.group->host->config(), wave.group->cu);
    simd = wave.index % wave.group->dispatch->target->simds_per_cu;
    slot = wave.index / wave.group->dispatch->target->simds_per_cu;
  }
  CuPlace place;
  uint32_t simd, slot;
};

uint32_t hw_id_gfx9(const Wave& wave) {
  const Place p(wave);
  return (p.slot & 15) | (p.simd & 3) << 4 | (p.place.unit & 15) << 8 | (p.place.array & 1) << 12 |
         (p.place.engine & 7) << 13;
}
uint32_t hw_id1_gfx11(const Wave& wave) {
  const Place p(wave);
  return (p.slot & 31) | ((p.simd | (p.place.unit & 1) << 1) & 3) << 8 | (p.place.unit >> 1 & 15) << 10 |
         (p.place.array & 1) << 16 | (p.place.engine & 7) << 18;
}

bool read_register(const Wave& w, uint32_t id, uint32_t& value) {
  const DispatchState& d = *w.group->dispatch;
  const bool gfx11 = d.target->gfx11;
  switch (id) {
    case kMode: value = w.mode; return true;
    case kStatus: value = wave_status(w); return true;
    case kTrapSts: value = w.trap_status; return true;
    case kHwId: value = hw_id_gfx9(w); return !gfx11;
    case kGprAlloc: value = (w.vgpr_count / 4) << 8; return true;
    case kLdsAlloc: value = (w.lds_bytes / 512) << 12; return true;
    case kIbSts: value = 0; return true;
    case kShMemBases:
      value = static_cast<uint32_t>(w.s64(kPrivateBase) >> 48) | static_cast<uint32_t>(w.s64(kSharedBase) >> 48) << 16;
      return true;
    case kTbaLo:
    case kTbaHi:
    case kTmaLo:
    case kTmaHi: {
      if (gfx11) return false;
      const uint64_t address = id < kTmaLo ? d.dispatch.trap_tba : d.dispatch.trap_tma;
      value = static_cast<uint32_t>((id & 1) != 0 ? address >> 32 : address);
      return true;
    }
    case kFlatScratchLo11:
      if (!gfx11 && d.target->gfx != "gfx942") return false;
      value =
          gfx11 ? static_cast<uint32_t>(w.flat_scratch) : w.group->cu % std::max(w.group->host->config().num_xcc, 1u);
      return true;
    case kFlatScratchHi11: value = static_cast<uint32_t>(w.flat_scratch >> 32); return gfx11;
    case kHwId1: value = hw_id1_gfx11(w); return gfx11;
    case kHwId2: value = (d.dispatch.queue_id & 15) | (w.group->cu & 31) << 16; return gfx11;
    case kShaderCycles: value = static_cast<uint32_t>(w.group->host->cycles()) & 0xfffff; return gfx11;
    default: return false;
  }
}

bool write_register(Wave& w, uint32_t id, uint32_t value) {
  switch (id) {
    case kMode: w.mode = value; return true;
    case kStatus:
      if (!w.priv) return true;  // ignored outside the trap handler
      w.set_scc((value & Status::kScc) != 0);
      w.halt = (value & Status::kHalt) != 0;
      return true;
    case kTrapSts: w.trap_status = value; return true;
    case kIbSts: return true;
    case kFlatScratchLo11:
      w.flat_scratch = (w.flat_scratch & ~0xffffffffull) | value;
      return w.group->dispatch->target->gfx11;
    case kFlatScratchHi11:
      w.flat_scratch = (w.flat_scratch & 0xffffffffull) | uint64_t{value} << 32;
      return w.group->dispatch->target->gfx11;
    default: return false;
  }
}

// simm16: register [5:0], first bit [10:6], bits - 1 [15:11].
struct Field {
  explicit Field(const Inst& inst)
      : id(static_cast<uint32_t>(inst.imm) & 63),
        offset(static_cast<uint32_t>(inst.imm) >> 6 & 31),
        bits((static_cast<uint32_t>(inst.imm) >> 11 & 31) + 1) {}
  uint32_t mask() const { return static_cast<uint32_t>((1ull << bits) - 1); }
  uint32_t id, offset, bits;
};

void refuse(Wave& wave, uint32_t id) {
  wave.raise(WaveError::Kind::kUnsupported, "hardware register " + std::to_string(id) + " is not modelled");
}

void set_field(Wave& wave, const Inst& inst, uint32_t bits) {
  const Field field(inst);
  uint32_t old;
  if (!read_register(wave, field.id, old)) return refuse(wave, field.id);
  const uint32_t mask = field.mask() << field.offset;
  if (!write_register(wave, field.id, (old & ~mask) | (bits << field.offset & mask))) refuse(wave, field.id);
}

}  // namespace

uint32_t wave_status(const Wave& w) {
  const Dispatch& d = w.group->dispatch->dispatch;
  return w.scc() | (w.priv ? Status::kPriv : 0) | (d.trap_tba ? Status::kTrapEnabled : 0) |
         (w.exec() == 0 ? Status::kExecz : 0) | (w.vcc() == 0 ? Status::kVccz : 0) |
         (w.group->waves.size() > 1 ? Status::kInGroup : 0) | (w.halt ? Status::kHalt : 0) | Status::kValid;
}

void exec_getreg(Wave& w, const Inst& i) {
  const Field field(i);
  uint32_t value = 0;
  if (!read_register(w, field.id, value)) return refuse(w, field.id);
  w.s[i.dst[0].index] = (value >> field.offset) & field.mask();
}

void exec_setreg(Wave& w, const Inst& i) { set_field(w, i, scalar<uint32_t>(w, i.src[0])); }
void exec_setreg_imm32(Wave& w, const Inst& i) { set_field(w, i, i.literal); }

}  // namespace vgpu
