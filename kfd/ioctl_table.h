// The rows of ioctls.def, for what prints them: the recorder, the table of docs/kfd.md.
#pragma once

#include <cstdint>
#include <span>

namespace barehip::kfd {

struct IoctlRow {
  uint32_t nr;
  const char* name;
  uint32_t bytes;           ///< of its argument
  uint32_t minor;           ///< KFD 1.minor has it first
  const char* refused_for;  ///< why barehip does not issue it; null when it does
};

std::span<const IoctlRow> ioctl_table();

/// Name of a KFD command ("GET_VERSION"), or null for a number that is not in the table.
const char* ioctl_name(unsigned long request);

}  // namespace barehip::kfd
