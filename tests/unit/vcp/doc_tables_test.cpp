// The tables of docs/vgpu_queues.md are what the code executes: packets, registers, names of what is refused.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "pm4/pm4.h"
#include "pm4/sdma.h"
#include "tests/catch.h"
#include "tools/vgpu/cp/compute_registers.h"
#include "tools/vgpu/cp/text.h"

namespace {

namespace pm4 = barehip::pm4;
using Registers = vgpu::ComputeRegisters;

struct Targets {
  pm4::CapSet caps;
  const char* name;
};

std::vector<Targets> known_targets() {
  return {{pm4::find_packet_caps(90000)->caps, "gfx900 to gfx908"},
          {pm4::find_packet_caps(90010)->caps, "gfx90a, gfx942"},
          {pm4::find_packet_caps(110000)->caps, "gfx11"}};
}

template <class P>
std::string targets_of() {
  std::string out;
  size_t count = 0;
  for (const Targets& target : known_targets()) {
    bool has = true;
    if constexpr (requires { P::kNeeds; }) has = target.caps.has_all(P::kNeeds);
    if constexpr (requires { P::kExcludes; }) has = !target.caps.has_any(P::kExcludes);
    if (!has) continue;
    out += (out.empty() ? "" : ", ") + std::string(target.name);
    ++count;
  }
  return count == known_targets().size() ? "all" : out;
}

template <class P>
std::string dwords_of() {
  return std::to_string(P::kDwords) + (requires { P::kTail; } ? " + data" : "");
}

template <class... P>
std::string pm4_packets(const std::variant<P...>*) {
  std::string out = "| packet | opcode | dwords | targets |\n|---|---|---|---|\n";
  ((out += "| " + std::string(P::kName) + " | " + vgpu::hex(P::kOp) + " | " + dwords_of<P>() + " | " + targets_of<P>() +
           " |\n"),
   ...);
  return out;
}

template <class... P>
std::string pm4_refused(const std::variant<P...>*) {
  const std::set<unsigned> known{P::kOp...};
  std::string out;
  for (unsigned op = 0; op < 256; ++op) {
    const auto name = pm4::opcode_name(static_cast<uint8_t>(op));
    if (!name.empty() && !known.contains(op)) out += (out.empty() ? "" : ", ") + std::string(name);
  }
  return out + ".\n";
}

template <class... P>
std::string sdma_packets(const std::variant<P...>*) {
  std::string out = "| packet | op | sub-op | dwords | targets |\n|---|---|---|---|---|\n";
  ((out += "| " + std::string(P::kName) + " | " + std::to_string(P::kOp) + " | " + std::to_string(P::kSubOp) + " | " +
           dwords_of<P>() + " | " + targets_of<P>() + " |\n"),
   ...);
  return out;
}

std::string registers() {
  static constexpr const char* kUses[] = {"a dispatch is made of it", "kept, no effect", "0 only",
                                          "refused: the driver's"};
  std::string out = "| offset | register | targets | |\n|---|---|---|---|\n";
  for (const Registers::Row& row : Registers::table()) {
    std::string targets;
    const auto add = [&](uint8_t bit, const char* name) {
      if (row.targets & bit) targets += (targets.empty() ? "" : ", ") + std::string(name);
    };
    add(Registers::kGfx9, "gfx900 to gfx908");
    add(Registers::kUnified, "gfx90a, gfx942");
    add(Registers::kGfx11, "gfx11");
    if (row.targets == (Registers::kGfx9 | Registers::kUnified | Registers::kGfx11)) targets = "all";
    std::string where = vgpu::hex(row.offset);
    if (row.count > 1) where += " to " + vgpu::hex(row.offset + row.count - 1u);
    out += "| " + where + " | " + row.name + " | " + targets + " | " + kUses[static_cast<size_t>(row.use)] + " |\n";
  }
  return out;
}

/// What stands in the document between the two comments of this name.
std::string section(const std::string& document, const std::string& name) {
  const std::string begin = "<!-- " + name + " -->\n", end = "<!-- end -->";
  const size_t from = document.find(begin);
  REQUIRE(from != std::string::npos);
  const size_t to = document.find(end, from);
  REQUIRE(to != std::string::npos);
  return document.substr(from + begin.size(), to - from - begin.size());
}

}  // namespace

TEST_CASE("the tables of the documentation are those of the code") {
  const char* path = std::getenv("VGPU_QUEUES_MD");
  REQUIRE(path != nullptr);
  std::ifstream file(path);
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  const auto* pm4_types = static_cast<const pm4::Packet*>(nullptr);
  const auto* sdma_types = static_cast<const pm4::sdma::Packet*>(nullptr);
  CHECK(section(document, "pm4 packets") == pm4_packets(pm4_types));
  CHECK(section(document, "pm4 opcodes that are refused") == pm4_refused(pm4_types));
  CHECK(section(document, "compute registers") == registers());
  CHECK(section(document, "sdma packets") == sdma_packets(sdma_types));
}
