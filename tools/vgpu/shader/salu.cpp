// Scalar ALU: SOP1, SOP2, SOPC and SOPK, except what changes the program counter or talks to hardware registers.
#include <bit>
#include <limits>

#include "tools/vgpu/shader/exec_table.h"
#include "tools/vgpu/shader/scalar_operand.h"

namespace vgpu {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

// The shapes of functions. `scc` comes in with the old SCC and goes out with the new one; a function that does not
// touch it leaves it.
template <class D, class A, class B, D (*Fn)(A, B, u32& scc)>
void binary(Wave& w, const Inst& i) {
  u32 scc = w.s[kScc];
  const D result = Fn(scalar<A>(w, i.src[0]), scalar<B>(w, i.src[1]), scc);
  set_scalar(w, i.dst[0], result);
  w.s[kScc] = scc;
}

template <class D, class A, D (*Fn)(A, u32& scc)>
void unary(Wave& w, const Inst& i) {
  u32 scc = w.s[kScc];
  const D result = Fn(scalar<A>(w, i.src[0]), scc);
  set_scalar(w, i.dst[0], result);
  w.s[kScc] = scc;
}

template <class A, class B, bool (*Fn)(A, B)>
void compare(Wave& w, const Inst& i) {
  w.set_scc(Fn(scalar<A>(w, i.src[0]), scalar<B>(w, i.src[1])));
}

template <class T>
T nonzero(T value, u32& scc) {
  scc = value != 0;
  return value;
}

// --- SOP2 ------------------------------------------------------------------------------------------------------------

u32 add_u32(u32 a, u32 b, u32& scc) {
  const u64 sum = u64{a} + b;
  scc = static_cast<u32>(sum >> 32);
  return static_cast<u32>(sum);
}
u32 addc_u32(u32 a, u32 b, u32& scc) {
  const u64 sum = u64{a} + b + scc;
  scc = static_cast<u32>(sum >> 32);
  return static_cast<u32>(sum);
}
u32 sub_u32(u32 a, u32 b, u32& scc) {
  scc = b > a;
  return a - b;
}
u32 subb_u32(u32 a, u32 b, u32& scc) {
  const u64 subtrahend = u64{b} + scc;
  scc = subtrahend > a;
  return static_cast<u32>(a - subtrahend);
}
u32 add_i32(i32 a, i32 b, u32& scc) {
  i32 sum;
  scc = __builtin_add_overflow(a, b, &sum);
  return static_cast<u32>(sum);
}
u32 sub_i32(i32 a, i32 b, u32& scc) {
  i32 difference;
  scc = __builtin_sub_overflow(a, b, &difference);
  return static_cast<u32>(difference);
}
template <class T>
T min_of(T a, T b, u32& scc) {
  scc = a < b;
  return scc ? a : b;
}
template <class T>
T max_of(T a, T b, u32& scc) {
  scc = a >= b;
  return scc ? a : b;
}
template <class T> T select(T a, T b, u32& scc) { return scc ? a : b; }
template <class T> T and_(T a, T b, u32& scc) { return nonzero<T>(a & b, scc); }
template <class T> T or_(T a, T b, u32& scc) { return nonzero<T>(a | b, scc); }
template <class T> T xor_(T a, T b, u32& scc) { return nonzero<T>(a ^ b, scc); }
template <class T> T andn(T a, T b, u32& scc) { return nonzero<T>(a & ~b, scc); }
template <class T> T orn(T a, T b, u32& scc) { return nonzero<T>(a | ~b, scc); }
template <class T> T nand(T a, T b, u32& scc) { return nonzero<T>(~(a & b), scc); }
template <class T> T nor(T a, T b, u32& scc) { return nonzero<T>(~(a | b), scc); }
template <class T> T xnor(T a, T b, u32& scc) { return nonzero<T>(~(a ^ b), scc); }
template <class T>
T shift_left(T a, u32 b, u32& scc) {
  return nonzero<T>(a << (b & (sizeof(T) * 8 - 1)), scc);
}
template <class T>
T shift_right(T a, u32 b, u32& scc) {
  return nonzero<T>(static_cast<T>(a >> (b & (sizeof(T) * 8 - 1))), scc);
}
template <u32 kShift>
u32 shift_add(u32 a, u32 b, u32& scc) {
  const u64 sum = (u64{a} << kShift) + b;
  scc = sum > 0xffffffffu;
  return static_cast<u32>(sum);
}
u32 bfm32(u32 a, u32 b, u32&) { return ((1u << (a & 31)) - 1) << (b & 31); }
u64 bfm64(u32 a, u32 b, u32&) { return ((1ull << (a & 63)) - 1) << (b & 63); }

/// Field of `width` bits at `offset`; a width of zero is an empty field.
template <class T>
T field(T value, u32 offset, u32 width, bool sign) {
  constexpr u32 kBits = sizeof(T) * 8;
  if (width == 0) return 0;
  T part = static_cast<T>(value >> offset);
  if (width >= kBits) {
    return sign ? static_cast<T>(static_cast<std::make_signed_t<T>>(value) >> offset) : part;
  }
  part &= (T{1} << width) - 1;
  if (sign && ((part >> (width - 1)) & 1)) part |= ~T{0} << width;
  return part;
}
template <class T, bool kSign>
T bfe(T a, u32 b, u32& scc) {
  return nonzero<T>(field<T>(a, b & (sizeof(T) * 8 - 1), (b >> 16) & 0x7f, kSign), scc);
}
u32 mul_i32(u32 a, u32 b, u32&) { return a * b; }
u32 mul_hi_u32(u32 a, u32 b, u32&) { return static_cast<u32>((u64{a} * b) >> 32); }
u32 mul_hi_i32(i32 a, i32 b, u32&) { return static_cast<u32>(static_cast<u64>(i64{a} * b) >> 32); }
u32 absdiff(i32 a, i32 b, u32& scc) {
  const u32 difference = static_cast<u32>(a) - static_cast<u32>(b);
  return nonzero<u32>(static_cast<i32>(difference) < 0 ? 0u - difference : difference, scc);
}
u32 pack_ll(u32 a, u32 b, u32&) { return (a & 0xffff) | b << 16; }
u32 pack_lh(u32 a, u32 b, u32&) { return (a & 0xffff) | (b & 0xffff0000u); }
u32 pack_hh(u32 a, u32 b, u32&) { return a >> 16 | (b & 0xffff0000u); }
u32 pack_hl(u32 a, u32 b, u32&) { return a >> 16 | b << 16; }

// --- SOP1 ------------------------------------------------------------------------------------------------------------

template <class T> T move(T a, u32&) { return a; }
template <class T> T invert(T a, u32& scc) { return nonzero<T>(~a, scc); }
u32 reverse32(u32 a) {
  u32 result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= ((a >> bit) & 1u) << (31 - bit);
  return result;
}
u32 brev32(u32 a, u32&) { return reverse32(a); }
u64 brev64(u64 a, u32&) { return u64{reverse32(static_cast<u32>(a))} << 32 | reverse32(static_cast<u32>(a >> 32)); }
template <class T> u32 ones(T a, u32& scc) { return nonzero<u32>(static_cast<u32>(std::popcount(a)), scc); }
template <class T> u32 zeros(T a, u32& scc) { return nonzero<u32>(static_cast<u32>(std::popcount(T(~a))), scc); }
template <class T> u32 first_one(T a, u32&) { return a ? static_cast<u32>(std::countr_zero(a)) : ~0u; }
template <class T> u32 first_zero(T a, u32&) { return ~a ? static_cast<u32>(std::countr_one(a)) : ~0u; }
template <class T> u32 leading(T a, u32&) { return a ? static_cast<u32>(std::countl_zero(a)) : ~0u; }
template <class T>
u32 leading_sign(T a, u32&) {
  const bool negative = (a >> (sizeof(T) * 8 - 1)) != 0;
  const T differs = negative ? static_cast<T>(~a) : a;
  return differs ? static_cast<u32>(std::countl_zero(differs)) : ~0u;
}
u32 sext8(u32 a, u32&) { return static_cast<u32>(static_cast<int8_t>(a)); }
u32 sext16(u32 a, u32&) { return static_cast<u32>(static_cast<int16_t>(a)); }
u32 abs32(u32 a, u32& scc) { return nonzero<u32>(static_cast<i32>(a) < 0 ? 0u - a : a, scc); }
template <class T>
T whole_quads(T a, u32& scc) {
  const T any = (a | a >> 1 | a >> 2 | a >> 3) & static_cast<T>(0x1111111111111111ull);
  return nonzero<T>(static_cast<T>(any * 15), scc);
}
template <class T>
T quad_mask(T a, u32& scc) {
  T result = 0;
  for (u32 quad = 0; quad < sizeof(T) * 2; ++quad) result |= static_cast<T>(((a >> (quad * 4)) & 15) != 0) << quad;
  return nonzero<T>(result, scc);
}
u64 replicate(u32 a, u32&) {
  u64 result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= ((a >> bit) & 1ull) * 3 << (2 * bit);
  return result;
}

template <class T>
void conditional_move(Wave& w, const Inst& i) {
  if (w.scc()) set_scalar(w, i.dst[0], scalar<T>(w, i.src[0]));
}

template <class T, bool kSet>
void set_bit(Wave& w, const Inst& i) {
  T value;
  std::memcpy(&value, &w.s[i.dst[0].index], sizeof value);
  const T bit = T{1} << (scalar<u32>(w, i.src[0]) & (sizeof(T) * 8 - 1));
  set_scalar<T>(w, i.dst[0], kSet ? value | bit : value & ~bit);
}

// EXEC = op(source, EXEC); the destination gets the old EXEC (saveexec) or the new one (wrexec). The source is read
// before the destination is written: they may be the same register.
template <class T, T (*Fn)(T, T, u32&), bool kOldToDestination>
void exec_op(Wave& w, const Inst& i) {
  T old;
  std::memcpy(&old, &w.s[kExecLo], sizeof old);
  u32 scc = 0;
  const T result = Fn(scalar<T>(w, i.src[0]), old, scc);
  set_scalar(w, i.dst[0], kOldToDestination ? old : result);
  std::memcpy(&w.s[kExecLo], &result, sizeof result);
  w.s[kScc] = scc;
}
template <class T> T not_and(T a, T b, u32& scc) { return nonzero<T>(~a & b, scc); }
template <class T> T not_or(T a, T b, u32& scc) { return nonzero<T>(~a | b, scc); }

constexpr u32 kRelativeLimit = 106;

bool relative(Wave& w, u32 base, u32 dwords, u32 offset, u32& index) {
  index = base + offset;
  if (index + dwords <= kRelativeLimit || (base >= kTtmp0 && index + dwords <= kM0)) return true;
  w.raise(WaveError::Kind::kIllegalInstruction, "M0-relative scalar register out of range");
  return false;
}
template <class T>
void move_relative_source(Wave& w, const Inst& i) {
  u32 index;
  if (!relative(w, i.src[0].index, sizeof(T) / 4, w.s[kM0], index)) return;
  T value;
  std::memcpy(&value, &w.s[index], sizeof value);
  set_scalar(w, i.dst[0], value);
}
template <class T>
void move_relative_destination(Wave& w, const Inst& i) {
  // The decoder lists the destination of movreld as a source: it is the base of the register that is written.
  const bool listed = static_cast<bool>(i.dst[0]);
  const Operand& base = listed ? i.dst[0] : i.src[0];
  const T value = scalar<T>(w, listed ? i.src[0] : i.src[1]);
  u32 index;
  if (!relative(w, base.index, sizeof(T) / 4, w.s[kM0], index)) return;
  std::memcpy(&w.s[index], &value, sizeof value);
}
void move_relative_both(Wave& w, const Inst& i) {
  u32 from, to;
  if (!relative(w, i.src[0].index, 1, w.s[kM0] & 0x3ff, from)) return;
  if (!relative(w, i.dst[0].index, 1, w.s[kM0] >> 16 & 0x3ff, to)) return;
  w.s[to] = w.s[from];
}

// --- SOPK and SOPC
// -----------------------------------------------------------------------------------------------------

void movk(Wave& w, const Inst& i) { w.s[i.dst[0].index] = static_cast<u32>(i.imm); }
void cmovk(Wave& w, const Inst& i) {
  if (w.scc()) w.s[i.dst[0].index] = static_cast<u32>(i.imm);
}
void addk(Wave& w, const Inst& i) {
  u32& d = w.s[i.dst[0].index];
  d = add_i32(static_cast<i32>(d), i.imm, w.s[kScc]);
}
void mulk(Wave& w, const Inst& i) { w.s[i.dst[0].index] *= static_cast<u32>(i.imm); }

template <class T> bool eq(T a, T b) { return a == b; }
template <class T> bool lg(T a, T b) { return a != b; }
template <class T> bool gt(T a, T b) { return a > b; }
template <class T> bool ge(T a, T b) { return a >= b; }
template <class T> bool lt(T a, T b) { return a < b; }
template <class T> bool le(T a, T b) { return a <= b; }
template <class T, bool kWanted>
bool bit_is(T a, u32 b) {
  return ((a >> (b & (sizeof(T) * 8 - 1))) & 1) == T{kWanted};
}
template <class T, bool (*Fn)(T, T)>
void compare_k(Wave& w, const Inst& i) {
  const T immediate = std::is_signed_v<T> ? static_cast<T>(i.imm) : static_cast<T>(static_cast<uint16_t>(i.imm));
  w.set_scc(Fn(scalar<T>(w, i.src[0]), immediate));
}

#define BOTH(name, fn) \
  {name "_b32", binary<u32, u32, u32, fn<u32>>}, { name "_b64", binary<u64, u64, u64, fn<u64>> }
#define EXEC_OP(name, fn, old) \
  {name "_b32", exec_op<u32, fn<u32>, old>}, { name "_b64", exec_op<u64, fn<u64>, old> }
#define COMPARE_K(name, fn)                                                                           \
  {"s_cmpk_" name "_i32", compare_k<i32, fn<i32>>}, {"s_cmpk_" name "_u32", compare_k<u32, fn<u32>>}, \
      {"s_cmp_" name "_i32", compare<i32, i32, fn<i32>>}, {                                           \
    "s_cmp_" name "_u32", compare<u32, u32, fn<u32>>                                                  \
  }

constexpr ExecEntry kEntries[] = {
    {"s_add_u32", binary<u32, u32, u32, add_u32>},
    {"s_addc_u32", binary<u32, u32, u32, addc_u32>},
    {"s_sub_u32", binary<u32, u32, u32, sub_u32>},
    {"s_subb_u32", binary<u32, u32, u32, subb_u32>},
    {"s_add_i32", binary<u32, i32, i32, add_i32>},
    {"s_sub_i32", binary<u32, i32, i32, sub_i32>},
    {"s_min_i32", binary<i32, i32, i32, min_of<i32>>},
    {"s_min_u32", binary<u32, u32, u32, min_of<u32>>},
    {"s_max_i32", binary<i32, i32, i32, max_of<i32>>},
    {"s_max_u32", binary<u32, u32, u32, max_of<u32>>},
    BOTH("s_cselect", select),
    BOTH("s_and", and_),
    BOTH("s_or", or_),
    BOTH("s_xor", xor_),
    BOTH("s_and_not1", andn),
    BOTH("s_or_not1", orn),
    BOTH("s_nand", nand),
    BOTH("s_nor", nor),
    BOTH("s_xnor", xnor),
    {"s_lshl_b32", binary<u32, u32, u32, shift_left<u32>>},
    {"s_lshl_b64", binary<u64, u64, u32, shift_left<u64>>},
    {"s_lshr_b32", binary<u32, u32, u32, shift_right<u32>>},
    {"s_lshr_b64", binary<u64, u64, u32, shift_right<u64>>},
    {"s_ashr_i32", binary<i32, i32, u32, shift_right<i32>>},
    {"s_ashr_i64", binary<i64, i64, u32, shift_right<i64>>},
    {"s_lshl1_add_u32", binary<u32, u32, u32, shift_add<1>>},
    {"s_lshl2_add_u32", binary<u32, u32, u32, shift_add<2>>},
    {"s_lshl3_add_u32", binary<u32, u32, u32, shift_add<3>>},
    {"s_lshl4_add_u32", binary<u32, u32, u32, shift_add<4>>},
    {"s_bfm_b32", binary<u32, u32, u32, bfm32>},
    {"s_bfm_b64", binary<u64, u32, u32, bfm64>},
    {"s_bfe_u32", binary<u32, u32, u32, bfe<u32, false>>},
    {"s_bfe_i32", binary<u32, u32, u32, bfe<u32, true>>},
    {"s_bfe_u64", binary<u64, u64, u32, bfe<u64, false>>},
    {"s_bfe_i64", binary<u64, u64, u32, bfe<u64, true>>},
    {"s_mul_i32", binary<u32, u32, u32, mul_i32>},
    {"s_mul_hi_u32", binary<u32, u32, u32, mul_hi_u32>},
    {"s_mul_hi_i32", binary<u32, i32, i32, mul_hi_i32>},
    {"s_absdiff_i32", binary<u32, i32, i32, absdiff>},
    {"s_pack_ll_b32_b16", binary<u32, u32, u32, pack_ll>},
    {"s_pack_lh_b32_b16", binary<u32, u32, u32, pack_lh>},
    {"s_pack_hh_b32_b16", binary<u32, u32, u32, pack_hh>},
    {"s_pack_hl_b32_b16", binary<u32, u32, u32, pack_hl>},
    {"s_mov_b32", unary<u32, u32, move<u32>>},
    {"s_mov_b64", unary<u64, u64, move<u64>>},
    {"s_cmov_b32", conditional_move<u32>},
    {"s_cmov_b64", conditional_move<u64>},
    {"s_not_b32", unary<u32, u32, invert<u32>>},
    {"s_not_b64", unary<u64, u64, invert<u64>>},
    {"s_wqm_b32", unary<u32, u32, whole_quads<u32>>},
    {"s_wqm_b64", unary<u64, u64, whole_quads<u64>>},
    {"s_quadmask_b32", unary<u32, u32, quad_mask<u32>>},
    {"s_quadmask_b64", unary<u64, u64, quad_mask<u64>>},
    {"s_brev_b32", unary<u32, u32, brev32>},
    {"s_brev_b64", unary<u64, u64, brev64>},
    {"s_bcnt0_i32_b32", unary<u32, u32, zeros<u32>>},
    {"s_bcnt0_i32_b64", unary<u32, u64, zeros<u64>>},
    {"s_bcnt1_i32_b32", unary<u32, u32, ones<u32>>},
    {"s_bcnt1_i32_b64", unary<u32, u64, ones<u64>>},
    {"s_ff0_i32_b32", unary<u32, u32, first_zero<u32>>},
    {"s_ff0_i32_b64", unary<u32, u64, first_zero<u64>>},
    {"s_ctz_i32_b32", unary<u32, u32, first_one<u32>>},
    {"s_ctz_i32_b64", unary<u32, u64, first_one<u64>>},
    {"s_clz_i32_u32", unary<u32, u32, leading<u32>>},
    {"s_clz_i32_u64", unary<u32, u64, leading<u64>>},
    {"s_cls_i32", unary<u32, u32, leading_sign<u32>>},
    {"s_cls_i32_i64", unary<u32, u64, leading_sign<u64>>},
    {"s_sext_i32_i8", unary<u32, u32, sext8>},
    {"s_sext_i32_i16", unary<u32, u32, sext16>},
    {"s_abs_i32", unary<u32, u32, abs32>},
    {"s_bitreplicate_b64_b32", unary<u64, u32, replicate>},
    {"s_bitset0_b32", set_bit<u32, false>},
    {"s_bitset0_b64", set_bit<u64, false>},
    {"s_bitset1_b32", set_bit<u32, true>},
    {"s_bitset1_b64", set_bit<u64, true>},
    EXEC_OP("s_and_saveexec", and_, true),
    EXEC_OP("s_or_saveexec", or_, true),
    EXEC_OP("s_xor_saveexec", xor_, true),
    EXEC_OP("s_nand_saveexec", nand, true),
    EXEC_OP("s_nor_saveexec", nor, true),
    EXEC_OP("s_xnor_saveexec", xnor, true),
    EXEC_OP("s_and_not1_saveexec", andn, true),
    EXEC_OP("s_or_not1_saveexec", orn, true),
    EXEC_OP("s_and_not0_saveexec", not_and, true),
    EXEC_OP("s_or_not0_saveexec", not_or, true),
    EXEC_OP("s_and_not1_wrexec", andn, false),
    EXEC_OP("s_and_not0_wrexec", not_and, false),
    {"s_movrels_b32", move_relative_source<u32>},
    {"s_movrels_b64", move_relative_source<u64>},
    {"s_movreld_b32", move_relative_destination<u32>},
    {"s_movreld_b64", move_relative_destination<u64>},
    {"s_movrelsd_2_b32", move_relative_both},
    {"s_movk_i32", movk},
    {"s_cmovk_i32", cmovk},
    {"s_addk_i32", addk},
    {"s_mulk_i32", mulk},
    COMPARE_K("eq", eq),
    COMPARE_K("lg", lg),
    COMPARE_K("gt", gt),
    COMPARE_K("ge", ge),
    COMPARE_K("lt", lt),
    COMPARE_K("le", le),
    {"s_cmp_eq_u64", compare<u64, u64, eq<u64>>},
    {"s_cmp_lg_u64", compare<u64, u64, lg<u64>>},
    {"s_bitcmp0_b32", compare<u32, u32, bit_is<u32, false>>},
    {"s_bitcmp1_b32", compare<u32, u32, bit_is<u32, true>>},
    {"s_bitcmp0_b64", compare<u64, u32, bit_is<u64, false>>},
    {"s_bitcmp1_b64", compare<u64, u32, bit_is<u64, true>>},
};

#undef BOTH
#undef EXEC_OP
#undef COMPARE_K

}  // namespace

std::span<const ExecEntry> salu_exec_entries() { return kEntries; }

}  // namespace vgpu
