#include "tools/vgpu/doors/isa_command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/vgpu/isa/inventory.h"
#include "tools/vgpu/shader/exec_table.h"

namespace vgpu {
namespace {

constexpr const char* kTargets[] = {"gfx900",  "gfx906",  "gfx908",  "gfx90a",  "gfx942", "gfx1100",
                                    "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151"};

struct Figures {
  size_t known = 0;
  std::vector<std::string> refused, unwitnessed;
};

Figures count(IsaTarget target) {
  Figures f;
  for (const Mnemonic& m : target_mnemonics(target)) {
    ++f.known;
    if (!is_executed(m.op))
      f.refused.push_back(m.text);
    else if (op_witnesses(m.op).empty())
      f.unwitnessed.push_back(m.text);
  }
  return f;
}

void print_names(const char* title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  fmt::print("\n{}\n", title);
  std::string line = " ";
  for (const std::string& name : names) {
    if (line.size() + name.size() > 118) {
      fmt::print("{}\n", line);
      line = " ";
    }
    line += " " + name;
  }
  fmt::print("{}\n", line);
}

}  // namespace

int print_isa(const std::string& gpu, bool json) {
  nlohmann::ordered_json all;
  for (const char* name : kTargets) {
    if (!gpu.empty() && gpu != name) continue;
    const Figures f = count(*find_isa_target(name));
    const size_t executed = f.known - f.refused.size();
    all[name] = {
        {"known", f.known}, {"executed", executed}, {"refused", f.refused}, {"without_outside_vector", f.unwitnessed}};
    if (json) continue;
    fmt::print("{:<8} {} mnemonics known, {} executed, {} refused; {} of the executed without an outside vector\n",
               name, f.known, executed, f.refused.size(), f.unwitnessed.size());
    if (gpu.empty()) continue;
    print_names("refused:", f.refused);
    print_names("executed, without an outside vector:", f.unwitnessed);
  }
  if (all.empty()) {
    fmt::print(stderr, "vgpu: no instruction set of that name: {}\n", gpu);
    return 2;
  }
  if (json) fmt::print("{}\n", all.dump(1));
  return 0;
}

}  // namespace vgpu
