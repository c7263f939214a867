// The frame that all vector ALU operations share: fetch sources of all lanes, compute, write under EXEC.
//
// An operation is written as a function of one lane, `[](float a, float b) { return a + b; }`; map<> makes the whole
// instruction out of it. The parameter types say how sources are read (16, 32 or 64 bits, with neg, abs, op_sel, SDWA
// and DPP applied), the return type says how the result is written (with omod, clamp, op_sel, SDWA).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "tools/vgpu/isa/inst.h"
#include "tools/vgpu/isa/valu/half.h"
#include "tools/vgpu/shader/wave.h"

namespace vgpu::valu {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;

constexpr unsigned kLanes = 64;

/// One 32-bit value per lane.
struct alignas(64) Row {
  u32 v[kLanes];
};

// lanes.cpp -----------------------------------------------------------------------------------------------------

/// The lanes that the instruction may write: EXEC, without those that DPP masks or leaves without a source.
u64 write_mask(const Wave& w, const Inst& i);

/// Dword `part` of source n in every lane, without 16-bit selection, neg or abs. May point into the register file or
/// to `buffer`.
const u32* raw_row(const Wave& w, const Inst& i, size_t n, unsigned part, Row& buffer);

/// Source n as 32-bit values with all its modifiers (float sign modifiers at bit 31).
const u32* row32(const Wave& w, const Inst& i, size_t n, Row& buffer);
/// Source n as 16-bit values in the low half, modifiers at bit 15; the high half is zero.
const u32* row16(const Wave& w, const Inst& i, size_t n, Row& buffer);
/// Source n as 64-bit values in two rows, modifiers at bit 63.
struct Pair {
  const u32 *lo, *hi;
};
Pair row64(const Wave& w, const Inst& i, size_t n, Row& lo, Row& hi);

/// The register row that an operand names.
u32* register_row(Wave& w, const Operand& operand, unsigned part = 0);

void write32(Wave& w, const Inst& i, const Row& value, u64 mask);
void write16(Wave& w, const Inst& i, const Row& value, u64 mask);
void write64(Wave& w, const Inst& i, const Row& lo, const Row& hi, u64 mask);
/// Writes a lane mask (compare or carry result) to destination n; inactive lanes get 0.
void write_mask_result(Wave& w, const Operand& dst, u64 value);
/// A lane mask source.
u64 mask_source(const Wave& w, const Operand& operand);

void finish_f32(const Wave& w, const Inst& i, Row& value);
void finish_f16(const Wave& w, const Inst& i, Row& value);
void finish_f64(const Wave& w, const Inst& i, Row& lo, Row& hi);

/// Copies under a mask.
void blend(u32* to, const u32* from, u64 mask);

// Typed access to one lane of a source --------------------------------------------------------------------------

template <class T>
inline constexpr bool kIs16 = std::is_same_v<T, Half> || std::is_same_v<T, u16> || std::is_same_v<T, i16>;
template <class T>
inline constexpr bool kIs64 = sizeof(T) == 8;
template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

/// Source n of an instruction read as T.
template <class T>
class Source {
 public:
  Source(const Wave& w, const Inst& i, size_t n) {
    if constexpr (kIs64<T>) {
      const Pair pair = row64(w, i, n, a_, b_);
      lo_ = pair.lo;
      hi_ = pair.hi;
    } else if constexpr (kIs16<T>) {
      lo_ = row16(w, i, n, a_);
    } else {
      lo_ = row32(w, i, n, a_);
    }
  }
  T operator[](unsigned lane) const {
    if constexpr (kIs64<T>)
      return std::bit_cast<T>(u64{lo_[lane]} | u64{hi_[lane]} << 32);
    else if constexpr (kIs16<T>)
      return std::bit_cast<T>(static_cast<u16>(lo_[lane]));
    else
      return std::bit_cast<T>(lo_[lane]);
  }

 private:
  struct Nothing {};
  const u32* lo_ = nullptr;
  const u32* hi_ = nullptr;
  Row a_;
  [[no_unique_address]] std::conditional_t<kIs64<T>, Row, Nothing> b_;
};

/// The destination's old content read as T ("mac" operations).
template <class T>
class Accumulator {
 public:
  Accumulator(Wave& w, const Inst& i) : lo_(register_row(w, i.dst[0])), hi_(lo_), shift_(i.dst_hi ? 16 : 0) {
    if constexpr (kIs64<T>) hi_ = register_row(w, i.dst[0], 1);
  }
  T operator[](unsigned lane) const {
    if constexpr (kIs64<T>)
      return std::bit_cast<T>(u64{lo_[lane]} | u64{hi_[lane]} << 32);
    else if constexpr (kIs16<T>)
      return std::bit_cast<T>(static_cast<u16>(lo_[lane] >> shift_));
    else
      return std::bit_cast<T>(lo_[lane]);
  }

