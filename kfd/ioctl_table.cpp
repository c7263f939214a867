#include "kfd/ioctl_table.h"

#include "kfd/uapi.h"

namespace barehip::kfd {
namespace {

constexpr IoctlRow kRows[] = {
#define KFD_IOCTL(NAME, name, nr, direction, minor) {nr, #NAME, sizeof(uapi::name##_args), minor, nullptr},
#define KFD_FIELD(ioctl, type, field, way, format)
#define KFD_IOCTL_END(name)
#define KFD_REFUSED(NAME, nr, direction, bytes, minor, why) {nr, #NAME, bytes, minor, why},
#include "kfd/ioctls.def"
};

}  // namespace

std::span<const IoctlRow> ioctl_table() { return kRows; }

const char* ioctl_name(unsigned long request) {
  if (((request >> 8) & 0xff) != 'K') return nullptr;
  for (const IoctlRow& row : kRows)
    if (row.nr == (request & 0xff)) return row.name;
  return nullptr;
}

}  // namespace barehip::kfd
