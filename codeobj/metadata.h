// The metadata note of a code object: MessagePack, NT_AMDGPU_METADATA.
#pragma once

#include <vector>

#include "codeobj/code_object.h"

namespace barehip::codeobj {

struct Metadata {
  uint32_t major = 0, minor = 0;
  std::string target;           ///< "amdgcn-amd-amdhsa--gfx90a:xnack-", "" when absent
  std::vector<Kernel> kernels;  ///< descriptor and its offset are not filled
  std::vector<std::string> printf_formats;
};

/// `base` is the file offset of `bytes`, for error texts. kInvalidImage: not MessagePack, a field of the wrong type,
/// an argument outside the kernarg segment, a kernel without name or symbol.
Result<Metadata> parse_metadata(std::span<const std::byte> bytes, size_t base);

}  // namespace barehip::codeobj
