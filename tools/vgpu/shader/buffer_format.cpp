// Buffer loads and stores that convert: MUBUF *_format_* with the format of the V#, MTBUF with the instruction's own.
//
// Format numbers are those of the "Vega" and "RDNA3" instruction set manuals, chapter "Memory buffer instructions".
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "tools/vgpu/shader/buffer_resource.h"
#include "tools/vgpu/shader/exec_lists.h"
#include "tools/vgpu/shader/small_float.h"

namespace vgpu {
namespace {

enum class Number : uint8_t { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kReserved, kFloat };

/// Widths of the components from the lowest bit up; 0 where there is none.
struct Layout {
  std::array<uint8_t, 4> bits;
  uint8_t bytes;
};

// By gfx9's data format number. Its names list the components from the highest bit down.
constexpr Layout kLayouts[16] = {
    {{}, 0},                 // invalid
    {{8}, 1},                // 8
    {{16}, 2},               // 16
    {{8, 8}, 2},             // 8_8
    {{32}, 4},               // 32
    {{16, 16}, 4},           // 16_16
    {{11, 11, 10}, 4},       // 10_11_11
    {{10, 11, 11}, 4},       // 11_11_10
    {{2, 10, 10, 10}, 4},    // 10_10_10_2
    {{10, 10, 10, 2}, 4},    // 2_10_10_10
    {{8, 8, 8, 8}, 4},       // 8_8_8_8
    {{32, 32}, 8},           // 32_32
    {{16, 16, 16, 16}, 8},   // 16_16_16_16
    {{32, 32, 32}, 12},      // 32_32_32
    {{32, 32, 32, 32}, 16},  // 32_32_32_32
    {{}, 0},                 // reserved
};

struct BufferFormat {
  uint8_t layout = 0;
  Number number = Number::kUint;
};

/// gfx11's numbers are runs of number formats, one run for each layout.
BufferFormat unified_format(uint32_t n) {
  using enum Number;
  static constexpr Number kAll[] = {kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kFloat};
  static constexpr Number kWhole[] = {kUint, kSint, kFloat};
  static constexpr Number kPacked[] = {kUnorm, kSnorm, kUint, kSint};
  static constexpr Number kOnlyFloat[] = {kFloat};
  static constexpr struct {
    uint8_t first, layout;
    std::span<const Number> numbers;
  } kRuns[] = {{1, 1, std::span(kAll, 6)},
               {7, 2, kAll},
               {14, 3, std::span(kAll, 6)},
               {20, 4, kWhole},
               {23, 5, kAll},
               {30, 6, kOnlyFloat},
               {31, 7, kOnlyFloat},
               {32, 8, kPacked},
               {36, 9, std::span(kAll, 6)},
               {42, 10, std::span(kAll, 6)},
               {48, 11, kWhole},
               {51, 12, kAll},
               {58, 13, kWhole},
               {61, 14, kWhole}};
  for (const auto& run : kRuns)
    if (n >= run.first && n < run.first + run.numbers.size()) return {run.layout, run.numbers[n - run.first]};
  return {};
}

BufferFormat format_of(const Wave& w, const Inst& i, uint32_t word3) {
  const bool gfx11 = w.group->dispatch->target->gfx11, typed = i.format == Format::kMtbuf;
  if (gfx11) return unified_format(typed ? i.tbuffer_format : word3 >> 12 & 0x3f);
  if (typed) return {static_cast<uint8_t>(i.tbuffer_format & 15), static_cast<Number>(i.tbuffer_format >> 4 & 7)};
  return {static_cast<uint8_t>(word3 >> 15 & 15), static_cast<Number>(word3 >> 12 & 7)};
}

bool is_integer(Number n) { return n == Number::kUint || n == Number::kSint; }

/// Unsigned floats of 10 and 11 bits: five exponent bits like a half, shorter mantissas.
float small_unsigned_float(uint32_t bits, unsigned width) {
  return float_from_half(static_cast<uint16_t>(bits << (15 - width)));
}
uint32_t to_small_unsigned_float(float value, unsigned width) {
  if (value != value) return (1u << width) - 1;
  if (value <= 0) return 0;
  const uint32_t half = half_from_float(value), drop = 15 - width;
  const uint32_t rounded = (half + (1u << (drop - 1)) - 1 + (half >> drop & 1)) >> drop;
  return std::min(rounded, 0x1fu << (width - 5));
}

int32_t sign_extended(uint32_t raw, unsigned width) {
  return static_cast<int32_t>(raw << (32 - width)) >> (32 - width);
}

/// One stored component as the dword that a load returns.
uint32_t from_memory(uint32_t raw, unsigned width, Number number) {
  const auto largest = static_cast<float>((uint64_t{1} << width) - 1);
  const auto largest_signed = static_cast<float>((uint64_t{1} << (width - 1)) - 1);
  const auto whole = static_cast<float>(raw), signed_whole = static_cast<float>(sign_extended(raw, width));
  switch (number) {
    case Number::kUnorm: return std::bit_cast<uint32_t>(whole / largest);
    case Number::kSnorm: return std::bit_cast<uint32_t>(std::max(signed_whole / largest_signed, -1.0f));
    case Number::kUscaled: return std::bit_cast<uint32_t>(whole);
    case Number::kSscaled: return std::bit_cast<uint32_t>(signed_whole);
    case Number::kSint: return static_cast<uint32_t>(sign_extended(raw, width));
    case Number::kFloat:
      if (width == 32) return raw;
      return std::bit_cast<uint32_t>(width == 16 ? float_from_half(static_cast<uint16_t>(raw))
                                                 : small_unsigned_float(raw, width));
    default: return raw;
  }
}

/// The other way. Numbers that do not fit are clamped, except integers, of which the low bits are stored.
uint32_t to_memory(uint32_t value, unsigned width, Number number) {
  const float f = std::bit_cast<float>(value) == std::bit_cast<float>(value) ? std::bit_cast<float>(value) : 0.0f;
  const double largest = static_cast<double>((uint64_t{1} << width) - 1);
  const double largest_signed = static_cast<double>((uint64_t{1} << (width - 1)) - 1);
  const auto as_signed = [](double v) { return static_cast<uint32_t>(static_cast<int64_t>(v)); };
  switch (number) {
    case Number::kUnorm: return static_cast<uint32_t>(__builtin_roundeven(std::clamp<double>(f, 0, 1) * largest));
    case Number::kSnorm: return as_signed(__builtin_roundeven(std::clamp<double>(f, -1, 1) * largest_signed));
    case Number::kUscaled: return static_cast<uint32_t>(std::clamp<double>(f, 0, largest));
    case Number::kSscaled: return as_signed(std::clamp<double>(f, -largest_signed - 1, largest_signed));
    case Number::kFloat:
      if (width == 32) return value;
      return width == 16 ? half_from_float(std::bit_cast<float>(value))
                         : to_small_unsigned_float(std::bit_cast<float>(value), width);
    default: return value;
  }
}

/// A loaded dword in 16 bits, and back.
uint32_t narrowed(uint32_t value, Number number) {
  return is_integer(number) ? value & 0xffff : half_from_float(std::bit_cast<float>(value));
}
uint32_t widened(uint32_t half, Number number) {
  if (number == Number::kSint) return static_cast<uint32_t>(static_cast<int16_t>(half));
  return number == Number::kUint ? half : std::bit_cast<uint32_t>(float_from_half(static_cast<uint16_t>(half)));
}

/// The bits of one element, up to 16 bytes.
class Element {
 public:
  explicit Element(const Layout& layout) : layout_(layout) {}
  std::array<uint32_t, 4> words{};

