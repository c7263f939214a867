#include "tools/vgpu/isa/inventory.h"

#include <algorithm>
#include <array>

#include "tools/vgpu/isa/op_table.h"

namespace vgpu {
namespace {

struct Witness {
  Op op;
  std::string_view letters;
};
constexpr Witness kWitnesses[] = {
    {Op::kNone, ""},
#include "tools/vgpu/isa/op_witnesses.inc"
};

using isa::has_format;

bool has_any_format_but_dual(Op op, IsaTarget target) {
  for (unsigned f = 0; f < unsigned(Format::kCount); ++f)
    if (Format(f) != Format::kVopd && has_format(op, Format(f), target)) return true;
  return false;
}

}  // namespace

std::vector<Mnemonic> target_mnemonics(IsaTarget target) {
  std::vector<Mnemonic> all;
  for (size_t n = 1; n < size_t(Op::kCount); ++n) {
    const Op op = Op(n);
    const std::string text(op_mnemonic(op, target));
    if (has_any_format_but_dual(op, target)) all.push_back({text, op});
    if (has_format(op, Format::kVopd, target)) all.push_back({"v_dual_" + text.substr(2), op});
  }
  std::sort(all.begin(), all.end(), [](const Mnemonic& a, const Mnemonic& b) { return a.text < b.text; });
  return all;
}

std::string_view op_witnesses(Op op) {
  static const auto& letters = *[] {
    auto* made = new std::array<std::string_view, size_t(Op::kCount)>{};
    for (const Witness& w : kWitnesses) (*made)[size_t(w.op)] = w.letters;
    return made;
  }();
  return letters[size_t(op)];
}

}  // namespace vgpu
