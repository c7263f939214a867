// What goes wrong in a kernel, and what the driver and the user get to know of it.
#include "tests/catch.h"
#include "tests/unit/vshader/machine.h"

using namespace vgpu;

TEST_CASE("a stray store names instruction, address and lane, and the dispatch does not end") {
  const char* gfx = GENERATE("gfx90a", "gfx1100");
  Machine machine(gfx);
  machine.load_kernels("3");
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
  machine.load_kernels("3");
  const TestBuffer out = machine.allocate(4096, false), in = machine.allocate(4096);
  CHECK_FALSE(
      machine.run(machine.dispatch("vadd", {}, Arguments().add(out).add(in).add(in).add(64u).add(64u).words())));
  REQUIRE(machine.errors.size() == 1);
  CHECK(machine.errors[0].kind == WaveError::Kind::kMemoryFault);
  CHECK_FALSE(machine.errors[0].fault.not_present);
  CHECK(machine.errors[0].fault.va == out.va);
}

TEST_CASE("a kernel whose code is not mapped faults on the fetch") {
  Machine machine("gfx90a");
  machine.load_kernels("3");
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
  machine.load_kernels("3");
  const TestBuffer out = machine.allocate(256);
  CHECK_FALSE(machine.run(machine.dispatch("trap", {}, Arguments().add(out).words())));
  CHECK(machine.interrupts.empty());
  REQUIRE(machine.errors.size() == 1);
  CHECK(machine.errors[0].kind == WaveError::Kind::kTrapWithoutHandler);
  CHECK(out.as<uint32_t>()[63] == 1);
}

TEST_CASE("a mailbox: the kernel waits for the host, asleep") {
  const char* gfx = GENERATE("gfx90a", "gfx1100");
  const char* level = GENERATE("0", "3");
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
  machine.load_kernels("3");
  const TestBuffer out = machine.allocate(256);
  Dispatch dispatch = machine.dispatch("trap", {}, Arguments().add(out).words());
  dispatch.lds_bytes = 70000;
  CHECK_FALSE(machine.run(dispatch));
  REQUIRE(machine.errors.size() == 1);
  CHECK(machine.errors[0].text.find("LDS") != std::string::npos);
}

TEST_CASE("registers beyond the allocation are refused, not shared with another wave") {
  Machine machine("gfx90a");
  const TestBuffer code = machine.allocate(4096, true, true);
  Dispatch dispatch;
  dispatch.code_va = code.va;
  dispatch.grid[0] = dispatch.group[0] = 64;
  dispatch.rsrc1 = 1u << 6;  // 16 SGPRs, 8 vector registers of which accum_offset 4 are arch VGPRs
  const uint32_t instruction = GENERATE(0x80100000u /* s_add_u32 s16, s0, s0 */, 0x7e080300u /* v_mov_b32 v4, v0 */);
  const uint32_t words[] = {instruction, 0xbf810000};
  std::memcpy(code.host, words, sizeof words);
  CHECK_FALSE(machine.run(dispatch));
  REQUIRE(machine.errors.size() == 1);
  CHECK(machine.errors[0].kind == WaveError::Kind::kIllegalInstruction);
  CHECK(machine.errors[0].text.find("beyond the wave's allocation") != std::string::npos);
}

TEST_CASE("without PCIe atomics, atomics on uncached host memory are lost, loads and stores are not") {
  const bool lost = GENERATE(false, true);
  Machine machine("gfx90a", 1, {.no_pcie_atomics = lost});
  machine.load_kernels("3");
  const TestBuffer total = machine.allocate(64, true, false, true), in = machine.allocate(256);
  for (uint32_t i = 0; i < 64; ++i) in.as<uint32_t>()[i] = 2;
  *total.as<uint32_t>() = 5;
  REQUIRE(
      machine.run(machine.dispatch("reduce", {}, Arguments().add(total).add(in).add(64u).add(64u).add(64u).words())));
  CHECK(*total.as<uint32_t>() == (lost ? 5 : 133));
}