  uint32_t get(unsigned component) const {
    const unsigned at = position(component), width = layout_.bits[component];
    const uint32_t word = words[at / 32] >> (at % 32);
    return width == 32 ? word : word & ((1u << width) - 1);
  }
  void set(unsigned component, uint32_t value) {
    const unsigned at = position(component), width = layout_.bits[component];
    words[at / 32] |= (width == 32 ? value : value & ((1u << width) - 1)) << (at % 32);
  }

 private:
  unsigned position(unsigned component) const {
    unsigned at = 0;
    for (unsigned n = 0; n < component; ++n) at += layout_.bits[n];
    return at;
  }
  const Layout& layout_;
};

bool load_element(const Buffer& buffer, uint32_t lane, const Layout& layout, Element& element) {
  if (layout.bytes == 1) return buffer.load<1>(lane, 0, element.words.data());
  if (layout.bytes == 2) return buffer.load<2>(lane, 0, element.words.data());
  for (uint32_t k = 0; k < layout.bytes / 4u; ++k)
    if (!buffer.load<4>(lane, k * 4, &element.words[k])) return false;
  return true;
}
bool store_element(const Buffer& buffer, uint32_t lane, const Layout& layout, const Element& element) {
  if (layout.bytes == 1) return buffer.store<1>(lane, 0, element.words.data());
  if (layout.bytes == 2) return buffer.store<2>(lane, 0, element.words.data());
  for (uint32_t k = 0; k < layout.bytes / 4u; ++k)
    if (!buffer.store<4>(lane, k * 4, &element.words[k])) return false;
  return true;
}

/// What a selector of the V# chooses: 0, 1, or a component; a component that the format lacks is 0, the last one 1.
uint32_t selected(const Element& element, const Layout& layout, Number number, uint32_t selector) {
  const uint32_t one = is_integer(number) ? 1 : 0x3f800000;
  if (selector < 4) return selector == 1 ? one : 0;
  const unsigned component = selector - 4;
  if (layout.bits[component] == 0) return component == 3 ? one : 0;
  return from_memory(element.get(component), layout.bits[component], number);
}

bool refused(Wave& w, const Inst& i, const BufferFormat& format) {
  if (i.tfe)
    w.raise(WaveError::Kind::kUnsupported, "vgpu does not execute buffer accesses with TFE");
  else if (kLayouts[format.layout].bytes == 0)
    w.raise(WaveError::Kind::kUnsupported, "the buffer's format is not one that can be converted");
  else
    return false;
  return true;
}

enum class Half16 : uint8_t { kNone, kPacked, kHigh };

template <unsigned kComponents, Half16 kHalf>
void load(Wave& w, const Inst& i) {
  const Buffer buffer(w, i);
  const BufferFormat format = format_of(w, i, buffer.word3());
  if (refused(w, i, format)) return;
  const Layout& layout = kLayouts[format.layout];
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    Element element(layout);
    if (!load_element(buffer, lane, layout, element)) return;
    for (unsigned n = 0; n < kComponents; ++n) {
      const uint32_t value = selected(element, layout, format.number, buffer.word3() >> (3 * n) & 7);
      if (kHalf == Half16::kNone) {
        if (i.lds || !i.dst[0])
          store_lds<4>(w, lds_place(w, i, lane), &value);
        else
          operand_row(w, i.dst[0], n)[lane] = value;
        continue;
      }
      uint32_t& d = operand_row(w, i.dst[0], n / 2)[lane];
      const bool high = kHalf == Half16::kHigh || (n & 1) != 0;
      const uint32_t half = narrowed(value, format.number);
      d = high ? (d & 0xffff) | half << 16 : (d & 0xffff0000) | half;
    }
  });
}

