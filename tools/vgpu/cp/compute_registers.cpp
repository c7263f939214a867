#include "tools/vgpu/cp/compute_registers.h"

#include <algorithm>

#include "pm4/pm4.h"
#include "pm4/registers.h"
#include "tools/vgpu/cp/text.h"

namespace vgpu {
namespace {

namespace reg = barehip::pm4::reg;
namespace initiator_bits = barehip::pm4::initiator;
using Use = ComputeRegisters::Use;
using Row = ComputeRegisters::Row;

constexpr uint8_t k9 = ComputeRegisters::kGfx9, k9u = ComputeRegisters::kUnified, k11 = ComputeRegisters::kGfx11;
constexpr uint8_t kAll = k9 | k9u | k11;

// clang-format off
constexpr Row kRows[] = {
    {0x200,  1, "COMPUTE_DISPATCH_INITIATOR",        Use::kNoEffect, kAll},  // DISPATCH_* writes it and starts
    {0x201,  3, "COMPUTE_DIM_X",                     Use::kNoEffect, kAll},
    {0x204,  3, "COMPUTE_START_X",                   Use::kDispatch, kAll},
    {0x207,  3, "COMPUTE_NUM_THREAD_X",              Use::kDispatch, kAll},
    {0x20a,  1, "COMPUTE_PIPELINESTAT_ENABLE",       Use::kNoEffect, kAll},
    {0x20b,  1, "COMPUTE_PERFCOUNT_ENABLE",          Use::kZeroOnly, kAll},
    {0x20c,  2, "COMPUTE_PGM_LO",                    Use::kDispatch, kAll},
    {0x20e,  2, "COMPUTE_DISPATCH_PKT_ADDR_LO",      Use::kNoEffect, kAll},
    {0x210,  2, "COMPUTE_DISPATCH_SCRATCH_BASE_LO",  Use::kDispatch, kAll},
    {0x212,  2, "COMPUTE_PGM_RSRC1",                 Use::kDispatch, kAll},
    {0x214,  1, "COMPUTE_VMID",                      Use::kDriver,   kAll},
    {0x215,  1, "COMPUTE_RESOURCE_LIMITS",           Use::kNoEffect, kAll},
    {0x216,  2, "COMPUTE_STATIC_THREAD_MGMT_SE0",    Use::kDispatch, kAll},
    {0x218,  1, "COMPUTE_TMPRING_SIZE",              Use::kDispatch, kAll},
    {0x219,  2, "COMPUTE_STATIC_THREAD_MGMT_SE2",    Use::kDispatch, kAll},
    {0x21b,  3, "COMPUTE_RESTART_X",                 Use::kZeroOnly, kAll},
    {0x21e,  1, "COMPUTE_THREAD_TRACE_ENABLE",       Use::kZeroOnly, kAll},
    {0x21f,  1, "COMPUTE_MISC_RESERVED",             Use::kDriver,   kAll},
    {0x220,  1, "COMPUTE_DISPATCH_ID",               Use::kNoEffect, kAll},
    {0x221,  1, "COMPUTE_THREADGROUP_ID",            Use::kNoEffect, kAll},
    {0x222,  1, "COMPUTE_RELAUNCH",                  Use::kDriver,   k9 | k9u},
    {0x222,  1, "COMPUTE_REQ_CTRL",                  Use::kNoEffect, k11},
    {0x223,  2, "COMPUTE_WAVE_RESTORE_ADDR_LO",      Use::kDriver,   k9 | k9u},
    {0x224,  4, "COMPUTE_USER_ACCUM_0",              Use::kNoEffect, k11},
    {0x225,  4, "COMPUTE_STATIC_THREAD_MGMT_SE4",    Use::kDispatch, k9 | k9u},
    {0x228,  1, "COMPUTE_PGM_RSRC3",                 Use::kDispatch, k11},
    {0x229,  1, "COMPUTE_DDID_INDEX",                Use::kNoEffect, k11},
    {0x22a,  1, "COMPUTE_SHADER_CHKSUM",             Use::kNoEffect, k11},
    {0x22b,  4, "COMPUTE_STATIC_THREAD_MGMT_SE4",    Use::kDispatch, k11},
    {0x22c,  1, "COMPUTE_SHADER_CHKSUM",             Use::kNoEffect, k9u},
    {0x22d,  1, "COMPUTE_PGM_RSRC3",                 Use::kDispatch, k9u},
    {0x22f,  1, "COMPUTE_DISPATCH_INTERLEAVE",       Use::kNoEffect, k11},
    {0x230,  1, "COMPUTE_RELAUNCH",                  Use::kDriver,   k11},
    {0x231,  2, "COMPUTE_WAVE_RESTORE_ADDR_LO",      Use::kDriver,   k11},
    {0x233,  1, "COMPUTE_RELAUNCH2",                 Use::kDriver,   k11},
    {0x240, 16, "COMPUTE_USER_DATA_0",               Use::kDispatch, kAll},
    {0x27d,  1, "COMPUTE_DISPATCH_TUNNEL",           Use::kZeroOnly, k11},
};
// clang-format on

uint8_t target_bit(const GpuContext& gpu) {
  if (gpu.caps.has(barehip::pm4::Cap::kGcr)) return k11;
  return gpu.target.unified_vgprs ? k9u : k9;
}

const Row* find_row(uint8_t target, uint32_t offset) {
  const auto* row = std::ranges::find_if(
      kRows, [=](const Row& r) { return (r.targets & target) && offset - r.offset < r.count && offset >= r.offset; });
  return row == std::end(kRows) ? nullptr : row;
}

std::string name_of(const Row* row, uint32_t offset) {
  const uint32_t absolute = barehip::pm4::kShRegBase + offset;
  std::string text = "register " + hex(absolute);
  if (row) {
    text += std::string(" (") + row->name;
    if (offset != row->offset) text += " + " + std::to_string(offset - row->offset);
    text += ")";
  }
  return text;
}

/// COMPUTE_STATIC_THREAD_MGMT_SE0 to SE7.
std::array<uint16_t, 8> engine_cus(uint8_t target) {
  if (target == k11) return {0x216, 0x217, 0x219, 0x21a, 0x22b, 0x22c, 0x22d, 0x22e};
  return {0x216, 0x217, 0x219, 0x21a, 0x225, 0x226, 0x227, 0x228};
}

constexpr uint32_t kLdsUnit = 512;     // of COMPUTE_PGM_RSRC2.LDS_SIZE, bytes
constexpr uint32_t kPgmHiBits = 0xff;  // what the register holds of what is written
constexpr uint32_t kMaxWorkGroup = 1024;
constexpr uint32_t kKnownInitiator = initiator_bits::kShaderEnable | initiator_bits::kPartialGroups |
                                     initiator_bits::kForceStartAtZero | initiator_bits::kUseThreadDimensions |
                                     initiator_bits::kOrderMode | initiator_bits::kScalarInvalidate |
                                     initiator_bits::kVectorInvalidate | initiator_bits::kReserved12;

}  // namespace

std::span<const Row> ComputeRegisters::table() { return kRows; }

ComputeRegisters::ComputeRegisters(const GpuContext& gpu) : target_(target_bit(gpu)) { set_cus(kAllCus); }

void ComputeRegisters::set_cus(const CuMask& cus) {
  const auto registers = engine_cus(target_);
  for (size_t i = 0; i < registers.size(); ++i) values_[registers[i] - kFirst] = cus[i];
}

std::optional<std::string> ComputeRegisters::write(uint32_t offset, uint32_t value) {
  const Row* row = find_row(target_, offset);
  if (!row) return name_of(row, offset) + ": SET_SH_REG knows no compute register there";
  if (row->use == Use::kDriver) return name_of(row, offset) + ": only the driver writes it";
  if (row->use == Use::kZeroOnly && value != 0) {
    return name_of(row, offset) + " = " + hex(value) + ": this model does only what 0 asks for";
  }
  values_[offset - kFirst] = value;
  return std::nullopt;
}

uint64_t ComputeRegisters::pair(uint16_t low) const {
  return (*this)[low] | uint64_t{(*this)[static_cast<uint16_t>(low + 1)] & kPgmHiBits} << 32;
}

std::variant<Dispatch, std::string> ComputeRegisters::dispatch(const GpuContext& gpu,
                                                               const std::array<uint32_t, 3>& dims, uint32_t initiator,
                                                               const Pm4Origin& origin) const {
  const auto& self = *this;
  const bool can_choose_wave = gpu.caps.has(barehip::pm4::Cap::kDispatchWave32);
  const uint32_t known = kKnownInitiator | (can_choose_wave ? initiator_bits::kWave32 : 0);
  if (initiator & ~known) return "COMPUTE_DISPATCH_INITIATOR with bits " + hex(initiator & ~known);
  if (!(initiator & initiator_bits::kShaderEnable)) return "COMPUTE_DISPATCH_INITIATOR without COMPUTE_SHADER_EN";

  Dispatch out;
  for (unsigned d = 0; d < 3; ++d) {
    const uint32_t threads = self[static_cast<uint16_t>(reg::kNumThreadX + d)];
    const uint32_t full = threads & 0xffff, partial = threads >> 16;
    const uint32_t start =
        initiator & initiator_bits::kForceStartAtZero ? 0 : self[static_cast<uint16_t>(reg::kStartX + d)];
    if (full == 0) return "COMPUTE_NUM_THREAD is 0";
    uint64_t items = initiator & initiator_bits::kUseThreadDimensions ? dims[d] : uint64_t{dims[d]} * full;
    // The dimension counts from 0, also when groups start later.
    const uint64_t before = uint64_t{start} * full;
    if (items <= before)
      return "no work-groups: a dimension of " + std::to_string(dims[d]) + " that starts at " + std::to_string(start);
    items -= before;
    if ((initiator & initiator_bits::kPartialGroups) && partial != 0) {
      if (partial > full) return "COMPUTE_NUM_THREAD: a partial group larger than a full one";
      if (!(initiator & initiator_bits::kUseThreadDimensions)) items -= full - partial;
    }
    if (items > ~0u) return "more than 2^32 work-items in a dimension";
    out.grid[d] = static_cast<uint32_t>(items);
    out.group[d] = full;
    out.first_group[d] = start;
  }
  const uint64_t group = uint64_t{out.group[0]} * out.group[1] * out.group[2];
  if (group > kMaxWorkGroup) return "a work-group of " + std::to_string(group) + " work-items; 1024 is the limit";

  out.code_va = pair(reg::kPgmLo) << 8;
  out.rsrc1 = self[reg::kPgmRsrc1];
  out.rsrc2 = self[reg::kPgmRsrc2];
  if (target_ == k11) out.rsrc3 = self[reg::kPgmRsrc3Gfx11];
  if (target_ == k9u) out.rsrc3 = self[reg::kPgmRsrc3Gfx90a];
  const auto masks = engine_cus(target_);
  for (size_t i = 0; i < masks.size(); ++i) out.cus[i] = self[masks[i]];
  out.wave32 = (initiator & initiator_bits::kWave32) != 0;
  out.lds_bytes = (out.rsrc2 >> 15 & 0x1ff) * kLdsUnit;
  if (out.lds_bytes > std::min(gpu.target.lds_bytes, gpu.config.lds_bytes_per_cu)) {
    return "COMPUTE_PGM_RSRC2: " + std::to_string(out.lds_bytes) + " bytes of LDS for one work-group";
  }
  for (uint16_t i = 0; i < reg::kUserDataCount; ++i)
    out.user_sgprs[i] = self[static_cast<uint16_t>(reg::kUserData0 + i)];
  if (out.rsrc2 & 1) {
    const auto format = barehip::pm4::tmpring_format(gpu.caps);
    const uint32_t tmpring = self[reg::kTmpringSize];
    out.scratch_base = pair(reg::kScratchBaseLo) << 8;
    // Elsewhere the program's own registers say where it is, and this only tells one queue's waves from another's.
    if (out.scratch_base == 0 && !gpu.target.architected_flat_scratch) out.scratch_base = origin.queue_id + 1;
    out.scratch_wave_bytes = barehip::pm4::tmpring_wave_bytes(tmpring, format);
    out.scratch_waves = barehip::pm4::tmpring_waves(tmpring) *
                        (format.waves_per_shader_engine ? gpu.config.shader_engines : gpu.config.num_xcc);
  }
  out.trap_tba = gpu.trap_tba;
  out.trap_tma = gpu.trap_tma;
  out.doorbell_id = origin.doorbell_id;
  out.queue_id = origin.queue_id;
  out.dispatch_index = origin.dispatch_index;
  return out;
}

}  // namespace vgpu
