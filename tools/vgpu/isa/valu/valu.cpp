// The vector ALU's contribution to the table of executors.
#include <vector>

#include "tools/vgpu/isa/valu/entries.h"
#include "tools/vgpu/isa/valu/matrix.h"

namespace vgpu {

std::span<const ExecEntry> valu_exec_entries() {
  static const std::vector<ExecEntry>& all = *[] {
    using namespace valu;
    auto* made = new std::vector<ExecEntry>;
    for (const auto list : {integer_entries(), integer16_entries(), carry_entries(), float32_entries(),
                            float64_entries(), float16_entries(), transcendental_entries(), convert_entries(),
                            convert8_entries(), division_entries(), compare_entries(), move_entries(), packed_entries(),
                            dot_entries(), sad_entries(), dual_entries(), matrix_entries(), wmma_entries()})
      made->insert(made->end(), list.begin(), list.end());
    return made;
  }();
  return all;
}

}  // namespace vgpu
