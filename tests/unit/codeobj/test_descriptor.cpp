// The kernel descriptor: every offset, mask and property bit against LLVM's header; units; checks against a target.
#include "codeobj/kernel_descriptor.h"

#ifdef BAREHIP_HAVE_LLVM_HEADERS
#include <llvm/Support/AMDHSAKernelDescriptor.h>
#endif

#include "tests/catch.h"

using namespace barehip;
using namespace barehip::codeobj;

#ifdef BAREHIP_HAVE_LLVM_HEADERS
namespace llvm_hsa = llvm::amdhsa;

#define SAME_OFFSET(field) \
  static_assert(offsetof(KernelDescriptor, field) == offsetof(llvm_hsa::kernel_descriptor_t, field))
static_assert(sizeof(KernelDescriptor) == sizeof(llvm_hsa::kernel_descriptor_t));
SAME_OFFSET(group_segment_fixed_size);
SAME_OFFSET(private_segment_fixed_size);
SAME_OFFSET(kernarg_size);
SAME_OFFSET(kernel_code_entry_byte_offset);
SAME_OFFSET(compute_pgm_rsrc3);
SAME_OFFSET(compute_pgm_rsrc1);
SAME_OFFSET(compute_pgm_rsrc2);
SAME_OFFSET(kernel_code_properties);
SAME_OFFSET(kernarg_preload);

#define SAME_MASK(ours, theirs) static_assert((ours).mask() == static_cast<uint32_t>(llvm_hsa::theirs))
SAME_MASK(rsrc1::kVgprs, COMPUTE_PGM_RSRC1_GRANULATED_WORKITEM_VGPR_COUNT);
SAME_MASK(rsrc1::kSgprs, COMPUTE_PGM_RSRC1_GRANULATED_WAVEFRONT_SGPR_COUNT);
SAME_MASK(rsrc1::kPriority, COMPUTE_PGM_RSRC1_PRIORITY);
SAME_MASK(rsrc1::kRound32, COMPUTE_PGM_RSRC1_FLOAT_ROUND_MODE_32);
SAME_MASK(rsrc1::kRound16_64, COMPUTE_PGM_RSRC1_FLOAT_ROUND_MODE_16_64);
SAME_MASK(rsrc1::kDenorm32, COMPUTE_PGM_RSRC1_FLOAT_DENORM_MODE_32);
SAME_MASK(rsrc1::kDenorm16_64, COMPUTE_PGM_RSRC1_FLOAT_DENORM_MODE_16_64);
SAME_MASK(rsrc1::kPriv, COMPUTE_PGM_RSRC1_PRIV);
SAME_MASK(rsrc1::kDx10Clamp, COMPUTE_PGM_RSRC1_GFX6_GFX11_ENABLE_DX10_CLAMP);
SAME_MASK(rsrc1::kDebugMode, COMPUTE_PGM_RSRC1_DEBUG_MODE);
SAME_MASK(rsrc1::kIeeeMode, COMPUTE_PGM_RSRC1_GFX6_GFX11_ENABLE_IEEE_MODE);
SAME_MASK(rsrc1::kBulky, COMPUTE_PGM_RSRC1_BULKY);
SAME_MASK(rsrc1::kCdbgUser, COMPUTE_PGM_RSRC1_CDBG_USER);
SAME_MASK(rsrc1::kFp16Overflow, COMPUTE_PGM_RSRC1_GFX9_PLUS_FP16_OVFL);
SAME_MASK(rsrc1::kWgpMode, COMPUTE_PGM_RSRC1_GFX10_PLUS_WGP_MODE);
SAME_MASK(rsrc1::kMemOrdered, COMPUTE_PGM_RSRC1_GFX10_PLUS_MEM_ORDERED);
SAME_MASK(rsrc1::kFwdProgress, COMPUTE_PGM_RSRC1_GFX10_PLUS_FWD_PROGRESS);
SAME_MASK(rsrc2::kPrivateSegment, COMPUTE_PGM_RSRC2_ENABLE_PRIVATE_SEGMENT);
SAME_MASK(rsrc2::kUserSgprs, COMPUTE_PGM_RSRC2_USER_SGPR_COUNT);
SAME_MASK(rsrc2::kTrapHandler, COMPUTE_PGM_RSRC2_GFX6_GFX11_ENABLE_TRAP_HANDLER);
SAME_MASK(rsrc2::kWorkgroupIdX, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_X);
SAME_MASK(rsrc2::kWorkgroupIdY, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_Y);
SAME_MASK(rsrc2::kWorkgroupIdZ, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_Z);
SAME_MASK(rsrc2::kWorkgroupInfo, COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_INFO);
SAME_MASK(rsrc2::kWorkitemId, COMPUTE_PGM_RSRC2_ENABLE_VGPR_WORKITEM_ID);
SAME_MASK(rsrc2::kAddressWatch, COMPUTE_PGM_RSRC2_ENABLE_EXCEPTION_ADDRESS_WATCH);
SAME_MASK(rsrc2::kMemoryException, COMPUTE_PGM_RSRC2_ENABLE_EXCEPTION_MEMORY);
SAME_MASK(rsrc2::kLdsSize, COMPUTE_PGM_RSRC2_GRANULATED_LDS_SIZE);
SAME_MASK(rsrc3::kAccumOffset, COMPUTE_PGM_RSRC3_GFX90A_ACCUM_OFFSET);
SAME_MASK(rsrc3::kTgSplit, COMPUTE_PGM_RSRC3_GFX90A_TG_SPLIT);
SAME_MASK(rsrc3::kSharedVgprs, COMPUTE_PGM_RSRC3_GFX10_GFX11_SHARED_VGPR_COUNT);
SAME_MASK(rsrc3::kInstPrefSize, COMPUTE_PGM_RSRC3_GFX11_INST_PREF_SIZE);
SAME_MASK(preload::kLength, KERNARG_PRELOAD_SPEC_LENGTH);
SAME_MASK(preload::kOffset, KERNARG_PRELOAD_SPEC_OFFSET);

