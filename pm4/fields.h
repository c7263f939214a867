// One description of a packet, from which encoding, decoding and printing follow.
//
// A packet is a plain struct with a static tuple `kFields`. Each field says in which bits of which dwords its value
// lies. A value is stored minus `bias` (counts that the engine stores minus one) and in one or two parts, so an
// address is one field even where a packet splits it. Bits that no field covers are reserved: zero when encoded,
// malformed when not zero. Everything is resolved at compile time; encoding a packet is shifts and stores.
#pragma once

#include <barehip/error.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "pm4/caps.h"

namespace barehip::pm4 {

/// `width` bits of dword `dword` from bit `lsb`; they hold the value's bits from `value_lsb`.
struct Part {
  uint8_t dword = 0;
  uint8_t lsb = 0;
  uint8_t width = 0;
  uint8_t value_lsb = 0;

  [[nodiscard]] constexpr uint32_t mask() const { return static_cast<uint32_t>(((uint64_t{1} << width) - 1) << lsb); }
};

template <auto Member>
struct Field {
  const char* name;
  Part parts[2]{};
  uint32_t bias = 0;
  CapSet needs{};           ///< a value other than zero needs these
  uint8_t narrow_bits = 0;  ///< how many bits it has without `wide_needs`; 0: always all
  CapSet wide_needs{};

