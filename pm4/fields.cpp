#include "pm4/fields.h"

#include <algorithm>
#include <cstdio>

namespace barehip::pm4::detail {
namespace {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

void append_field(std::string& out, const char* name, uint64_t value) {
  out += ' ';
  out += name;
  out += '=';
  out += hex(value);
}

void append_dwords(std::string& out, std::span<const uint32_t> data) {
  constexpr size_t kShown = 16;
  out += " data=[";
  for (size_t i = 0; i < std::min(data.size(), kShown); ++i) out += (i ? " " : "") + hex(data[i]);
  if (data.size() > kShown) out += " ... " + std::to_string(data.size()) + " dwords";
  out += ']';
}

std::unexpected<Error> field_error(const char* packet, const char* field, uint64_t value) {
  return fail(ErrorCode::kInvalidArgument, "encode packet",
              std::string(packet) + ": " + field + " cannot be " + hex(value) + " on this target");
}

std::unexpected<Error> room_error(const char* packet, size_t needed, size_t room) {
  return fail(
      ErrorCode::kInvalidArgument, "encode packet",
      std::string(packet) + " has " + std::to_string(needed) + " dwords, there is room for " + std::to_string(room));
}

std::string reserved_text(const char* packet, unsigned dword, uint32_t bits) {
  return std::string(packet) + ": reserved bits " + hex(bits) + " of dword " + std::to_string(dword) + " are set";
}

std::string field_text(const char* packet, const char* field, CapSet missing) {
  std::string text = std::string(packet) + ": " + field + " has a value that this target does not know";
  for (unsigned i = 0; i < static_cast<unsigned>(Cap::kCount); ++i) {
    const Cap cap = static_cast<Cap>(i);
    if (missing.has(cap)) text += " (needs " + std::string(to_string(cap)) + ")";
  }
  return text;
}

}  // namespace barehip::pm4::detail