#define SAME_BIT(ours, theirs) static_assert((ours) == static_cast<uint32_t>(llvm_hsa::theirs))
SAME_BIT(property::kPrivateSegmentBuffer, KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER);
SAME_BIT(property::kDispatchPtr, KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR);
SAME_BIT(property::kQueuePtr, KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR);
SAME_BIT(property::kKernargSegmentPtr, KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR);
SAME_BIT(property::kDispatchId, KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID);
SAME_BIT(property::kFlatScratchInit, KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT);
SAME_BIT(property::kPrivateSegmentSize, KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE);
SAME_BIT(property::kWavefrontSize32, KERNEL_CODE_PROPERTY_ENABLE_WAVEFRONT_SIZE32);
SAME_BIT(property::kUsesDynamicStack, KERNEL_CODE_PROPERTY_USES_DYNAMIC_STACK);
#endif

namespace {

// The descriptor of a vector add as HIP 6.4.3 has it on gfx90a.
KernelDescriptor stock_vadd() {
  KernelDescriptor d{};
  d.kernarg_size = 288;
  d.kernel_code_entry_byte_offset = 0x1080;
  d.compute_pgm_rsrc1 = 0x00af0040;
  d.compute_pgm_rsrc2 = 0x0000008c;
  d.compute_pgm_rsrc3 = 0x00000001;
  d.kernel_code_properties = 0x0009;
  return d;
}

std::string refusal(KernelDescriptor descriptor, const char* gpu) {
  auto checked = check_descriptor(descriptor, *find_target(gpu));
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().code == ErrorCode::kInvalidImage);
  return checked.error().text;
}

}  // namespace

TEST_CASE("a descriptor of a stock program in plain units") {
  const DescriptorInfo info = describe_descriptor(stock_vadd(), *find_target("gfx90a"));
  CHECK(info.vgprs == 8);
  CHECK(info.accum_offset == 8);
  CHECK(info.sgprs == 16);
  CHECK(info.user_sgprs == 6);
  CHECK(info.wave_size == 64);
  CHECK_FALSE(info.uses_scratch);
  CHECK(check_descriptor(stock_vadd(), *find_target("gfx90a")).has_value());
}

TEST_CASE("a descriptor that a target cannot run is refused by field") {
  KernelDescriptor d = stock_vadd();
  d.reserved1[7] = 1;
  CHECK(refusal(d, "gfx90a").find("reserved bytes") != std::string::npos);
  d = stock_vadd();
  d.kernel_code_properties |= 1u << 12;
  CHECK(refusal(d, "gfx90a").find("kernel_code_properties") != std::string::npos);
  d = stock_vadd();
  d.kernel_code_properties = property::kWavefrontSize32 | property::kKernargSegmentPtr;
  CHECK(refusal(d, "gfx90a").find("WAVEFRONT_SIZE32") != std::string::npos);
  CHECK(check_descriptor(d, *find_target("gfx1100")).has_value());
  d = stock_vadd();
  d.kernel_code_properties |= property::kFlatScratchInit;
  CHECK(refusal(d, "gfx942").find("scratch SGPRs") != std::string::npos);
  d = stock_vadd();
  d.kernel_code_properties = property::kKernargSegmentPtr;
  d.kernarg_preload = 2;
  CHECK(refusal(d, "gfx1100").find("kernarg_preload") != std::string::npos);
}
