// Numbers in error texts.
#pragma once

#include <cstdint>
#include <string>

namespace vgpu {

/// "0x1f".
inline std::string hex(uint64_t value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + digits;
}

}  // namespace vgpu
