#include "codeobj/kernel_descriptor.h"

#include <algorithm>
#include <cstdio>

namespace barehip::codeobj {
namespace {

std::unexpected<Error> bad(const char* field, const std::string& why) {
  return fail(ErrorCode::kInvalidImage, "check kernel descriptor",
              std::string("kernel descriptor: ") + field + " " + why);
}

bool all_zero(std::span<const uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](uint8_t b) { return b == 0; });
}

}  // namespace

DescriptorInfo describe_descriptor(const KernelDescriptor& d, const Target& target) {
  DescriptorInfo info;
  const bool wave32 = (d.kernel_code_properties & property::kWavefrontSize32) != 0;
  info.wave_size = wave32 ? 32 : 64;
  const uint32_t granule = target.vgpr_encoding_granule * (wave32 ? 2u : 1u);
  info.vgprs = (rsrc1::kVgprs.get(d.compute_pgm_rsrc1) + 1) * granule;
  if (target.unified_vgprs) info.accum_offset = (rsrc3::kAccumOffset.get(d.compute_pgm_rsrc3) + 1) * 4;
  info.sgprs =
      target.sgpr_alloc_granule ? (rsrc1::kSgprs.get(d.compute_pgm_rsrc1) / 2 + 1) * target.sgpr_alloc_granule : 128u;
  info.user_sgprs = rsrc2::kUserSgprs.get(d.compute_pgm_rsrc2);
  info.uses_scratch = rsrc2::kPrivateSegment.get(d.compute_pgm_rsrc2) != 0;
  info.uses_dynamic_stack = (d.kernel_code_properties & property::kUsesDynamicStack) != 0;
  return info;
}

Result<void> check_descriptor(const KernelDescriptor& d, const Target& target) {
  if (!all_zero(d.reserved0) || !all_zero(d.reserved1) || !all_zero(d.reserved2)) {
    return bad("reserved bytes", "are not zero");
  }
  const uint16_t properties = d.kernel_code_properties;
  if (properties & property::kReserved) return bad("kernel_code_properties", "has reserved bits set");
  if ((properties & property::kWavefrontSize32) && !target.wave32) {
    return bad("ENABLE_WAVEFRONT_SIZE32", "is set, this target has only 64-lane waves");
  }
  if (target.architected_flat_scratch &&
      (properties & (property::kPrivateSegmentBuffer | property::kFlatScratchInit))) {
    return bad("kernel_code_properties", "asks for scratch SGPRs that this target does not have");
  }
  if (d.kernarg_preload && !target.kernarg_preload) {
    return bad("kernarg_preload", "is set, this target cannot preload kernel arguments");
  }
  return {};
}

std::string describe(const KernelDescriptor& d) {
  char text[400];
  std::snprintf(text, sizeof text,
                "group=%u private=%u kernarg=%u entry=%+lld rsrc1=0x%08x rsrc2=0x%08x rsrc3=0x%08x properties=0x%04x "
                "preload=0x%x",
                d.group_segment_fixed_size, d.private_segment_fixed_size, d.kernarg_size,
                static_cast<long long>(d.kernel_code_entry_byte_offset), d.compute_pgm_rsrc1, d.compute_pgm_rsrc2,
                d.compute_pgm_rsrc3, d.kernel_code_properties, d.kernarg_preload);
  return text;
}

}  // namespace barehip::codeobj
