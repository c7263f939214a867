// What `vgpu isa` counts, against LLVM's list of mnemonics and the list of those that are refused. The latter may only
// shrink: an instruction that falls out of the tables or the executors fails here.
#include <cstdlib>

#include "tests/catch.h"
#include "tests/unit/visa/name_list.h"
#include "tools/vgpu/isa/inventory.h"
#include "tools/vgpu/shader/exec_table.h"

namespace {

constexpr const char* kTargets[] = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1100", "gfx1151"};

std::map<std::string, std::set<std::string>> names(const char* file) {
  const char* folder = std::getenv("VISA_LISTS");
  REQUIRE(folder != nullptr);
  auto lists = name_list::read(std::string(folder) + "/" + file);
  REQUIRE(!lists.empty());
  return lists;
}

std::string missing(const std::set<std::string>& from, const std::set<std::string>& in) {
  std::string text;
  for (const std::string& name : from)
    if (!in.contains(name)) text += name + " ";
  return text;
}

}  // namespace

TEST_CASE("every mnemonic that LLVM knows for a target is in the table, and no other") {
  const auto llvm = names("llvm_mnemonics.txt");
  for (const char* target : kTargets) {
    std::set<std::string> ours;
    for (const vgpu::Mnemonic& m : vgpu::target_mnemonics(*vgpu::find_isa_target(target))) ours.insert(m.text);
    INFO(target);
    CHECK(ours.size() > 1100);
    CHECK(missing(llvm.at(target), ours) == "");
    CHECK(missing(ours, llvm.at(target)) == "");
  }
}

TEST_CASE("targets that share an instruction set are the same set") {
  for (const char* other : {"gfx1101", "gfx1102", "gfx1103"})
    CHECK(vgpu::find_isa_target(other) == vgpu::find_isa_target("gfx1100"));
  CHECK(vgpu::find_isa_target("gfx1150") == vgpu::find_isa_target("gfx1151"));
}

TEST_CASE("exactly the listed mnemonics are refused") {
  const auto listed = names("refused.txt");
  for (const char* target : kTargets) {
    std::set<std::string> refused;
    for (const vgpu::Mnemonic& m : vgpu::target_mnemonics(*vgpu::find_isa_target(target)))
      if (!vgpu::is_executed(m.op)) refused.insert(m.text);
    INFO(target);
    CHECK(missing(refused, listed.at(target)) == "");  // fell out of the executors
    CHECK(missing(listed.at(target), refused) == "");  // executed now: take it off the list
  }
}
