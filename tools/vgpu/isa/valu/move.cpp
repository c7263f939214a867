// Moves, selections and everything that carries values between lanes or to scalar registers.
#include <algorithm>
#include <bit>

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"

namespace vgpu::valu {
namespace {

/// One dword of a scalar or constant operand, or of lane 0 of a vector one.
u32 uniform(const Wave& w, const Inst& i, size_t n) {
  Row buffer;
  return raw_row(w, i, n, 0, buffer)[0];
}

template <class T>
void select(Wave& w, const Inst& i) {
  const Source<T> a(w, i, 0), b(w, i, 1);
  const u64 mask = mask_source(w, i.src[2]);
  Result<T> out;
  for (unsigned l = 0; l < w.lanes(); ++l) out.set(l, mask >> l & 1 ? b[l] : a[l]);
  out.write(w, i);
}

void read_first_lane(Wave& w, const Inst& i) {
  const u64 exec = w.exec();
  Row buffer;
  w.s[i.dst[0].index] = raw_row(w, i, 0, 0, buffer)[exec == 0 ? 0 : std::countr_zero(exec)];
}

void read_lane(Wave& w, const Inst& i) {
  Row buffer;
  const u32 lane = uniform(w, i, 1) & (w.lanes() - 1);
  w.s[i.dst[0].index] = raw_row(w, i, 0, 0, buffer)[lane];
}

void write_lane(Wave& w, const Inst& i) {
  const u32 value = uniform(w, i, 0), lane = uniform(w, i, 1) & (w.lanes() - 1);
  register_row(w, i.dst[0])[lane] = value;
}

void swap(Wave& w, const Inst& i) {
  u32 *a = register_row(w, i.dst[0]), *b = register_row(w, i.dst[1]);
  const u64 exec = w.exec();
  for (unsigned l = 0; l < w.lanes(); ++l)
    if (exec >> l & 1) std::swap(a[l], b[l]);
}

/// v_permlane16 and v_permlanex16: every lane of a row takes one of its own row, or of the row beside it, by sixteen
/// 4-bit selectors. Inactive source lanes: fetched with FI; else 0 with BOUND_CTRL; else the old value stays.
template <bool kOtherRow>
void permute_lanes16(Wave& w, const Inst& i) {
  Row buffer;
  const u32* source = raw_row(w, i, 0, 0, buffer);
  const u64 selectors = u64{uniform(w, i, 2)} << 32 | uniform(w, i, 1), exec = w.exec();
  Row out;
  u64 mask = exec;
  for (unsigned l = 0; l < w.lanes(); ++l) {
    const unsigned row = (l & ~15u) ^ (kOtherRow ? 16 : 0), from = row + (selectors >> (4 * (l & 15)) & 15);
    const bool active = i.fi || (exec >> from & 1);
    out.v[l] = active ? source[from] : 0;
    if (!active && !i.bound_ctrl) mask &= ~(u64{1} << l);
  }
  write32(w, i, out, mask);
}

/// Swaps the halves of a 64-lane wave, inactive source lanes included; nothing in wave32.
void permute_lanes64(Wave& w, const Inst& i) {
  if (w.wave32) return;
  Row buffer, out;
  const u32* source = raw_row(w, i, 0, 0, buffer);
  for (unsigned l = 0; l < kLanes; ++l) out.v[l] = source[l ^ 32];
  write32(w, i, out, w.exec());
}

/// Register numbers relative to M0; one that the wave does not own is an error of the program.
bool relative(Wave& w, const Operand& operand, u32 offset, u32*& row) {
  const u32 n = operand.index + offset;
  if (n >= w.vgpr_count) {
    w.raise(WaveError::Kind::kIllegalInstruction, "M0 points past the wave's vector registers");
    return false;
  }
  row = w.vgpr(n);
  return true;
}

/// v_movrel*: source (s), destination (d) or both relative to M0; "_2" takes two 10-bit offsets of it.
template <bool kSource, bool kDestination, bool kTwo>
void move_relative(Wave& w, const Inst& i) {
  const u32 m0 = w.s[kM0];
  const u32 source_offset = kTwo ? m0 & 0x3ff : m0, destination_offset = kTwo ? m0 >> 16 & 0x3ff : m0;
  Row buffer, copy;
  u32* from = nullptr;
  u32* to = nullptr;
  if (!relative(w, i.dst[0], kDestination ? destination_offset : 0, to)) return;
  const u32* source = nullptr;
  if (kSource && i.src[0].is_vgpr()) {
    if (!relative(w, i.src[0], source_offset, from)) return;
    source = from;
  } else {
    source = raw_row(w, i, 0, 0, buffer);
  }
  std::copy_n(source, kLanes, copy.v);
  blend(to, copy.v, w.exec());
}

void swap_relative(Wave& w, const Inst& i) {
  const u32 m0 = w.s[kM0];
  u32 *a = nullptr, *b = nullptr;
  if (!relative(w, i.dst[0], m0 >> 16 & 0x3ff, a) || !relative(w, i.dst[1], m0 & 0x3ff, b)) return;
  const u64 exec = w.exec();
  for (unsigned l = 0; l < w.lanes(); ++l)
    if (exec >> l & 1) std::swap(a[l], b[l]);
}

/// AccVGPR moves: plain copies, whatever register file the operands are in.
void copy(Wave& w, const Inst& i) {
  Row buffer, out;
  std::copy_n(raw_row(w, i, 0, 0, buffer), kLanes, out.v);
  blend(register_row(w, i.dst[0]), out.v, w.exec());
}

void nothing(Wave&, const Inst&) {}

constexpr ExecEntry kEntries[] = {
    {"v_nop", &nothing},
    {"v_pipeflush", &nothing},
    {"v_clrexcp", &nothing},
    {"v_mov_b32", map<[](u32 a) { return a; }>},
    {"v_mov_b64", map<[](u64 a) { return a; }>},
    {"v_mov_b16", map<[](u16 a) { return a; }>},
    {"v_cndmask_b32", &select<u32>},
    {"v_cndmask_b16", &select<u16>},
    {"v_swap_b32", &swap},
    {"v_readfirstlane_b32", &read_first_lane},
    {"v_readlane_b32", &read_lane},
    {"v_writelane_b32", &write_lane},
    {"v_permlane16_b32", &permute_lanes16<false>},
    {"v_permlanex16_b32", &permute_lanes16<true>},
    {"v_permlane64_b32", &permute_lanes64},
    {"v_movrels_b32", &move_relative<true, false, false>},
    {"v_movreld_b32", &move_relative<false, true, false>},
    {"v_movrelsd_b32", &move_relative<true, true, false>},
    {"v_movrelsd_2_b32", &move_relative<true, true, true>},
    {"v_swaprel_b32", &swap_relative},
    {"v_accvgpr_read_b32", &copy},
    {"v_accvgpr_write_b32", &copy},
    {"v_accvgpr_mov_b32", &copy},
};

}  // namespace

std::span<const ExecEntry> move_entries() { return kEntries; }

}  // namespace vgpu::valu
