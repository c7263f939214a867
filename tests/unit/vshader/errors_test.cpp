// What goes wrong in a kernel, and what the driver and the user get to know of it.
#include "tests/catch.h"
#include "tests/unit/vshader/machine.h"

using namespace vgpu;

TEST_CASE("a stray store names instruction, address and lane, and the dispatch does not end") {
  const char* gfx = GENERATE("gfx90a", "gfx1100");
  Machine machine(gfx);
  machine.load_kernels('3');
  const TestBuffer out = machine.allocate(256);
  CHECK_FALSE(machine.run(machine.dispatch("stray_store", {}, Arguments().add(out).add(9u).words())));
  REQUIRE(machine.errors.size() == 1);
  const WaveError& error = machine.errors[0];
  CHECK(error.kind == WaveError::Kind::kMemoryFault);
  CHECK(error.fault.va == 0x123456789000);
  CHECK(error.fault.access == Access::kWrite);
  CHECK(error.fault.not_present);
  CHECK(error.lane == 9);
  CHECK(error.pc > machine.symbol("stray_store"));
  CHECK(error.text.find("store") != std::string::npos);
  machine.engine().kill(machine.last_id);
  CHECK(machine.engine().finished(machine.last_id));
}

TEST_CASE("a store to memory that is not writable is a fault of permission") {
  Machine machine("gfx1100");
  machine.load_kernels('3');
  const TestBuffer out = machine.allocate(4096, false), in = machine.allocate(4096);
  CHECK_FALSE(machine.run(
      machine.dispatch("vadd", {}, Arguments().add(out).add(in).add(in).add(64u).add(64u).words())));
  REQUIRE(machine.errors.size() == 1);
  CHECK(machine.errors[0].kind == WaveError::Kind::kMemoryFault);
  CHECK_FALSE(machine.errors[0].fault.not_present);
  CHECK(machine.errors[0].fault.va == out.va);
}

TEST_CASE("a kernel whose code is not mapped faults on the fetch") {
  Machine machine("gfx90a");
  machine.load_kernels('3');
  const TestBuffer out = machine.allocate(256);
  Dispatch dispatch = machine.dispatch("trap", {}, Arguments().add(out).words());
  dispatch.code_va = 0x555500000000;
  CHECK_FALSE(machine.run(dispatch));
  REQUIRE(machine.errors.size() == 1);
  CHECK(machine.errors[0].fault.access == Access::kExecute);
  CHECK(machine.errors[0].pc == 0x555500000000);
}

TEST_CASE("s_trap without a handler halts in silence: only the report knows") {
  const char* gfx = GENERATE("gfx90a", "gfx1100");
  Machine machine(gfx);
  machine.load_kernels('3');
  const TestBuffer out = machine.allocate(256);
  CHECK_FALSE(machine.run(machine.dispatch("trap", {}, Arguments().add(out).words())));
  CHECK(machine.interrupts.empty());
  REQUIRE(machine.errors.size() == 1);
  CHECK(machine.errors[0].kind == WaveError::Kind::kTrapWithoutHandler);
  CHECK(out.as<uint32_t>()[63] == 1);
}

TEST_CASE("a mailbox: the kernel waits for the host, asleep") {
  const char* gfx = GENERATE("gfx90a", "gfx1100");
  const char level = GENERATE('0', '3');
  Machine machine(gfx);
  machine.load_kernels(level);
  const TestBuffer mail = machine.allocate(4), answer = machine.allocate(4);
  const Dispatch dispatch = machine.dispatch("wait_for_host", {.grid = {1, 1, 1}, .group = {1, 1, 1}},
                                             Arguments().add(mail).add(answer).words());
  CHECK_FALSE(machine.run(dispatch, 100'000));
  CHECK(machine.errors.empty());
  *mail.as<uint32_t>() = 5;
  CHECK(machine.engine().step(100'000));
  CHECK(machine.engine().finished(machine.last_id));
  CHECK(*answer.as<uint32_t>() == 6);
}

TEST_CASE("a group that can never fit is refused with the reason") {
  Machine machine("gfx1100");
  machine.load_kernels('3');
  const TestBuffer out = machine.allocate(256);
  Dispatch dispatch = machine.dispatch("trap", {}, Arguments().add(out).words());
  dispatch.lds_bytes = 70000;
  CHECK_FALSE(machine.run(dispatch));
  REQUIRE(machine.errors.size() == 1);
  CHECK(machine.errors[0].text.find("LDS") != std::string::npos);
}
