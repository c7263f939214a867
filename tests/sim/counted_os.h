// For programs that link the library statically: its system calls counted, or made to fail.
#pragma once

#include "kfd/os_failing.h"
#include "runtime/core/runtime.h"
#include "tests/catch.h"

namespace sim {

/// Puts a FailingOs between the library and the table that the environment names. Call before the first HIP call. The
/// object lives until exit, as the runtime does.
inline barehip::kfd::FailingOs& counted_os() {
  static barehip::kfd::FailingOs* const kOs = [] {
    auto inner = barehip::os_from_environment();
    REQUIRE(inner);
    auto* os = new barehip::kfd::FailingOs(**inner);
    barehip::runtime::Runtime::set_os_table(os->table());
    return os;
  }();
  return *kOs;
}

}  // namespace sim
