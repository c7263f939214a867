// Pointers that kernels get for what the library cannot serve yet. A compiler lists them for every kernel that it did
// not optimize, used or not, so a kernel is not refused for having them: they lead to addresses that are never mapped,
// and the fault of a kernel that does use one says what it wanted.
#pragma once

#include <cstdint>

#include <barehip/device.h>

#include "codeobj/hidden_arguments.h"
#include "kfd/mapping.h"

namespace barehip::runtime {

class Unsupported {
 public:
  /// Takes the addresses, and tells every GPU of the system what they mean. Errors: those of mmap.
  static Result<Unsupported> reserve(System& system);

  /// The pointer to put into a hidden argument; 0 for kinds that are not of this sort. They are pointers all (8 bytes).
  uint64_t pointer(codeobj::ValueKind kind) const;

 private:
  explicit Unsupported(kfd::Mapping range) : range_(std::move(range)) {}
  kfd::Mapping range_;
};

}  // namespace barehip::runtime
