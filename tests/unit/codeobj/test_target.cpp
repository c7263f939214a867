// The target table against LLVM's numbers, target ids and the matching rules.
#include "codeobj/target.h"

#ifdef BAREHIP_HAVE_LLVM_HEADERS
#include <llvm/BinaryFormat/ELF.h>
#endif

#include "tests/catch.h"

using namespace barehip;
using namespace barehip::codeobj;

namespace {
TargetId id(const char* text) {
  auto parsed = parse_target_id(text);
  INFO(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}
TargetId gpu(const char* text) { return id(text); }
}  // namespace

#ifdef BAREHIP_HAVE_LLVM_HEADERS
TEST_CASE("ELF machine numbers are LLVM's") {
  struct Row {
    const char* name;
    unsigned mach;
  };
  using namespace llvm::ELF;
  const Row rows[] = {
      {"gfx900", EF_AMDGPU_MACH_AMDGCN_GFX900},   {"gfx906", EF_AMDGPU_MACH_AMDGCN_GFX906},
      {"gfx908", EF_AMDGPU_MACH_AMDGCN_GFX908},   {"gfx90a", EF_AMDGPU_MACH_AMDGCN_GFX90A},
      {"gfx942", EF_AMDGPU_MACH_AMDGCN_GFX942},   {"gfx1100", EF_AMDGPU_MACH_AMDGCN_GFX1100},
      {"gfx1101", EF_AMDGPU_MACH_AMDGCN_GFX1101}, {"gfx1102", EF_AMDGPU_MACH_AMDGCN_GFX1102},
      {"gfx1103", EF_AMDGPU_MACH_AMDGCN_GFX1103}, {"gfx1150", EF_AMDGPU_MACH_AMDGCN_GFX1150},
      {"gfx1151", EF_AMDGPU_MACH_AMDGCN_GFX1151},
  };
  CHECK(std::size(rows) == targets().size());
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Target* target = find_target(row.name);
    REQUIRE(target);
    CHECK(target->elf_mach == row.mach);
    CHECK(find_target_by_mach(static_cast<uint8_t>(row.mach)) == target);
    CHECK(mach_name(static_cast<uint8_t>(row.mach)) == row.name);
  }
  CHECK(mach_name(EF_AMDGPU_MACH_AMDGCN_GFX1030) == "gfx1030");
  CHECK(mach_name(EF_AMDGPU_MACH_AMDGCN_GFX803) == "gfx803");
  CHECK(mach_name(EF_AMDGPU_MACH_AMDGCN_GFX9_GENERIC) == "gfx9-generic");
  CHECK(mach_name(EF_AMDGPU_MACH_AMDGCN_GFX11_GENERIC) == "gfx11-generic");
  CHECK(mach_name(EF_AMDGPU_MACH_AMDGCN_GFX12_GENERIC) == "gfx12-generic");
  CHECK(mach_name(EF_AMDGPU_MACH_AMDGCN_GFX1201) == "gfx1201");
  CHECK(mach_name(0xfe).empty());
  CHECK(unsigned(Feature::kAny) << 8 == EF_AMDGPU_FEATURE_XNACK_ANY_V4);
  CHECK(unsigned(Feature::kOff) << 8 == EF_AMDGPU_FEATURE_XNACK_OFF_V4);
  CHECK(unsigned(Feature::kOn) << 8 == EF_AMDGPU_FEATURE_XNACK_ON_V4);
  CHECK(unsigned(Feature::kAny) << 10 == EF_AMDGPU_FEATURE_SRAMECC_ANY_V4);
  CHECK(unsigned(Feature::kOff) << 10 == EF_AMDGPU_FEATURE_SRAMECC_OFF_V4);
  CHECK(unsigned(Feature::kOn) << 10 == EF_AMDGPU_FEATURE_SRAMECC_ON_V4);
}
#endif

TEST_CASE("names and topology versions agree") {
  for (const Target& target : targets()) {
    CAPTURE(target.name);
    // "gfx" major, minor in decimal, stepping in hexadecimal: one digit each for the last two.
    const unsigned stepping = target.stepping();
    const std::string name = "gfx" + std::to_string(target.major()) + std::to_string(target.minor()) +
                             std::string(1, stepping < 10 ? char('0' + stepping) : char('a' + stepping - 10));
    CHECK(name == target.name);
    CHECK(find_target_by_version(target.gfx_target_version) == &target);
  }
  CHECK_FALSE(find_target_by_version(100300));
}

TEST_CASE("target ids parse and print") {
  CHECK(to_string(id("gfx90a")) == "gfx90a");
  CHECK(to_string(id("gfx90a:xnack-:sramecc+")) == "gfx90a:sramecc+:xnack-");
  CHECK(id("gfx90a").xnack == Feature::kAny);
  CHECK(id("gfx1100").xnack == Feature::kUnsupported);
  CHECK(id("gfx900").sramecc == Feature::kUnsupported);
  CHECK(id("gfx9-4-generic:xnack+").xnack == Feature::kOn);
  for (const char* bad : {"", "gfx", "amdgcn", "gfx90a:", "gfx90a:xnack", "gfx90a:foo+", "gfx90a:xnack+:xnack-",
                          "gfx1100:xnack-", "gfx900:sramecc+", "gfx90a::xnack+", "gfx90a xnack+", "GFX90A"}) {
    INFO(bad);
    auto parsed = parse_target_id(bad);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == ErrorCode::kInvalidImage);
    CHECK(parsed.error().text.find(bad) != std::string::npos);
  }
}

TEST_CASE("code runs on a GPU when processor and features fit") {
  const TargetId on_off = gpu("gfx90a:sramecc+:xnack-");
  CHECK(match(id("gfx90a"), on_off) == Match::kProcessor);
  CHECK(match(id("gfx90a:xnack-"), on_off) == Match::kSpecific);
  CHECK(match(id("gfx90a:sramecc+"), on_off) == Match::kSpecific);
  CHECK(match(id("gfx90a:xnack+"), on_off) == Match::kNone);
  CHECK(match(id("gfx90a:sramecc-:xnack-"), on_off) == Match::kNone);
  CHECK(match(id("gfx908"), on_off) == Match::kNone);
  CHECK(match(id("gfx9-generic"), on_off) == Match::kNone);
  CHECK(match(id("gfx9-generic:xnack-"), gpu("gfx906:sramecc+:xnack-")) == Match::kGeneric);
  CHECK(match(id("gfx9-generic:xnack+"), gpu("gfx906:sramecc+:xnack-")) == Match::kNone);
  // Code of a newer version of the generic target runs on every processor that was in it before (LLVM's AMDGPU usage
  // document, generic processor versioning).
  CHECK(match(id("gfx11-generic"), gpu("gfx1103"), 1) == Match::kGeneric);
  CHECK(match(id("gfx11-generic"), gpu("gfx1103"), 2) == Match::kGeneric);
  CHECK(match(id("gfx9-4-generic"), gpu("gfx942:sramecc+:xnack-")) == Match::kGeneric);
}
