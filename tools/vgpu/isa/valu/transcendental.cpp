// Approximated functions. Hardware is within about one unit of the last place; here they are the host's results,
// computed in double and rounded once.
#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/lanes.h"
#include "tools/vgpu/isa/valu/math.h"

namespace vgpu::valu {
namespace {

/// Sine and cosine take revolutions. Up to gfx9 they give up beyond 256 of them (the compiler takes the fraction
/// first there).
template <bool kLimited>
inline double sine_of_turns(double x) {
  if (std::isinf(x)) return std::numeric_limits<double>::quiet_NaN();
  if (kLimited && std::fabs(x) > 256.0) return 0.0;
  const double part = x - std::rint(x);  // exact, in [-1/2, 1/2]
  if (part == 0) return std::copysign(0.0, x);
  if (std::fabs(part) == 0.5) return 0.0;
  return std::sin(part * 6.283185307179586477);
}
template <bool kLimited>
inline double cosine_of_turns(double x) {
  if (std::isinf(x)) return std::numeric_limits<double>::quiet_NaN();
  if (kLimited && std::fabs(x) > 256.0) return 1.0;
  const double part = std::fabs(x - std::rint(x));
  if (part == 0.25) return 0.0;
  return std::cos(part * 6.283185307179586477);
}

/// F up to gfx9, G from gfx11 on.
template <auto F, auto G>
void family_entry(Wave& w, const Inst& i) {
  if (i.gfx11)
    map<G>(w, i);
  else
    map<F>(w, i);
}
template <auto F, auto G>
constexpr ExecFn map_family = &family_entry<F, G>;

/// exp, log, sin and cos of float see denormals as zero and give none, whatever MODE says.
template <auto F>
inline float flushing(float a) {
  return flushed(static_cast<float>(F(double{flushed(a)})));
}

inline double exp2_of(double x) { return std::exp2(x); }
inline double log2_of(double x) { return std::log2(x); }

inline float reciprocal(float a) { return 1.0f / a; }
inline float reciprocal_root(float a) { return static_cast<float>(1.0 / std::sqrt(double{a})); }

template <auto F>
inline Half in_double(Half a) {
  return to_half(F(double{to_float(a)}));
}

constexpr ExecEntry kEntries[] = {
    {"v_exp_f32", map<[](float a) { return flushing<exp2_of>(a); }>},
    {"v_log_f32", map<[](float a) { return flushing<log2_of>(a); }>},
    {"v_exp_legacy_f32", map<[](float a) { return flushing<exp2_of>(a); }>},
    {"v_log_legacy_f32", map<[](float a) { return flushing<log2_of>(a); }>},
    {"v_sin_f32", map_family<[](float a) { return flushing<sine_of_turns<true>>(a); },
                             [](float a) { return flushing<sine_of_turns<false>>(a); }>},
    {"v_cos_f32", map_family<[](float a) { return flushing<cosine_of_turns<true>>(a); },
                             [](float a) { return flushing<cosine_of_turns<false>>(a); }>},
    {"v_rcp_f32", map<[](float a) { return reciprocal(a); }>},
    {"v_rcp_iflag_f32", map<[](float a) { return reciprocal(a); }>},
    {"v_rsq_f32", map<[](float a) { return reciprocal_root(a); }>},
    {"v_sqrt_f32", map<[](float a) { return std::sqrt(a); }>},

    {"v_rcp_f64", map<[](double a) { return 1.0 / a; }>},
    {"v_rsq_f64", map<[](double a) { return 1.0 / std::sqrt(a); }>},
    {"v_sqrt_f64", map<[](double a) { return std::sqrt(a); }>},

    {"v_exp_f16", map<[](Half a) { return in_double<exp2_of>(a); }>},
    {"v_log_f16", map<[](Half a) { return in_double<log2_of>(a); }>},
    {"v_sin_f16", map_family<[](Half a) { return in_double<sine_of_turns<true>>(a); },
                             [](Half a) { return in_double<sine_of_turns<false>>(a); }>},
    {"v_cos_f16", map_family<[](Half a) { return in_double<cosine_of_turns<true>>(a); },
                             [](Half a) { return in_double<cosine_of_turns<false>>(a); }>},
    {"v_rcp_f16", map<[](Half a) { return to_half(1.0 / double{to_float(a)}); }>},
    {"v_rsq_f16", map<[](Half a) { return to_half(1.0 / std::sqrt(double{to_float(a)})); }>},
    {"v_sqrt_f16", map<[](Half a) { return to_half(std::sqrt(double{to_float(a)})); }>},
};

}  // namespace

std::span<const ExecEntry> transcendental_entries() { return kEntries; }

}  // namespace vgpu::valu
