// Kinds of kernel arguments, and the hidden ones that the runtime passes behind those of the program.
//
// Names are the `.value_kind` strings of the code object metadata (LLVM's AMDGPU usage document). Where each hidden
// argument lies in a kernel is what that kernel's metadata says; the offsets here are the layout by code object
// version, that device code which reads the implicit argument pointer relies on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace barehip::codeobj {

enum class ValueKind : uint8_t {
  kByValue,
  kGlobalBuffer,
  kDynamicSharedPointer,
  kSampler,
  kImage,
  kPipe,
  kQueue,
  // hidden
  kHiddenNone,
  kHiddenGlobalOffsetX,  ///< 0 in HIP
  kHiddenGlobalOffsetY,
  kHiddenGlobalOffsetZ,
  kHiddenBlockCountX,  ///< u32, number of full work-groups: grid / group
  kHiddenBlockCountY,
  kHiddenBlockCountZ,
  kHiddenGroupSizeX,  ///< u16
  kHiddenGroupSizeY,
  kHiddenGroupSizeZ,
  kHiddenRemainderX,  ///< u16, work-items of the last partial group
  kHiddenRemainderY,
  kHiddenRemainderZ,
  kHiddenGridDims,        ///< u16
  kHiddenPrintfBuffer,    ///< address
  kHiddenHostcallBuffer,  ///< address
  kHiddenMultigridSyncArg,
  kHiddenHeapV1,
  kHiddenDefaultQueue,
  kHiddenCompletionAction,
  kHiddenDynamicLdsSize,  ///< u32, bytes
  kHiddenPrivateBase,     ///< u32, high half of the scratch aperture
  kHiddenSharedBase,      ///< u32, high half of the LDS aperture
  kHiddenQueuePtr,        ///< address of the amd_queue_t
  kUnknown,               ///< a kind of a newer compiler: the launch must refuse it unless its value may be 0
};

constexpr bool is_hidden(ValueKind kind) { return kind >= ValueKind::kHiddenNone && kind < ValueKind::kUnknown; }

/// kUnknown for a string that is not in the table.
ValueKind parse_value_kind(std::string_view text);
std::string_view to_string(ValueKind kind);

/// One hidden argument of the implicit block. `offset` counts from the implicit argument pointer, that is the end of
/// the explicit arguments rounded up to 8.
struct HiddenArgument {
  ValueKind kind;
  uint16_t offset;
  uint8_t size;
};

/// The implicit block of a code object version (4, 5, 6); empty for another version.
std::span<const HiddenArgument> hidden_arguments(unsigned code_object_version);

}  // namespace barehip::codeobj
