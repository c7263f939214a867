#include "runtime/api/entry.h"

#include <atomic>

namespace barehip::runtime {

namespace {

struct Mapping {
  ErrorCode code;
  hipError_t error;
};

constexpr Mapping kMappings[] = {
    {ErrorCode::kInvalidArgument, hipErrorInvalidValue},
    {ErrorCode::kNotSupported, hipErrorNotSupported},
    {ErrorCode::kNoDevice, hipErrorNoDevice},
    {ErrorCode::kNoPermission, hipErrorNoDevice},
    {ErrorCode::kDeviceHidden, hipErrorNoDevice},
    {ErrorCode::kOutOfMemory, hipErrorOutOfMemory},
    {ErrorCode::kOutOfResources, hipErrorLaunchOutOfResources},
    {ErrorCode::kInvalidImage, hipErrorInvalidImage},
    {ErrorCode::kNoBinaryForGpu, hipErrorNoBinaryForGpu},
    {ErrorCode::kNotFound, hipErrorNotFound},
    {ErrorCode::kInvalidHandle, hipErrorInvalidHandle},
    {ErrorCode::kIllegalAddress, hipErrorIllegalAddress},
    {ErrorCode::kIllegalInstruction, hipErrorLaunchFailure},
    {ErrorCode::kTrap, hipErrorLaunchFailure},
    {ErrorCode::kQueueError, hipErrorLaunchFailure},
    {ErrorCode::kDeviceLost, hipErrorLaunchFailure},
    {ErrorCode::kTimeout, hipErrorLaunchTimeOut},
    {ErrorCode::kSystem, hipErrorOperatingSystem},
    {ErrorCode::kInvalidDevice, hipErrorInvalidDevice},
    {ErrorCode::kInvalidConfiguration, hipErrorInvalidConfiguration},
    {ErrorCode::kInvalidFunction, hipErrorInvalidDeviceFunction},
    {ErrorCode::kInvalidSymbol, hipErrorInvalidSymbol},
    {ErrorCode::kInvalidPointer, hipErrorInvalidDevicePointer},
    {ErrorCode::kInvalidCopyDirection, hipErrorInvalidMemcpyDirection},
    {ErrorCode::kAlreadyRegistered, hipErrorHostMemoryAlreadyRegistered},
    {ErrorCode::kNotRegistered, hipErrorHostMemoryNotRegistered},
    {ErrorCode::kFileNotFound, hipErrorFileNotFound},
    {ErrorCode::kNotReady, hipErrorNotReady},
    {ErrorCode::kMissingConfiguration, hipErrorMissingConfiguration},
    {ErrorCode::kNotInitialized, hipErrorNotInitialized},
};

std::atomic<bool> refused_before[std::size(kApiTable)];

}  // namespace

hipError_t to_hip(ErrorCode code) {
  for (const Mapping& mapping : kMappings)
    if (mapping.code == code) return mapping.error;
  return hipErrorUnknown;
}

thread_local constinit LastError t_last_error;

void refuse(ApiId id) {
  record(hipErrorNotSupported);
  if (refused_before[static_cast<uint16_t>(id)].exchange(true, std::memory_order_relaxed)) return;
  if (!log_enabled(LogLevel::kError)) return;
  try {
    log_line(LogLevel::kError, std::string(api_function(id).symbol) +
                                   ": barehip does not have this function yet; it returns hipErrorNotSupported");
  } catch (const std::bad_alloc&) {
    // The answer stands without its log line.
  }
}

void trace(ApiId id, hipError_t result) {
  try {
    std::string line(api_function(id).symbol);
    line += " -> ";
    line += hipGetErrorName(result);
    log_line(LogLevel::kInfo, line);
  } catch (const std::bad_alloc&) {
    // A call is not failed for want of its log line.
  }
}

hipError_t failed(ApiId, const Error& error) {
  if (error.code != ErrorCode::kNotReady) note_error(error);
  return to_hip(error.code);
}

hipError_t out_of_memory(ApiId) { return hipErrorOutOfMemory; }

}  // namespace barehip::runtime