template <unsigned kComponents, Half16 kHalf>
void store(Wave& w, const Inst& i) {
  const Buffer buffer(w, i);
  const BufferFormat format = format_of(w, i, buffer.word3());
  if (refused(w, i, format)) return;
  const Layout& layout = kLayouts[format.layout];
  for_lanes(w, w.exec(), [&](uint32_t lane) {
    Element element(layout);
    for (unsigned n = 0; n < kComponents && layout.bits[n] != 0; ++n) {
      uint32_t value;
      if (kHalf == Half16::kNone) {
        value = operand_row(w, i.src[1], n)[lane];
      } else {
        const uint32_t pair = operand_row(w, i.src[1], n / 2)[lane];
        value = widened(kHalf == Half16::kHigh || (n & 1) != 0 ? pair >> 16 : pair & 0xffff, format.number);
      }
      element.set(n, to_memory(value, layout.bits[n], format.number));
    }
    store_element(buffer, lane, layout, element);
  });
}

#define WIDTHS(start, function, half)                                                                     \
  {start "_x", function<1, half>}, {start "_xy", function<2, half>}, {start "_xyz", function<3, half>}, { \
    start "_xyzw", function<4, half>                                                                      \
  }

constexpr ExecEntry kEntries[] = {
    WIDTHS("buffer_load_format", load, Half16::kNone),       WIDTHS("buffer_load_d16_format", load, Half16::kPacked),
    WIDTHS("buffer_store_format", store, Half16::kNone),     WIDTHS("buffer_store_d16_format", store, Half16::kPacked),
    WIDTHS("tbuffer_load_format", load, Half16::kNone),      WIDTHS("tbuffer_load_d16_format", load, Half16::kPacked),
    WIDTHS("tbuffer_store_format", store, Half16::kNone),    WIDTHS("tbuffer_store_d16_format", store, Half16::kPacked),
    {"buffer_load_d16_hi_format_x", load<1, Half16::kHigh>}, {"buffer_store_d16_hi_format_x", store<1, Half16::kHigh>},
    {"buffer_load_lds_format_x", load<1, Half16::kNone>},
};

#undef WIDTHS

}  // namespace

std::span<const ExecEntry> buffer_format_exec_entries() { return kEntries; }

}  // namespace vgpu
