// Compares: one bit per lane, written to a scalar mask, or (v_cmpx) to EXEC.
#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/math.h"

namespace vgpu::valu {
namespace {

/// Relations by what they accept: less, equal, greater, unordered.
enum Accept : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

template <class T, unsigned kAccept>
bool related(T a, T b) {
  if constexpr (kIsFloat<T>) {
    const auto x = wide(a), y = wide(b);
    return ((kAccept & kLess) && x < y) || ((kAccept & kEqual) && x == y) || ((kAccept & kGreater) && x > y) ||
           ((kAccept & kUnordered) && (is_nan(a) || is_nan(b)));
  } else {
    return ((kAccept & kLess) && a < b) || ((kAccept & kEqual) && a == b) || ((kAccept & kGreater) && a > b);
  }
}

/// Writes the result; v_cmpx sets EXEC as well (gfx11: only EXEC, its encoding has no destination).
template <bool kExec>
void finish(Wave& w, const Inst& i, u64 result) {
  result &= write_mask(w, i);
  write_mask_result(w, i.dst[0], result);
  if (kExec) w.set_mask(kExecLo, result);
}

template <class T, unsigned kAccept, bool kExec>
void compare(Wave& w, const Inst& i) {
  u64 result = 0;
  if constexpr (kAccept != 0) {
    const Source<T> a(w, i, 0), b(w, i, 1);
    for (unsigned l = 0; l < w.lanes(); ++l) result |= u64{related<T, kAccept>(a[l], b[l])} << l;
  }
  finish<kExec>(w, i, result);
}

/// The ten classes of a number, as v_cmp_class numbers them.
template <class T>
u32 class_of(T v) {
  const bool negative = sign_of(v);
  if (is_nan(v)) return is_signaling(v) ? 1u : 2u;
  if (is_inf(v)) return negative ? 4u : 0x200u;
  if (is_zero(v)) return negative ? 0x20u : 0x40u;
  if (is_denormal(v)) return negative ? 0x10u : 0x80u;
  return negative ? 8u : 0x100u;
}

template <class T, bool kExec>
void compare_class(Wave& w, const Inst& i) {
  const Source<T> a(w, i, 0);
  const Source<u32> classes(w, i, 1);
  u64 result = 0;
  for (unsigned l = 0; l < w.lanes(); ++l) result |= u64{(class_of<T>(a[l]) & classes[l]) != 0} << l;
  finish<kExec>(w, i, result);
}

/// Rows of the table: the relation's functions for every type, as v_cmp and v_cmpx.
template <bool kExec, unsigned kAccept>
struct Column {
  static constexpr ExecFn kF16 = &compare<Half, kAccept, kExec>, kF32 = &compare<float, kAccept, kExec>,
                          kF64 = &compare<double, kAccept, kExec>, kI16 = &compare<i16, kAccept, kExec>,
                          kI32 = &compare<i32, kAccept, kExec>, kI64 = &compare<i64, kAccept, kExec>,
                          kU16 = &compare<u16, kAccept, kExec>, kU32 = &compare<u32, kAccept, kExec>,
                          kU64 = &compare<u64, kAccept, kExec>;
};

/// v_cmp_NAME_TYPE and v_cmpx_NAME_TYPE for one relation of floating point numbers.
#define VGPU_FLOAT_RELATION(name, accept)                                                                           \
  {"v_cmp_" name "_f16", Column<false, (accept)>::kF16}, {"v_cmp_" name "_f32", Column<false, (accept)>::kF32},     \
      {"v_cmp_" name "_f64", Column<false, (accept)>::kF64}, {"v_cmpx_" name "_f16", Column<true, (accept)>::kF16}, \
      {"v_cmpx_" name "_f32", Column<true, (accept)>::kF32}, {                                                      \
    "v_cmpx_" name "_f64", Column<true, (accept)>::kF64                                                             \
  }

/// The same for integers.
#define VGPU_INTEGER_RELATION(name, accept)                                                                         \
  {"v_cmp_" name "_i16", Column<false, (accept)>::kI16}, {"v_cmp_" name "_i32", Column<false, (accept)>::kI32},     \
      {"v_cmp_" name "_i64", Column<false, (accept)>::kI64}, {"v_cmp_" name "_u16", Column<false, (accept)>::kU16}, \
      {"v_cmp_" name "_u32", Column<false, (accept)>::kU32}, {"v_cmp_" name "_u64", Column<false, (accept)>::kU64}, \
      {"v_cmpx_" name "_i16", Column<true, (accept)>::kI16}, {"v_cmpx_" name "_i32", Column<true, (accept)>::kI32}, \
      {"v_cmpx_" name "_i64", Column<true, (accept)>::kI64}, {"v_cmpx_" name "_u16", Column<true, (accept)>::kU16}, \
      {"v_cmpx_" name "_u32", Column<true, (accept)>::kU32}, {                                                      \
    "v_cmpx_" name "_u64", Column<true, (accept)>::kU64                                                             \
  }

constexpr unsigned kNever = 0, kOrdered = kLess | kEqual | kGreater, kAlways = kOrdered | kUnordered;

constexpr ExecEntry kEntries[] = {
    VGPU_FLOAT_RELATION("f", kNever),
    VGPU_FLOAT_RELATION("lt", kLess),
    VGPU_FLOAT_RELATION("eq", kEqual),
    VGPU_FLOAT_RELATION("le", kLess | kEqual),
    VGPU_FLOAT_RELATION("gt", kGreater),
    VGPU_FLOAT_RELATION("lg", kLess | kGreater),
    VGPU_FLOAT_RELATION("ge", kGreater | kEqual),
    VGPU_FLOAT_RELATION("o", kOrdered),
    VGPU_FLOAT_RELATION("u", kUnordered),
    VGPU_FLOAT_RELATION("nge", kLess | kUnordered),
    VGPU_FLOAT_RELATION("nlg", kEqual | kUnordered),
    VGPU_FLOAT_RELATION("ngt", kLess | kEqual | kUnordered),
    VGPU_FLOAT_RELATION("nle", kGreater | kUnordered),
    VGPU_FLOAT_RELATION("neq", kLess | kGreater | kUnordered),
    VGPU_FLOAT_RELATION("nlt", kGreater | kEqual | kUnordered),
    VGPU_FLOAT_RELATION("t", kAlways),
    VGPU_INTEGER_RELATION("f", kNever),
    VGPU_INTEGER_RELATION("lt", kLess),
    VGPU_INTEGER_RELATION("eq", kEqual),
    VGPU_INTEGER_RELATION("le", kLess | kEqual),
    VGPU_INTEGER_RELATION("gt", kGreater),
    VGPU_INTEGER_RELATION("ne", kLess | kGreater),
    VGPU_INTEGER_RELATION("ge", kGreater | kEqual),
    VGPU_INTEGER_RELATION("t", kOrdered),
    {"v_cmp_class_f16", &compare_class<Half, false>},
    {"v_cmp_class_f32", &compare_class<float, false>},
    {"v_cmp_class_f64", &compare_class<double, false>},
    {"v_cmpx_class_f16", &compare_class<Half, true>},
    {"v_cmpx_class_f32", &compare_class<float, true>},
    {"v_cmpx_class_f64", &compare_class<double, true>},
};

}  // namespace

std::span<const ExecEntry> compare_entries() { return kEntries; }

}  // namespace vgpu::valu
