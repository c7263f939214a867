// A fake machine with an opened System.
#pragma once

#include <memory>

#include <barehip/device.h>

#include "tests/catch.h"
#include "tests/unit/kfd/fake_os.h"

namespace barehip::kfd::test {

struct Machine {
  explicit Machine(const std::string& gfx = "gfx90a", const std::function<void(FakeOs&)>& change = {}) {
    os.add_usual_machine(gfx);
    if (change) change(os);
    Result<std::unique_ptr<System>> opened = System::open(os.table());
    REQUIRE(opened);
    system = std::move(*opened);
  }
  Device& device() { return *system->devices()[0]; }

  FakeOs os;
  std::unique_ptr<System> system;
};

}  // namespace barehip::kfd::test
