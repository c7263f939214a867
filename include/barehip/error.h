// Result<T> and Error: how every part of barehip below the HIP API reports failure.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace barehip {

/// What went wrong, in terms that a caller can act on. The HIP layer maps each value to one hipError_t in one table.
enum class ErrorCode : uint8_t {
  kInvalidArgument,     ///< a value that the callee can refuse by looking at it
  kNotSupported,        ///< the driver, the GPU or barehip does not do this; the text names it
  kNoDevice,            ///< there is no GPU (no /dev/kfd in any of its ways, or no GPU node)
  kNoPermission,        ///< a device node exists and may not be opened; the text names its group
  kDeviceHidden,        ///< a GPU node is in the topology, its render device is not (a container hides it)
  kOutOfMemory,         ///< host, VRAM or GTT memory is used up
  kOutOfResources,      ///< queues, doorbells, events or scratch are used up
  kInvalidImage,        ///< a code object or bundle is malformed; the text names the field and offset
  kNoBinaryForGpu,      ///< no code in the image runs on this GPU; the text lists both sides
  kNotFound,            ///< a symbol, file or id does not exist
  kInvalidHandle,       ///< stale or foreign handle
  kIllegalAddress,      ///< the GPU touched an address that is not mapped for it
  kIllegalInstruction,  ///< a wave met an instruction that the GPU does not have
  kTrap,                ///< a wave ended in s_trap (assert, abort)
  kQueueError,          ///< the command processor refused a packet; the text names the reason
  kDeviceLost,          ///< GPU reset or removal
  kTimeout,             ///< a bounded wait ended without its condition
  kSystem,              ///< an operating system call failed; sys_errno says how
  // What HIP tells apart beyond the above. The low-level API does not use these.
  kInvalidDevice,         ///< no device of that ordinal
  kInvalidConfiguration,  ///< grid, block or LDS size beyond what the GPU or the kernel allows
  kInvalidFunction,       ///< not a kernel: null, unregistered, or of an unloaded module
  kInvalidSymbol,         ///< not a registered device variable
  kInvalidPointer,        ///< not an address that this call can use
  kInvalidCopyDirection,  ///< a copy kind that does not exist
  kAlreadyRegistered,     ///< host memory that is registered already
  kNotRegistered,         ///< host memory that is not registered
  kFileNotFound,          ///< a module file that cannot be opened
  kNotReady,              ///< work has not completed yet
  kMissingConfiguration,  ///< a launch without a pushed configuration
  kNotInitialized,        ///< a child of fork(): the GPU belongs to its parent
};

/// One failure. `operation` is a string literal ("ioctl ALLOC_MEMORY_OF_GPU"); `text` is a full sentence for a person:
/// what happened, to what, and what to do. Allocates only when made, that is: only on failure paths.
struct Error {
  ErrorCode code = ErrorCode::kSystem;
  int sys_errno = 0;  ///< positive errno where an OS call was the cause, else 0
  const char* operation = "";
  std::string text;
};

template <class T>
using Result = std::expected<T, Error>;

/// Shorthand: `return fail(ErrorCode::kNotFound, "find symbol", "no variable 'x' in the module");`
inline std::unexpected<Error> fail(ErrorCode code, const char* operation, std::string text, int sys_errno = 0) {
  return std::unexpected<Error>(Error{code, sys_errno, operation, std::move(text)});
}

}  // namespace barehip
