#include "tools/vgpu/isa/op_table.h"

#include <unordered_map>

#include "tools/vgpu/isa/decode_tables.h"

namespace vgpu {
namespace isa {
namespace {

constexpr OpInfo kOps[] = {
    {"none", "", "", {}, 0, {{}, {}}},
#include "tools/vgpu/isa/op_table.inc"
};

constexpr OpEncoding kEncodings[] = {
#include "tools/vgpu/isa/op_encodings.inc"
};

static_assert(std::size(kOps) == static_cast<size_t>(Op::kCount));

/// Per operation and target, a bit per format.
using FormatSets = std::array<std::array<uint32_t, size_t(IsaTarget::kCount)>, size_t(Op::kCount)>;

const FormatSets& format_sets() {
  static const FormatSets& sets = *[] {
    auto* made = new FormatSets{};
    for (const OpEncoding& e : kEncodings)
      for (size_t t = 0; t < size_t(IsaTarget::kCount); ++t)
        if (e.targets >> t & 1) (*made)[size_t(e.op)][t] |= 1u << unsigned(e.format);
    return made;
  }();
  return sets;
}

}  // namespace

const OpInfo& op_info(Op op) { return kOps[size_t(op)]; }

uint8_t slot_dwords(const OpInfo& info, char role) {
  for (size_t i = 0; i < info.slot_count; ++i)
    if (info.slots[i].role == role) return info.slots[i].dwords;
  return 0;
}

bool has_format(Op op, Format format, IsaTarget target) {
  return format_sets()[size_t(op)][size_t(target)] >> unsigned(format) & 1;
}

}  // namespace isa

std::optional<IsaTarget> find_isa_target(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    IsaTarget target;
  } kTargets[] = {
      {"gfx900", IsaTarget::kGfx900},   {"gfx902", IsaTarget::kGfx900},   {"gfx904", IsaTarget::kGfx900},
      {"gfx906", IsaTarget::kGfx906},   {"gfx908", IsaTarget::kGfx908},   {"gfx90a", IsaTarget::kGfx90a},
      {"gfx940", IsaTarget::kGfx942},   {"gfx941", IsaTarget::kGfx942},   {"gfx942", IsaTarget::kGfx942},
      {"gfx1100", IsaTarget::kGfx1100}, {"gfx1101", IsaTarget::kGfx1100}, {"gfx1102", IsaTarget::kGfx1100},
      {"gfx1103", IsaTarget::kGfx1100}, {"gfx1150", IsaTarget::kGfx1151}, {"gfx1151", IsaTarget::kGfx1151},
      {"gfx1152", IsaTarget::kGfx1151},
  };
  for (const auto& row : kTargets)
    if (row.name == name) return row.target;
  return std::nullopt;
}

Op find_op(std::string_view mnemonic) {
  using Map = std::unordered_map<std::string_view, Op>;
  static const Map& map = *[] {
    auto* made = new Map;
    for (size_t i = 1; i < size_t(Op::kCount); ++i)
      for (std::string_view name : {isa::kOps[i].name, isa::kOps[i].gfx9, isa::kOps[i].gfx11})
        if (!name.empty()) made->emplace(name, Op(i));
    return made;
  }();
  auto found = map.find(mnemonic);
  return found == map.end() ? Op::kNone : found->second;
}

std::string_view op_name(Op op) { return isa::op_info(op).name; }

std::string_view op_mnemonic(Op op, IsaTarget target) {
  const isa::OpInfo& info = isa::op_info(op);
  return is_gfx11(target) ? info.gfx11 : info.gfx9;
}

Decoder::Tables::Tables(IsaTarget target) {
  for (const isa::OpEncoding& e : isa::kEncodings)
    if (e.targets >> unsigned(target) & 1) ops[size_t(e.format)][e.opcode] = e.op;
}

}  // namespace vgpu