  [[nodiscard]] constexpr Field with_bias(uint32_t value) const {
    Field copy = *this;
    copy.bias = value;
    return copy;
  }
  [[nodiscard]] constexpr Field needing(Cap cap) const {
    Field copy = *this;
    copy.needs = CapSet{cap};
    return copy;
  }
  [[nodiscard]] constexpr Field narrow_without(Cap cap, uint8_t bits) const {
    Field copy = *this;
    copy.narrow_bits = bits;
    copy.wide_needs = CapSet{cap};
    return copy;
  }
};

/// A field inside one dword.
template <auto Member>
constexpr Field<Member> bits(const char* name, uint8_t dword, uint8_t lsb, uint8_t width) {
  return {name, {{dword, lsb, width, 0}, {}}};
}
/// A 64-bit value in two dwords, low one first. `align_bits` low bits are not stored and must be zero.
template <auto Member>
constexpr Field<Member> qword(const char* name, uint8_t dword, uint8_t align_bits = 0, uint8_t high_width = 32) {
  return {name,
          {{dword, align_bits, static_cast<uint8_t>(32 - align_bits), align_bits},
           {static_cast<uint8_t>(dword + 1), 0, high_width, 32}}};
}

/// What an attempt to decode gave. `dwords`: the packet's length; for kNeedMore: how many are needed at least.
enum class Outcome : uint8_t { kPacket, kNeedMore, kMalformed };

template <class Packet>
struct Decoded {
  Outcome outcome = Outcome::kMalformed;
  uint32_t dwords = 0;
  Packet packet{};
  const char* field = "";  ///< kMalformed: the field at fault
  std::string error;       ///< kMalformed: a sentence
};

namespace detail {

template <class P, class T>
T member_type(T P::*);

template <class P>
concept HasTail = requires { P::kTail; };

constexpr bool field_fits(uint64_t stored, const Part (&parts)[2], uint8_t narrow_bits) {
  uint64_t covered = 0;
  for (const Part& part : parts) covered |= ((uint64_t{1} << part.width) - 1) << part.value_lsb;
  if (narrow_bits) covered &= (uint64_t{1} << narrow_bits) - 1;
  return (stored & ~covered) == 0;
}

template <auto Member, class P>
constexpr bool put_field(const Field<Member>& field, const P& packet, CapSet caps, uint32_t* dwords) {
  const uint64_t value = static_cast<uint64_t>(packet.*Member);
  if (value < field.bias) return false;
  const uint64_t stored = value - field.bias;
  if (stored && !caps.has_all(field.needs)) return false;
  const uint8_t narrow = caps.has_all(field.wide_needs) ? uint8_t{0} : field.narrow_bits;
  if (!field_fits(stored, field.parts, narrow)) return false;
  for (const Part& part : field.parts) {
    if (!part.width) continue;
    const uint64_t mask = (uint64_t{1} << part.width) - 1;
    dwords[part.dword] |= static_cast<uint32_t>(((stored >> part.value_lsb) & mask) << part.lsb);
  }
  return true;
}

template <auto Member, class P>
constexpr bool get_field(const Field<Member>& field, P& packet, CapSet caps, const uint32_t* dwords) {
  uint64_t stored = 0;
  for (const Part& part : field.parts) {
    if (!part.width) continue;
    const uint64_t mask = (uint64_t{1} << part.width) - 1;
    stored |= ((dwords[part.dword] >> part.lsb) & mask) << part.value_lsb;
  }
  packet.*Member = static_cast<decltype(member_type(Member))>(stored + field.bias);
  if (stored && !caps.has_all(field.needs)) return false;
  return caps.has_all(field.wide_needs) || field_fits(stored, field.parts, field.narrow_bits);
}

/// Bits of the packet's fixed part that some field covers, by dword. Dword 0 also has the framing's own bits.
template <class P>
consteval std::array<uint32_t, P::kDwords> covered_bits(uint32_t header_bits) {
  std::array<uint32_t, P::kDwords> mask{};
  mask[0] = header_bits;
  const auto add = [&](const Part(&parts)[2]) {
    for (const Part& part : parts) {
      if (part.width) mask[part.dword] |= part.mask();
    }
  };
  std::apply([&](const auto&... field) { (add(field.parts), ...); }, P::kFields);
  return mask;
}

/// Writes all fields over zeroed dwords. Returns the name of the first field whose value does not fit, else null.
template <class P>
constexpr const char* put_fields(const P& packet, CapSet caps, uint32_t* dwords) {
  const char* bad = nullptr;
  std::apply(
      [&](const auto&... field) {
        (void)((put_field(field, packet, caps, dwords) || (bad = field.name, false)) && ...);
      },
      P::kFields);
  return bad;
}

template <class P>
constexpr const char* get_fields(P& packet, CapSet caps, const uint32_t* dwords) {
  const char* bad = nullptr;
  std::apply(
      [&](const auto&... field) {
        (void)((get_field(field, packet, caps, dwords) || (bad = field.name, false)) && ...);
      },
      P::kFields);
  return bad;
}

void append_field(std::string& out, const char* name, uint64_t value);
void append_dwords(std::string& out, std::span<const uint32_t> data);
std::unexpected<Error> field_error(const char* packet, const char* field, uint64_t value);
std::unexpected<Error> room_error(const char* packet, size_t needed, size_t room);
std::string reserved_text(const char* packet, unsigned dword, uint32_t bits);
std::string field_text(const char* packet, const char* field, CapSet missing);

/// Value of the named field, for error texts.
template <class P>
uint64_t field_value(const P& packet, const char* name) {
  uint64_t value = 0;
  const auto look = [&]<auto Member>(const Field<Member>& field) {
    if (field.name == name) value = static_cast<uint64_t>(packet.*Member);
  };
  std::apply([&](const auto&... field) { (look(field), ...); }, P::kFields);
  return value;
}

}  // namespace detail

/// The packet on one line: name, then every field as name=value (numbers in hexadecimal).
template <class P>
  requires requires { P::kFields; }
std::string describe(const P& packet) {
  std::string out = P::kName;
  const auto add = [&]<auto Member>(const Field<Member>& field) {
    detail::append_field(out, field.name, static_cast<uint64_t>(packet.*Member));
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, P::kFields);
  if constexpr (detail::HasTail<P>) detail::append_dwords(out, packet.data);
  return out;
}

}  // namespace barehip::pm4
