// The 64-byte kernel descriptor (symbol `name.kd`), that the command processor reads before it starts a kernel.
//
// Layout and bits follow LLVM's AMDGPU usage document, "Kernel Descriptor"; the tests compare every offset and mask
// with LLVM's AMDHSAKernelDescriptor.h.
#pragma once

#include <barehip/error.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "codeobj/target.h"

namespace barehip::codeobj {

struct KernelDescriptor {
  uint32_t group_segment_fixed_size;    ///< static LDS, bytes
  uint32_t private_segment_fixed_size;  ///< bytes per work-item
  uint32_t kernarg_size;                ///< bytes
  uint8_t reserved0[4];
  int64_t kernel_code_entry_byte_offset;  ///< from this descriptor to the first instruction, 256-aligned
  uint8_t reserved1[20];
  uint32_t compute_pgm_rsrc3;
  uint32_t compute_pgm_rsrc1;
  uint32_t compute_pgm_rsrc2;
  uint16_t kernel_code_properties;
  uint16_t kernarg_preload;
  uint8_t reserved2[4];
};
static_assert(sizeof(KernelDescriptor) == 64);
static_assert(offsetof(KernelDescriptor, kernel_code_entry_byte_offset) == 16);
static_assert(offsetof(KernelDescriptor, compute_pgm_rsrc3) == 44);
static_assert(offsetof(KernelDescriptor, compute_pgm_rsrc1) == 48);
static_assert(offsetof(KernelDescriptor, compute_pgm_rsrc2) == 52);
static_assert(offsetof(KernelDescriptor, kernel_code_properties) == 56);
static_assert(offsetof(KernelDescriptor, kernarg_preload) == 58);

/// kernel_code_properties.
namespace property {
inline constexpr uint16_t kPrivateSegmentBuffer = 1u << 0, kDispatchPtr = 1u << 1, kQueuePtr = 1u << 2,
                          kKernargSegmentPtr = 1u << 3, kDispatchId = 1u << 4, kFlatScratchInit = 1u << 5,
                          kPrivateSegmentSize = 1u << 6, kWavefrontSize32 = 1u << 10, kUsesDynamicStack = 1u << 11;
inline constexpr uint16_t kReserved = 0xf380;
}  // namespace property

/// A field of a descriptor word.
struct BitField {
  uint8_t lsb, width;
  [[nodiscard]] constexpr uint32_t get(uint32_t word) const { return (word >> lsb) & ((1u << width) - 1); }
  [[nodiscard]] constexpr uint32_t mask() const { return ((1u << width) - 1) << lsb; }
};

namespace rsrc1 {
inline constexpr BitField kVgprs{0, 6}, kSgprs{6, 4}, kPriority{10, 2}, kRound32{12, 2}, kRound16_64{14, 2},
    kDenorm32{16, 2}, kDenorm16_64{18, 2}, kPriv{20, 1}, kDx10Clamp{21, 1}, kDebugMode{22, 1}, kIeeeMode{23, 1},
    kBulky{24, 1}, kCdbgUser{25, 1}, kFp16Overflow{26, 1}, kWgpMode{29, 1}, kMemOrdered{30, 1}, kFwdProgress{31, 1};
}
namespace rsrc2 {
inline constexpr BitField kPrivateSegment{0, 1}, kUserSgprs{1, 5}, kTrapHandler{6, 1}, kWorkgroupIdX{7, 1},
    kWorkgroupIdY{8, 1}, kWorkgroupIdZ{9, 1}, kWorkgroupInfo{10, 1}, kWorkitemId{11, 2}, kAddressWatch{13, 1},
    kMemoryException{14, 1}, kLdsSize{15, 9}, kFpExceptions{24, 7};
}
namespace rsrc3 {
inline constexpr BitField kAccumOffset{0, 6}, kTgSplit{16, 1};  // gfx90a, gfx942
inline constexpr BitField kSharedVgprs{0, 4}, kInstPrefSize{4, 6}, kTrapOnStart{10, 1}, kTrapOnEnd{11, 1},
    kImageOp{31, 1};  // gfx11
}  // namespace rsrc3
namespace preload {
inline constexpr BitField kLength{0, 7}, kOffset{7, 9};  // dwords
}

/// What the descriptor says, in plain units.
struct DescriptorInfo {
  uint32_t vgprs = 0;         ///< allocated per lane (with AccVGPRs where the file is unified)
  uint32_t accum_offset = 0;  ///< first AccVGPR; 0 where there are none in the unified file
  uint32_t sgprs = 0;         ///< allocated per wave
  uint32_t user_sgprs = 0;
  uint8_t wave_size = 64;
  bool uses_scratch = false;
  bool uses_dynamic_stack = false;
};
DescriptorInfo describe_descriptor(const KernelDescriptor& descriptor, const Target& target);

/// Checks a descriptor against a target: reserved bits and fields that this target does not have. kInvalidImage, the
/// text names the field.
Result<void> check_descriptor(const KernelDescriptor& descriptor, const Target& target);

/// Every field on one line.
std::string describe(const KernelDescriptor& descriptor);

}  // namespace barehip::codeobj
