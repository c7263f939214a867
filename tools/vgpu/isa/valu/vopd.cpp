// Dual instructions of gfx11: two operations in one word. Both read their sources before either writes.
#include <cmath>

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/float16.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/math.h"

namespace vgpu::valu {
namespace {

/// Sources of one half, by lane: up to three, and the destination's old value.
struct HalfSources {
  const u32 *a, *b, *c, *old;
  u64 mask;
};

float as_float(u32 v) { return std::bit_cast<float>(v); }
u32 as_bits(float v) { return std::bit_cast<u32>(v); }

/// The operations that the second half and the first share, and the three that only the second has.
u32 compute(Op op, const HalfSources& s, unsigned l) {
  const float a = as_float(s.a[l]), b = as_float(s.b[l]);
  switch (op) {
    case Op::v_fmac_f32: return as_bits(std::fma(a, b, as_float(s.old[l])));
    case Op::v_fmaak_f32:
    case Op::v_fmamk_f32: return as_bits(std::fma(a, b, as_float(s.c[l])));
    case Op::v_mul_f32: return as_bits(a * b);
    case Op::v_add_f32: return as_bits(a + b);
    case Op::v_sub_f32: return as_bits(a - b);
    case Op::v_subrev_f32: return as_bits(b - a);
    case Op::v_mul_dx9_zero_f32: return as_bits(a == 0 || b == 0 ? 0.0f : a * b);
    case Op::v_mov_b32: return s.a[l];
    case Op::v_cndmask_b32: return s.mask >> l & 1 ? s.b[l] : s.a[l];
    case Op::v_max_f32: return as_bits(max_number<float, true>(a, b));
    case Op::v_min_f32: return as_bits(min_number<float, true>(a, b));
    case Op::v_dot2acc_f32_f16: {
      auto half = [](u32 v, unsigned shift) { return to_float(Half{static_cast<u16>(v >> shift)}); };
      const float low = std::fma(half(s.a[l], 0), half(s.b[l], 0), as_float(s.old[l]));
      return as_bits(std::fma(half(s.a[l], 16), half(s.b[l], 16), low));
    }
    case Op::v_add_nc_u32: return s.a[l] + s.b[l];
    case Op::v_lshlrev_b32: return s.b[l] << (s.a[l] & 31);
    case Op::v_and_b32: return s.a[l] & s.b[l];
    default: return 0;  // the decoder lets no other operation through
  }
}

void compute_half(Wave& w, const Inst& i, size_t half, Row& out) {
  Row buffers[3];
  const u32* rows[3] = {};
  HalfSources s{};
  for (size_t n = 0; n < 3; ++n) {
    const Operand& operand = i.src[half * 3 + n];
    if (operand.type == OperandType::kMask)
      s.mask = mask_source(w, operand);
    else if (operand)
      rows[n] = raw_row(w, i, half * 3 + n, 0, buffers[n]);
  }
  s.a = rows[0];
  s.b = rows[1] != nullptr ? rows[1] : rows[0];
  s.c = rows[2];
  s.old = register_row(w, i.dst[half]);
  const Op op = half == 0 ? i.op_x : i.op_y;
  for (unsigned l = 0; l < w.lanes(); ++l) out.v[l] = compute(op, s, l);
}

void body(Wave& w, const Inst& i) {
  Row x, y;
  compute_half(w, i, 0, x);
  compute_half(w, i, 1, y);
  const u64 exec = w.exec();
  blend(register_row(w, i.dst[0]), x.v, exec);
  blend(register_row(w, i.dst[1]), y.v, exec);
}

void execute(Wave& w, const Inst& i) {
  if (!default_mode(w, FloatClass::kF32)) return run_in_mode(w, i, FloatClass::kF32, &body);
  body(w, i);
}

constexpr ExecEntry kEntries[] = {{"v_dual", &execute}};

}  // namespace

std::span<const ExecEntry> dual_entries() { return kEntries; }

}  // namespace vgpu::valu
