// Traps, messages and hardware registers, seen from programs in assembler (traps.S).
#include "tests/catch.h"
#include "tests/unit/vshader/machine.h"

using namespace vgpu;

namespace {

constexpr uint64_t kTma = 0x7abc12345600;

struct Fixture {
  Fixture() : machine(GENERATE("gfx90a", "gfx1100")) { machine.load_programs(); }
  Dispatch with_handler(const std::string& program) {
    Dispatch d = machine.bare_dispatch(program);
    d.trap_tba = machine.symbol("handler");
    d.trap_tma = kTma;
    return d;
  }
  bool gfx11() const { return machine.config.gfx == "gfx1100"; }
  Machine machine;
};

// What the handler tells: trap id, TRAPSTS, STATUS, PC, TMA, doorbell.
struct Told {
  explicit Told(const std::vector<uint32_t>& data) {
    REQUIRE(data.size() >= 6);
    trap_id = data[0];
    trap_status = data[1];
    status = data[2];
    pc = data[3];
    tma = data[4];
    doorbell = data[5];
  }
  uint32_t trap_id, trap_status, status, pc, tma, doorbell;
};

constexpr uint32_t kLow24 = 0xffffff, kHalt = 1 << 13, kPriv = 1 << 5;

}  // namespace

TEST_CASE("s_trap enters the handler with its number, and the wave goes on behind it") {
  Fixture f;
  REQUIRE(f.machine.run(f.with_handler("trap_and_go_on")));
  CHECK(f.machine.errors.empty());
  const Told told(f.machine.interrupts);
  CHECK(told.trap_id == 3);
  CHECK((told.trap_status & 0x900) == 0);
  CHECK((told.status & kPriv) != 0);
  CHECK((told.status & kHalt) == 0);
  CHECK((told.status & 1) == 1);
  CHECK(told.pc == ((f.machine.symbol("trap_and_go_on") + 24) & kLow24));
  CHECK(told.tma == (kTma & kLow24));
  CHECK(told.doorbell == 77);
  REQUIRE(f.machine.interrupts.size() == 7);
  CHECK(f.machine.interrupts[6] == 0x42);
  CHECK_FALSE(f.machine.interrupt_priv);
}

TEST_CASE("a handler that halts the wave: the dispatch stays, nothing behind the trap runs") {
  Fixture f;
  CHECK_FALSE(f.machine.run(f.with_handler("trap_and_stop")));
  CHECK(f.machine.errors.empty());
  CHECK(f.machine.interrupts.size() == 6);
  CHECK(f.machine.interrupt_priv);
  CHECK(Told(f.machine.interrupts).trap_id == 2);
}

TEST_CASE("without a handler s_trap halts the wave and sends nothing") {
  Fixture f;
  CHECK_FALSE(f.machine.run(f.machine.bare_dispatch("trap_and_stop")));
  CHECK(f.machine.interrupts.empty());
  REQUIRE(f.machine.errors.size() == 1);
  CHECK(f.machine.errors[0].kind == WaveError::Kind::kTrapWithoutHandler);
}

TEST_CASE("an illegal instruction enters the handler") {
  Fixture f;
  CHECK_FALSE(f.machine.run(f.with_handler("illegal")));
  CHECK(f.machine.errors.empty());
  const Told told(f.machine.interrupts);
  CHECK(told.trap_id == 0);
  CHECK((told.trap_status & 0x800) != 0);
  CHECK(((told.status & kHalt) != 0) == !f.gfx11());
  // gfx9's first-level handler moves the PC back.
  CHECK(told.pc == ((f.machine.symbol("illegal") + (f.gfx11() ? 12 : 4)) & kLow24));
}

TEST_CASE("an illegal instruction without a handler is reported with its address") {
  Fixture f;
  CHECK_FALSE(f.machine.run(f.machine.bare_dispatch("illegal")));
  REQUIRE(f.machine.errors.size() == 1);
  CHECK(f.machine.errors[0].kind == WaveError::Kind::kIllegalInstruction);
  CHECK(f.machine.errors[0].pc == f.machine.symbol("illegal") + 12);
}

TEST_CASE("a memory violation enters the handler and is reported to the driver as well") {
  Fixture f;
  CHECK_FALSE(f.machine.run(f.with_handler("memory_violation")));
  REQUIRE(f.machine.errors.size() == 1);
  CHECK(f.machine.errors[0].fault.va == 0x543200000010);
  const Told told(f.machine.interrupts);
  CHECK((told.trap_status & 0x100) != 0);
  CHECK((told.status & kHalt) != 0);
}

TEST_CASE("s_rfe outside of a trap handler is illegal") {
  Fixture f;
  CHECK_FALSE(f.machine.run(f.machine.bare_dispatch("rfe_outside")));
  REQUIRE(f.machine.errors.size() == 1);
  CHECK(f.machine.errors[0].kind == WaveError::Kind::kIllegalInstruction);
}

TEST_CASE("waves at a barrier that a halted wave never reaches are a deadlock, reported with addresses") {
  Fixture f;
  CHECK_FALSE(f.machine.run(f.machine.bare_dispatch("barrier_never", 3)));
  REQUIRE(f.machine.errors.size() == 1);
  CHECK(f.machine.errors[0].kind == WaveError::Kind::kDeadlock);
  CHECK(f.machine.errors[0].text.find("waits at a barrier") != std::string::npos);
  CHECK(f.machine.errors[0].text.find("is halted") != std::string::npos);
}

TEST_CASE("the constant-rate clock moves") {
  Fixture f;
  REQUIRE(f.machine.run(f.machine.bare_dispatch("clocks")));
  REQUIRE(f.machine.interrupts.size() == 1);
  CHECK(f.machine.interrupts[0] == 100);
}

TEST_CASE("hardware registers read and write fields") {
  Fixture f;
  Dispatch d = f.machine.bare_dispatch("registers");
  d.lds_bytes = 3000;
  REQUIRE(f.machine.run(d));
  REQUIRE(f.machine.interrupts.size() == 3);
  CHECK(f.machine.interrupts[0] == 0xf0);
  CHECK(f.machine.interrupts[1] == 0xf5);
  CHECK(f.machine.interrupts[2] == 6u << 12);
}

TEST_CASE("calls by register and by offset come back") {
  Fixture f;
  REQUIRE(f.machine.run(f.machine.bare_dispatch("calls")));
  REQUIRE(f.machine.interrupts.size() == 1);
  CHECK(f.machine.interrupts[0] == 42);
}

TEST_CASE("code that is rewritten runs as it was until the instruction cache is invalidated") {
  Machine machine("gfx90a");
  const TestBuffer code = machine.allocate(4096, true, true);
  const auto write = [&](uint32_t value) {
    const uint32_t words[] = {0xbefc00ff, value, 0xbf900001, 0xbf810000};  // s_mov_b32 m0, value; s_sendmsg; s_endpgm
    std::memcpy(code.host, words, sizeof words);
  };
  Dispatch d;
  d.code_va = code.va;
  d.grid[0] = d.group[0] = 64;
  write(1);
  REQUIRE(machine.run(d));
  write(2);
  REQUIRE(machine.run(d));
  machine.engine().invalidate_l1(true, false, false);
  REQUIRE(machine.run(d));
  CHECK(machine.interrupts == std::vector<uint32_t>{1, 1, 2});
}