 private:
  const u32 *lo_, *hi_;
  unsigned shift_;
};

/// Result of all lanes, collected and then written.
template <class T>
class Result {
 public:
  void set(unsigned lane, T value) {
    if constexpr (kIs64<T>) {
      const u64 bits = std::bit_cast<u64>(value);
      lo_.v[lane] = static_cast<u32>(bits);
      hi_.v[lane] = static_cast<u32>(bits >> 32);
    } else if constexpr (kIs16<T>) {
      lo_.v[lane] = std::bit_cast<u16>(value);
    } else {
      lo_.v[lane] = std::bit_cast<u32>(value);
    }
  }
  void write(Wave& w, const Inst& i) {
    if constexpr (kIsFloat<T>) {
      if (i.clamp || i.omod) {
        if constexpr (kIs64<T>)
          finish_f64(w, i, lo_, hi_);
        else if constexpr (kIs16<T>)
          finish_f16(w, i, lo_);
        else
          finish_f32(w, i, lo_);
      }
    }
    const u64 mask = write_mask(w, i);
    if constexpr (kIs64<T>)
      write64(w, i, lo_, hi_, mask);
    else if constexpr (kIs16<T>)
      write16(w, i, lo_, mask);
    else
      write32(w, i, lo_, mask);
  }

 private:
  struct Nothing {};
  Row lo_;
  [[no_unique_address]] std::conditional_t<kIs64<T>, Row, Nothing> hi_;
};

// Rounding and denormals ------------------------------------------------------------------------------------------

/// Which MODE fields an operation follows.
enum class FloatClass { kNone, kF32, kF64 };  // f16 goes with f64

constexpr u32 kDefaultMode32 = 0x30, kDefaultMode64 = 0xc0, kMask32 = 0x33, kMask64 = 0xcc;

inline bool default_mode(const Wave& w, FloatClass c) {
  return c == FloatClass::kNone ||
         (c == FloatClass::kF32 ? (w.mode & kMask32) == kDefaultMode32 : (w.mode & kMask64) == kDefaultMode64);
}

/// Runs an operation under the rounding and denormal mode that the wave asks for.
void run_in_mode(Wave& w, const Inst& i, FloatClass c, ExecFn body);

template <class T>
constexpr FloatClass float_class() {
  if constexpr (std::is_same_v<T, float>)
    return FloatClass::kF32;
  else if constexpr (kIsFloat<T>)
    return FloatClass::kF64;
  else
    return FloatClass::kNone;
}

// The mappers -----------------------------------------------------------------------------------------------------

template <class F>
struct Signature;
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> {
  using Return = R;
  template <size_t n>
  using Arg = std::tuple_element_t<n, std::tuple<A...>>;
  static constexpr size_t kArgs = sizeof...(A);
  static constexpr FloatClass arg_class() {
    FloatClass c = float_class<R>();
    ((c = c == FloatClass::kNone || float_class<A>() == FloatClass::kF64
              ? (float_class<A>() == FloatClass::kNone ? c : float_class<A>())
              : c),
     ...);
    return c;
  }
};

template <auto F>
using SignatureOf = Signature<decltype(&decltype(F)::operator())>;

template <auto F, bool kAccumulate>
[[gnu::noinline]] void map_body(Wave& w, const Inst& i) {
  using S = SignatureOf<F>;
  using R = typename S::Return;
  Result<R> out;
  const unsigned lanes = w.lanes();
  if constexpr (S::kArgs == 1) {
    const Source<typename S::template Arg<0>> a(w, i, 0);
    for (unsigned l = 0; l < lanes; ++l) out.set(l, F(a[l]));
  } else if constexpr (S::kArgs == 2) {
    const Source<typename S::template Arg<0>> a(w, i, 0);
    const Source<typename S::template Arg<1>> b(w, i, 1);
    for (unsigned l = 0; l < lanes; ++l) out.set(l, F(a[l], b[l]));
  } else if constexpr (kAccumulate) {
    const Source<typename S::template Arg<0>> a(w, i, 0);
    const Source<typename S::template Arg<1>> b(w, i, 1);
    const Accumulator<typename S::template Arg<2>> c(w, i);
    for (unsigned l = 0; l < lanes; ++l) out.set(l, F(a[l], b[l], c[l]));
  } else {
    const Source<typename S::template Arg<0>> a(w, i, 0);
    const Source<typename S::template Arg<1>> b(w, i, 1);
    const Source<typename S::template Arg<2>> c(w, i, 2);
    for (unsigned l = 0; l < lanes; ++l) out.set(l, F(a[l], b[l], c[l]));
  }
  out.write(w, i);
}

template <auto F, bool kAccumulate>
void map_entry(Wave& w, const Inst& i) {
  constexpr FloatClass c = SignatureOf<F>::arg_class();
  if constexpr (c != FloatClass::kNone) {
    if (!default_mode(w, c)) return run_in_mode(w, i, c, &map_body<F, kAccumulate>);
  }
  map_body<F, kAccumulate>(w, i);
}

/// One result from one to three sources.
template <auto F>
inline constexpr ExecFn map = &map_entry<F, false>;

/// The same with the destination's old value as the last argument.
template <auto F>
inline constexpr ExecFn map_acc = &map_entry<F, true>;

/// F, or G when the clamp bit is set: integer operations saturate in full precision.
template <auto F, auto G>
void clamp_entry(Wave& w, const Inst& i) {
  if (i.clamp)
    map_body<G, false>(w, i);
  else
    map_body<F, false>(w, i);
}
template <auto F, auto G>
inline constexpr ExecFn map_clamp = &clamp_entry<F, G>;

/// F in IEEE mode, else G.
template <auto F, auto G>
void ieee_entry(Wave& w, const Inst& i) {
  if (w.mode & Mode::kIeee)
    map_entry<F, false>(w, i);
  else
    map_entry<G, false>(w, i);
}
template <auto F, auto G>
inline constexpr ExecFn map_ieee = &ieee_entry<F, G>;

}  // namespace vgpu::valu
