#include "tools/vgpu/shader/launch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace vgpu {
namespace {

constexpr uint32_t bits(uint32_t value, uint32_t high, uint32_t low) {
  return (value >> low) & static_cast<uint32_t>((1ull << (high - low + 1)) - 1);
}

// Fields of COMPUTE_PGM_RSRC1..3 (LLVM AMDGPU user guide, kernel descriptor).
struct Rsrc {
  explicit Rsrc(const Dispatch& d)
      : vgprs(bits(d.rsrc1, 5, 0)),
        sgprs(bits(d.rsrc1, 9, 6)),
        float_mode(bits(d.rsrc1, 19, 12)),
        dx10_clamp(bits(d.rsrc1, 21, 21)),
        ieee(bits(d.rsrc1, 23, 23)),
        fp16_overflow(bits(d.rsrc1, 26, 26)),
        scratch(bits(d.rsrc2, 0, 0)),
        user_sgprs(bits(d.rsrc2, 5, 1)),
        group_id(bits(d.rsrc2, 9, 7)),
        group_info(bits(d.rsrc2, 10, 10)),
        item_id(bits(d.rsrc2, 12, 11)),
        exceptions(bits(d.rsrc2, 30, 24)),
        accum_offset(bits(d.rsrc3, 5, 0)) {}
  uint32_t vgprs, sgprs, float_mode, dx10_clamp, ieee, fp16_overflow;
  uint32_t scratch, user_sgprs, group_id, group_info, item_id, exceptions;
  uint32_t accum_offset;
};

uint64_t splitmix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void fill_noise(uint32_t* words, size_t count, uint64_t& noise) {
  for (size_t i = 0; i < count; ++i) words[i] = static_cast<uint32_t>(splitmix(noise));
}

WaveShape shape_of(const ShaderTarget& target, const Dispatch& d) {
  const Rsrc rsrc(d);
  WaveShape shape;
  const uint32_t total = (rsrc.vgprs + 1) * (d.wave32 ? target.vgpr_granule32 : target.vgpr_granule64);
  shape.vgpr_count = total;
  shape.vgpr_rows = total;
  if (target.acc == AccFile::kUnified) {
    shape.acc_base = std::min((rsrc.accum_offset + 1) * 4, total);
    shape.vgpr_count = std::min(shape.acc_base, 256u);
    shape.acc_count = std::min(total - shape.acc_base, 256u);
  } else if (target.acc == AccFile::kSeparate) {
    shape.acc_base = total;
    shape.acc_count = total;
    shape.vgpr_rows = 2 * total;
  }
  shape.simd_vgprs = d.wave32 ? (total + 1) / 2 : total;
  shape.sgpr_count = target.gfx11 ? 106 : std::min((rsrc.sgprs / 2 + 1) * 16, 102u);
  return shape;
}

std::array<uint32_t, 3> group_position(const DispatchState& state, uint64_t linear) {
  const uint64_t nx = state.group_counts[0], ny = state.group_counts[1];
  return {static_cast<uint32_t>(linear % nx), static_cast<uint32_t>(linear / nx % ny),
          static_cast<uint32_t>(linear / nx / ny)};
}

std::array<uint32_t, 3> group_size(const Dispatch& d, const std::array<uint32_t, 3>& id) {
  std::array<uint32_t, 3> size{};
  for (int i = 0; i < 3; ++i) size[i] = std::min(d.group[i], d.grid[i] - id[i] * d.group[i]);
  return size;
}

template <class T>
AlignedArray<T> make_array(size_t count) {
  const size_t bytes = (std::max<size_t>(count, 1) * sizeof(T) + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, bytes);
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  return AlignedArray<T>(static_cast<T*>(memory));
}

void set_item_ids(const ShaderTarget& target, const Rsrc& rsrc, const WorkGroup& group, Wave& wave) {
  const uint64_t items = uint64_t{group.size[0]} * group.size[1] * group.size[2];
  uint64_t exec = 0;
  for (uint32_t lane = 0; lane < wave.lanes(); ++lane) {
    const uint64_t flat = uint64_t{wave.index} * wave.lanes() + lane;
    if (flat >= items) break;
    exec |= 1ull << lane;
    const uint32_t x = static_cast<uint32_t>(flat % group.size[0]);
    const uint32_t y = static_cast<uint32_t>(flat / group.size[0] % group.size[1]);
    const uint32_t z = static_cast<uint32_t>(flat / group.size[0] / group.size[1]);
    if (target.packed_ids) {
      wave.vgpr(0)[lane] = x | (rsrc.item_id >= 1 ? y << 10 : 0) | (rsrc.item_id >= 2 ? z << 20 : 0);
    } else {
      wave.vgpr(0)[lane] = x;
      if (rsrc.item_id >= 1) wave.vgpr(1)[lane] = y;
      if (rsrc.item_id >= 2) wave.vgpr(2)[lane] = z;
    }
  }
  wave.set_mask(kExecLo, exec);
}

void set_scalars(const DispatchState& state, const Rsrc& rsrc, const WorkGroup& group, uint32_t scratch_offset,
                 Wave& wave) {
  const Dispatch& d = state.dispatch;
  for (uint32_t i = 0; i < std::min(rsrc.user_sgprs, 16u); ++i) wave.s[i] = d.user_sgprs[i];
  uint32_t next = rsrc.user_sgprs;
  for (uint32_t i = 0; i < 3; ++i) {
    if (rsrc.group_id & (1u << i)) wave.s[next++] = group.id[i];
  }
  if (rsrc.group_info) {
    wave.s[next++] = (wave.index == 0 ? 1u << 31 : 0) | (static_cast<uint32_t>(group.waves.size()) & 63);
  }
  if (rsrc.scratch && !state.target->architected_scratch) wave.s[next++] = scratch_offset;
}

void set_ttmps(const DispatchState& state, const WorkGroup& group, Wave& wave) {
  // The debug layout that the SPI writes when TTMP set-up is on: group ids and the wave's place in its group.
  const Dispatch& d = state.dispatch;
  wave.s[kTtmp0 + 4] = 0;
  wave.s[kTtmp0 + 6] = static_cast<uint32_t>(d.dispatch_index) & 0x1ffffff;
  wave.s[kTtmp0 + 8] = group.id[0];
  wave.s[kTtmp0 + 9] = group.id[1];
  wave.s[kTtmp0 + 10] = group.id[2];
  wave.s[kTtmp0 + 11] = wave.index & 0x3f;
}

}  // namespace

