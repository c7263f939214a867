#include "codeobj/target.h"

#include <algorithm>
#include <array>

namespace barehip::codeobj {
namespace {

constexpr Target gfx9(std::string_view name, uint8_t mach, uint32_t version, bool sramecc, std::string_view generic) {
  return {.name = name,
          .elf_mach = mach,
          .gfx_target_version = version,
          .generic = generic,
          .generic_version = static_cast<uint8_t>(generic.empty() ? 0 : 1),
          .xnack = true,
          .sramecc = sramecc,
          .wave32 = false,
          .default_wave = 64,
          .max_waves_per_simd = 10,
          .simds_per_cu = 4,
          .total_vgprs = 256,
          .vgpr_encoding_granule = 4,
          .vgpr_alloc_granule = 4,
          .total_sgprs = 800,
          .sgpr_alloc_granule = 16,
          .addressable_sgprs = 102,
          .unified_vgprs = false,
          .accumulation_vgprs = false,
          .lds_bytes = 65536,
          .lds_granule = 512,
          .architected_flat_scratch = false,
          .packed_workitem_ids = false,
          .kernarg_preload = false,
          .tg_split = false,
          .cu_mode_bit = false,
          .init16_bug = false};
}

constexpr Target gfx908() {
  Target t = gfx9("gfx908", 0x30, 90008, true, "");
  t.accumulation_vgprs = true;
  return t;
}

constexpr Target unified_gfx9(std::string_view name, uint8_t mach, uint32_t version, bool architected,
                              std::string_view generic) {
  Target t = gfx9(name, mach, version, true, generic);
  t.max_waves_per_simd = 8;
  t.total_vgprs = 512;
  t.vgpr_encoding_granule = 8;
  t.vgpr_alloc_granule = 8;
  t.unified_vgprs = true;
  t.accumulation_vgprs = true;
  t.architected_flat_scratch = architected;
  t.packed_workitem_ids = true;
  t.kernarg_preload = true;
  t.tg_split = true;
  return t;
}

/// `large`: the register file is half as large again as that of the small chips.
constexpr Target gfx11(std::string_view name, uint8_t mach, uint32_t version, bool large, bool init16_bug) {
  return {.name = name,
          .elf_mach = mach,
          .gfx_target_version = version,
          .generic = "gfx11-generic",
          .generic_version = 1,
          .xnack = false,
          .sramecc = false,
          .wave32 = true,
          .default_wave = 32,
          .max_waves_per_simd = 16,
          .simds_per_cu = 2,
          .total_vgprs = static_cast<uint16_t>(large ? 768 : 512),
          .vgpr_encoding_granule = 4,
          .vgpr_alloc_granule = static_cast<uint8_t>(large ? 12 : 8),
          .total_sgprs = 0,
          .sgpr_alloc_granule = 0,
          .addressable_sgprs = 106,
          .unified_vgprs = false,
          .accumulation_vgprs = false,
          .lds_bytes = 65536,
          .lds_granule = 512,
          .architected_flat_scratch = true,
          .packed_workitem_ids = true,
          .kernarg_preload = false,
          .tg_split = false,
          .cu_mode_bit = true,
          .init16_bug = init16_bug};
}

constexpr std::array kTargets = {
    gfx9("gfx900", 0x2c, 90000, false, "gfx9-generic"),
    gfx9("gfx906", 0x2f, 90006, true, "gfx9-generic"),
    gfx908(),
    unified_gfx9("gfx90a", 0x3f, 90010, false, ""),
    unified_gfx9("gfx942", 0x4c, 90402, true, "gfx9-4-generic"),
    gfx11("gfx1100", 0x41, 110000, true, true),
    gfx11("gfx1101", 0x46, 110001, true, false),
    gfx11("gfx1102", 0x47, 110002, false, true),
    gfx11("gfx1103", 0x44, 110003, false, false),
    gfx11("gfx1150", 0x43, 110500, false, false),
    gfx11("gfx1151", 0x4a, 110501, true, false),
};

struct MachName {
  uint8_t mach;
  std::string_view name;
};

// Machines that files may hold code for and that barehip does not run, so that error texts can name them.
constexpr std::array kOtherMachines = std::to_array<MachName>({
    {0x20, "gfx600"},        {0x21, "gfx601"},          {0x3a, "gfx602"},          {0x22, "gfx700"},
    {0x23, "gfx701"},        {0x24, "gfx702"},          {0x25, "gfx703"},          {0x26, "gfx704"},
    {0x3b, "gfx705"},        {0x28, "gfx801"},          {0x29, "gfx802"},          {0x2a, "gfx803"},
    {0x3c, "gfx805"},        {0x2b, "gfx810"},          {0x2d, "gfx902"},          {0x2e, "gfx904"},
    {0x31, "gfx909"},        {0x32, "gfx90c"},          {0x40, "gfx940"},          {0x4b, "gfx941"},
    {0x4f, "gfx950"},        {0x33, "gfx1010"},         {0x34, "gfx1011"},         {0x35, "gfx1012"},
    {0x42, "gfx1013"},       {0x36, "gfx1030"},         {0x37, "gfx1031"},         {0x38, "gfx1032"},
    {0x39, "gfx1033"},       {0x3e, "gfx1034"},         {0x3d, "gfx1035"},         {0x45, "gfx1036"},
    {0x55, "gfx1152"},       {0x58, "gfx1153"},         {0x48, "gfx1200"},         {0x4e, "gfx1201"},
    {0x51, "gfx9-generic"},  {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"}, {0x54, "gfx11-generic"},
    {0x59, "gfx12-generic"}, {0x5f, "gfx9-4-generic"},
});

template <class Predicate>
const Target* find_if(Predicate predicate) {
  const auto* it = std::ranges::find_if(kTargets, predicate);
  return it == kTargets.end() ? nullptr : it;
}

std::unexpected<Error> bad_id(std::string_view text, std::string why) {
  return fail(ErrorCode::kInvalidImage, "parse target id", "target id '" + std::string(text) + "': " + why);
}

bool valid_processor(std::string_view name) {
  return name.starts_with("gfx") && name.size() > 3 && name.size() <= 32 &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool compatible(Feature code, Feature gpu) {
  return code == Feature::kAny || code == gpu || code == Feature::kUnsupported;
}

bool names_feature(Feature code) { return code == Feature::kOn || code == Feature::kOff; }

void append(std::string& out, const char* name, Feature feature) {
  if (names_feature(feature)) out += std::string(":") + name + (feature == Feature::kOn ? "+" : "-");
}

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  return find_if([&](const Target& t) { return t.name == name; });
}
const Target* find_target_by_mach(uint8_t elf_mach) {
  return find_if([&](const Target& t) { return t.elf_mach == elf_mach; });
}
const Target* find_target_by_version(uint32_t gfx_target_version) {
  return find_if([&](const Target& t) { return t.gfx_target_version == gfx_target_version; });
}

std::string_view mach_name(uint8_t elf_mach) {
  if (const Target* target = find_target_by_mach(elf_mach)) return target->name;
  const auto* it = std::ranges::find(kOtherMachines, elf_mach, &MachName::mach);
  return it == kOtherMachines.end() ? std::string_view{} : it->name;
}

bool is_generic_name(std::string_view processor) { return processor.ends_with("-generic"); }

Result<TargetId> parse_target_id(std::string_view text) {
  const size_t colon = text.find(':');
  TargetId id;
  id.processor = text.substr(0, colon);
  if (!valid_processor(id.processor)) return bad_id(text, "does not begin with the name of a processor");
  const Target* target = find_target(id.processor);
  id.xnack = !target || target->xnack ? Feature::kAny : Feature::kUnsupported;
  id.sramecc = !target || target->sramecc ? Feature::kAny : Feature::kUnsupported;

  std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view item = rest.substr(0, rest.find(':'));
    rest.remove_prefix(item.size());
    const std::string_view name = item.substr(0, item.empty() ? 0 : item.size() - 1);
    Feature* feature = name == "xnack" ? &id.xnack : name == "sramecc" ? &id.sramecc : nullptr;
    if (!feature || (item.back() != '+' && item.back() != '-')) {
      return bad_id(text, "'" + std::string(item) + "' is not xnack or sramecc with a sign");
    }
    if (*feature == Feature::kUnsupported) return bad_id(text, "this target has no feature " + std::string(name));
    if (*feature != Feature::kAny) return bad_id(text, std::string(name) + " is named twice");
    *feature = item.back() == '+' ? Feature::kOn : Feature::kOff;
  }
  return id;
}

std::string to_string(const TargetId& id) {
  std::string out = id.processor;
  append(out, "sramecc", id.sramecc);
  append(out, "xnack", id.xnack);
  return out;
}

Match match(const TargetId& code, const TargetId& gpu, uint8_t generic_version) {
  if (!compatible(code.xnack, gpu.xnack) || !compatible(code.sramecc, gpu.sramecc)) return Match::kNone;
  if (code.processor == gpu.processor) {
    return names_feature(code.xnack) || names_feature(code.sramecc) ? Match::kSpecific : Match::kProcessor;
  }
  const Target* target = find_target(gpu.processor);
  if (!target || target->generic.empty() || code.processor != target->generic) return Match::kNone;
  const bool too_old = generic_version != 0 && generic_version < target->generic_version;
  return too_old ? Match::kNone : Match::kGeneric;
}

}  // namespace barehip::codeobj
