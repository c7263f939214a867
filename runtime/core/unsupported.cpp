#include "runtime/core/unsupported.h"

namespace barehip::runtime {
namespace {

using codeobj::ValueKind;

constexpr uint64_t kBytesEach = 1u << 20;  // more than any offset that device code uses from such a pointer

struct Row {
  ValueKind kind;
  const char* text;
};
constexpr Row kRows[] = {
    {ValueKind::kHiddenHostcallBuffer,
     "A kernel called the host (device-side printf, an assert's message, or malloc): barehip does not support that "
     "yet."},
    {ValueKind::kHiddenPrintfBuffer, "A kernel used device-side printf: barehip does not support that yet."},
    {ValueKind::kHiddenHeapV1, "A kernel used device-side malloc or free: barehip does not support that yet."},
};

}  // namespace

Result<Unsupported> Unsupported::reserve(System& system) {
  auto range = kfd::reserve_addresses(system.os(), std::size(kRows) * kBytesEach, kBytesEach);
  if (!range) return std::unexpected(range.error());
  for (const auto& device : system.devices())
    for (size_t i = 0; i < std::size(kRows); ++i)
      device->name_addresses(range->address() + i * kBytesEach, kBytesEach, kRows[i].text);
  return Unsupported(std::move(*range));
}

uint64_t Unsupported::pointer(ValueKind kind) const {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (kRows[i].kind == kind) return range_.address() + i * kBytesEach;
  return 0;
}

}  // namespace barehip::runtime
