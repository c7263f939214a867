// Scalar floating point (gfx1150, gfx1151): one value, with the same arithmetic as the vector instructions of the name.
#include <cmath>

#include "tools/vgpu/isa/valu/float16.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/math.h"
#include "tools/vgpu/shader/exec_lists.h"
#include "tools/vgpu/shader/scalar_operand.h"

namespace vgpu {
namespace {

using valu::Half;

/// A scalar source as a number. Inline constants of 16-bit operands are halves, whatever the encoding's table says.
template <class T>
T number(const Wave& w, const Operand& operand) {
  if constexpr (std::is_same_v<T, Half>) {
    static constexpr uint16_t kInline[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
    if (operand.is_constant() && !operand.literal && operand.code >= 240 && operand.code <= 248)
      return Half{kInline[operand.code - 240]};
    return Half{static_cast<uint16_t>(scalar<uint32_t>(w, operand))};
  } else {
    return std::bit_cast<T>(scalar<uint32_t>(w, operand));
  }
}

/// 16-bit results clear the register's other half.
void set_result(Wave& w, const Operand& dst, float value) { set_scalar(w, dst, std::bit_cast<uint32_t>(value)); }
void set_result(Wave& w, const Operand& dst, Half value) { set_scalar(w, dst, uint32_t{value.bits}); }
void set_result(Wave& w, const Operand& dst, uint32_t value) { set_scalar(w, dst, value); }
void set_result(Wave& w, const Operand& dst, int32_t value) { set_scalar(w, dst, value); }

template <auto F>
void body(Wave& w, const Inst& i) {
  using S = valu::SignatureOf<F>;
  using A = typename S::template Arg<0>;
  if constexpr (S::kArgs == 1) {
    set_result(w, i.dst[0], F(number<A>(w, i.src[0])));
  } else if constexpr (S::kArgs == 2) {
    set_result(w, i.dst[0], F(number<A>(w, i.src[0]), number<A>(w, i.src[1])));
  } else {
    const Operand& third = i.src[2] ? i.src[2] : i.dst[0];  // s_fmac reads its destination
    set_result(w, i.dst[0], F(number<A>(w, i.src[0]), number<A>(w, i.src[1]), number<A>(w, third)));
  }
}

template <auto F>
void entry(Wave& w, const Inst& i) {
  constexpr valu::FloatClass kClass = valu::SignatureOf<F>::arg_class();
  if (valu::default_mode(w, kClass)) return body<F>(w, i);
  valu::run_in_mode(w, i, kClass, &body<F>);
}

template <auto F>
constexpr ExecFn map = &entry<F>;

/// F in IEEE mode, else G.
template <auto F, auto G>
void ieee_entry(Wave& w, const Inst& i) {
  if (w.mode & Mode::kIeee)
    entry<F>(w, i);
  else
    entry<G>(w, i);
}

enum Accept : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

template <class T, unsigned kAccept>
void compare(Wave& w, const Inst& i) {
  const auto a = valu::wide(number<T>(w, i.src[0])), b = valu::wide(number<T>(w, i.src[1]));
  w.set_scc(((kAccept & kLess) && a < b) || ((kAccept & kEqual) && a == b) || ((kAccept & kGreater) && a > b) ||
            ((kAccept & kUnordered) && (a != a || b != b)));
}

template <class To>
To to_integer(float value) {
  const double v = value;
  if (v != v) return 0;
  if (v <= double{std::numeric_limits<To>::min()}) return std::numeric_limits<To>::min();
  if (v >= double{std::numeric_limits<To>::max()}) return std::numeric_limits<To>::max();
  return static_cast<To>(v);
}

inline Half rounded(float v) { return valu::to_half(v); }

#define BOTH(name, f32, f16) \
  {"s_" name "_f32", map<f32>}, { "s_" name "_f16", map<f16> }
#define COMPARE(name, accept) \
  {"s_cmp_" name "_f32", &compare<float, (accept)>}, { "s_cmp_" name "_f16", &compare<Half, (accept)> }

template <class T, bool kIeee>
constexpr auto kMin = [](T a, T b) { return valu::min_number<T, kIeee>(a, b); };
template <class T, bool kIeee>
constexpr auto kMax = [](T a, T b) { return valu::max_number<T, kIeee>(a, b); };

constexpr ExecEntry kEntries[] = {
    BOTH(
        "add", [](float a, float b) { return a + b; }, [](Half a, Half b) { return valu::add16(a, b); }),
    BOTH(
        "sub", [](float a, float b) { return a - b; }, [](Half a, Half b) { return valu::add16(a, valu::negated(b)); }),
    BOTH(
        "mul", [](float a, float b) { return a * b; }, [](Half a, Half b) { return valu::mul16(a, b); }),
    BOTH(
        "fmac", [](float a, float b, float c) { return std::fma(a, b, c); },
        [](Half a, Half b, Half c) { return valu::fma16(a, b, c); }),
    {"s_fmaak_f32", map<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"s_fmamk_f32", map<[](float a, float b, float c) { return std::fma(a, b, c); }>},
    {"s_min_f32", &ieee_entry<kMin<float, true>, kMin<float, false>>},
    {"s_max_f32", &ieee_entry<kMax<float, true>, kMax<float, false>>},
    {"s_min_f16", &ieee_entry<kMin<Half, true>, kMin<Half, false>>},
    {"s_max_f16", &ieee_entry<kMax<Half, true>, kMax<Half, false>>},
    BOTH(
        "ceil", [](float a) { return std::ceil(a); }, [](Half a) { return rounded(std::ceil(to_float(a))); }),
    BOTH(
        "floor", [](float a) { return std::floor(a); }, [](Half a) { return rounded(std::floor(to_float(a))); }),
    BOTH(
        "trunc", [](float a) { return std::trunc(a); }, [](Half a) { return rounded(std::trunc(to_float(a))); }),
    BOTH(
        "rndne", [](float a) { return __builtin_roundevenf(a); },
        [](Half a) { return rounded(__builtin_roundevenf(to_float(a))); }),
    {"s_cvt_f32_i32", map<[](int32_t a) { return static_cast<float>(a); }>},
    {"s_cvt_f32_u32", map<[](uint32_t a) { return static_cast<float>(a); }>},
    {"s_cvt_i32_f32", map<[](float a) { return to_integer<int32_t>(a); }>},
    {"s_cvt_u32_f32", map<[](float a) { return to_integer<uint32_t>(a); }>},
    {"s_cvt_f16_f32", map<[](float a) { return rounded(a); }>},
    {"s_cvt_f32_f16", map<[](Half a) { return to_float(a); }>},
    {"s_cvt_hi_f32_f16", map<[](uint32_t a) { return to_float(Half{static_cast<uint16_t>(a >> 16)}); }>},
    {"s_cvt_pk_rtz_f16_f32", map<[](float a, float b) {
       return uint32_t{valu::to_half_toward_zero(a).bits} | uint32_t{valu::to_half_toward_zero(b).bits} << 16;
     }>},
    COMPARE("lt", kLess),
    COMPARE("eq", kEqual),
    COMPARE("le", kLess | kEqual),
    COMPARE("gt", kGreater),
    COMPARE("lg", kLess | kGreater),
    COMPARE("ge", kGreater | kEqual),
    COMPARE("o", kLess | kEqual | kGreater),
    COMPARE("u", kUnordered),
    COMPARE("nge", kLess | kUnordered),
    COMPARE("nlg", kEqual | kUnordered),
    COMPARE("ngt", kLess | kEqual | kUnordered),
    COMPARE("nle", kGreater | kUnordered),
    COMPARE("neq", kLess | kGreater | kUnordered),
    COMPARE("nlt", kGreater | kEqual | kUnordered),
};

#undef BOTH
#undef COMPARE

}  // namespace

std::span<const ExecEntry> salu_float_exec_entries() { return kEntries; }

}  // namespace vgpu
