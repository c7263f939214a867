// Where each entry point of the library is, for hipGetProcAddress.
#pragma once

#include <span>

#include "runtime/api/api_table.h"

namespace barehip::runtime {

struct ApiAddress {
  ApiId id;
  void (*address)();
};
std::span<const ApiAddress> api_addresses();

}  // namespace barehip::runtime