bool prepare_dispatch(const GpuConfig& config, const ShaderTarget& target, DispatchState& state, std::string& why) {
  const Dispatch& d = state.dispatch;
  state.target = &target;
  if (d.wave32 && target.vgpr_granule32 == 0) {
    why = "the target has no wave32 mode";
    return false;
  }
  state.group_total = 1;
  uint64_t items = 1;
  for (int i = 0; i < 3; ++i) {
    if (d.grid[i] == 0 || d.group[i] == 0) {
      why = "grid or work-group is empty";
      return false;
    }
    state.group_counts[i] = static_cast<uint32_t>((uint64_t{d.grid[i]} + d.group[i] - 1) / d.group[i]);
    state.group_total *= state.group_counts[i];
    items *= d.group[i];
  }
  if (items > 1024) {
    why = "a work-group has at most 1024 work-items";
    return false;
  }
  state.shape = shape_of(target, d);
  state.waves_per_group = static_cast<uint32_t>((items + (d.wave32 ? 31 : 63)) / (d.wave32 ? 32 : 64));
  (void)config;
  return true;
}

uint32_t waves_in_group(const DispatchState& state, uint64_t linear) {
  const auto size = group_size(state.dispatch, group_position(state, linear));
  const uint32_t lanes = state.dispatch.wave32 ? 32 : 64;
  return (size[0] * size[1] * size[2] + lanes - 1) / lanes;
}

void launch_group(const GpuConfig& config, DispatchState& state, uint64_t linear, WorkGroup& group) {
  const Dispatch& d = state.dispatch;
  const Rsrc rsrc(d);
  group.dispatch = &state;
  group.number = linear;
  group.id = group_position(state, linear);
  group.size = group_size(d, group.id);
  for (int i = 0; i < 3; ++i) group.id[i] += d.first_group[i];
  const uint32_t count = waves_in_group(state, linear);
  const uint32_t lds_bytes = (d.lds_bytes + 511) / 512 * 512;
  group.live_waves = count;
  group.at_barrier = 0;
  group.lds = make_array<std::byte>(lds_bytes);
  group.vgprs = make_array<uint32_t>(size_t{count} * state.shape.vgpr_rows * 64);
  group.waves = std::vector<Wave>(count);
  uint64_t noise = config.seed ^ (d.dispatch_index * 0x2545f4914f6cdd1dull) ^ (linear << 20);
  if (config.hostile.noisy_state) {
    fill_noise(reinterpret_cast<uint32_t*>(group.lds.get()), lds_bytes / 4, noise);
    fill_noise(group.vgprs.get(), size_t{count} * state.shape.vgpr_rows * 64, noise);
  }
  for (uint32_t i = 0; i < count; ++i) {
    Wave& wave = group.waves[i];
    if (config.hostile.noisy_state) fill_noise(wave.s, kM0 + 1, noise);
    wave.group = &group;
    wave.index = i;
    wave.v = group.vgprs.get() + size_t{i} * state.shape.vgpr_rows * 64;
    wave.vgpr_count = state.shape.vgpr_count;
    wave.acc_base = state.shape.acc_base;
    wave.acc_count = state.shape.acc_count;
    wave.sgpr_count = state.shape.sgpr_count;
    wave.wave32 = d.wave32;
    wave.lane_mask = d.wave32 ? 0xffffffffull : ~0ull;
    wave.lds = group.lds.get();
    wave.lds_bytes = lds_bytes;
    wave.mode = rsrc.float_mode | (rsrc.dx10_clamp ? Mode::kDx10Clamp : 0) | (rsrc.ieee ? Mode::kIeee : 0) |
                (rsrc.exceptions << 12) | (rsrc.fp16_overflow << 23);
    wave.pc = wave.next_pc = d.code_va;
    wave.error.workgroup = group.id;
    wave.error.wave = i;
    wave.set_s64(kSharedBase, config.shared_aperture);
    wave.set_s64(kSharedLimit, config.shared_aperture | 0xffffffffull);
    wave.set_s64(kPrivateBase, config.private_aperture);
    wave.set_s64(kPrivateLimit, config.private_aperture | 0xffffffffull);
    const uint32_t offset = group.scratch_slots.empty() ? 0 : group.scratch_slots[i] * d.scratch_wave_bytes;
    wave.slot = group.scratch_slots.empty() ? 0 : group.scratch_slots[i];
    wave.flat_scratch = group.scratch_slots.empty() ? 0 : d.scratch_base + offset;
    // gfx942 has the base in FLAT_SCRATCH when a wave starts; the targets before it compute it there.
    if (state.target->architected_scratch && !state.target->gfx11) wave.set_s64(kFlatScratchLo, wave.flat_scratch);
    set_scalars(state, rsrc, group, offset, wave);
    set_ttmps(state, group, wave);
    set_item_ids(*state.target, rsrc, group, wave);
  }
}

}  // namespace vgpu
