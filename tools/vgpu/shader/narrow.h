// Loads and stores of less than a dword: how the bytes become a register and back.
#pragma once

#include <cstdint>

namespace vgpu {

enum class Narrow : uint8_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kD16U8,
  kD16I8,
  kD16B16,  ///< into the low half, the high half stays
  kD16HiU8,
  kD16HiI8,
  kD16HiB16,  ///< into the high half, the low half stays
};

constexpr uint32_t narrow_bytes(Narrow kind) {
  switch (kind) {
    case Narrow::kU16:
    case Narrow::kI16:
    case Narrow::kD16B16:
    case Narrow::kD16HiB16: return 2;
    default: return 1;
  }
}

/// The register after loading `raw` (zero-extended) over `old`.
template <Narrow kKind>
constexpr uint32_t widen(uint32_t raw, uint32_t old) {
  const uint32_t sext8 = static_cast<uint32_t>(static_cast<int8_t>(raw));
  switch (kKind) {
    case Narrow::kU8:
    case Narrow::kU16: return raw;
    case Narrow::kI8: return sext8;
    case Narrow::kI16: return static_cast<uint32_t>(static_cast<int16_t>(raw));
    case Narrow::kD16U8:
    case Narrow::kD16B16: return (old & 0xffff0000u) | raw;
    case Narrow::kD16I8: return (old & 0xffff0000u) | (sext8 & 0xffff);
    case Narrow::kD16HiU8:
    case Narrow::kD16HiB16: return (old & 0xffff) | raw << 16;
    case Narrow::kD16HiI8: return (old & 0xffff) | sext8 << 16;
  }
  return raw;
}

}  // namespace vgpu
