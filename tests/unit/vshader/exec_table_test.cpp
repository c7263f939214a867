// The lists of instruction functions against the table of instructions.
#include <set>
#include <string>

#include "tests/catch.h"
#include "tools/vgpu/isa/decoder.h"
#include "tools/vgpu/shader/exec_lists.h"

using namespace vgpu;

TEST_CASE("every listed mnemonic is an instruction, and is listed once") {
  std::set<Op> seen;
  for (const auto entries :
       {salu_exec_entries(), salu_float_exec_entries(), buffer_format_exec_entries(), program_exec_entries(),
        smem_exec_entries(), flat_exec_entries(), ds_exec_entries(), buffer_exec_entries()}) {
    for (const ExecEntry& entry : entries) {
      INFO(entry.mnemonic);
      const Op op = find_op(entry.mnemonic);
      CHECK(op != Op::kNone);
      CHECK(seen.insert(op).second);
      CHECK(entry.function != nullptr);
    }
  }
}
