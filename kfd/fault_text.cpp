#include "kfd/fault_text.h"

#include <string>

#include <barehip/aql.h>

#include "kfd/client.h"
#include "kfd/uapi.h"

namespace barehip::kfd {
namespace {

std::string name_of(const GpuProperties& gpu) { return gpu.gfx + " (gpu_id " + std::to_string(gpu.gpu_id) + ")"; }

struct Meaning {
  uint64_t bit;
  ErrorCode code;
  const char* text;
};

constexpr const char* kDimText = "a dispatch packet with impossible grid or work-group dimensions";
constexpr const char* kGroupMemoryText = "a dispatch packet that asks for more LDS than a compute unit has";
constexpr const char* kCodeText = "a dispatch packet whose kernel object is null or no kernel";
constexpr const char* kPacketText = "a packet of a type that this GPU does not have";
constexpr const char* kGroupSizeText = "a dispatch packet whose work-group is too large";
constexpr const char* kRegistersText =
    "a dispatch packet whose work-group needs more registers than a compute unit has";
constexpr const char* kVendorText = "a vendor packet that this GPU does not have";
constexpr const char* kIllegalText = "an illegal instruction in a kernel";
constexpr const char* kTrapText = "a trap in a kernel (assert, abort or s_trap)";
constexpr const char* kApertureText = "an access of a kernel outside of the LDS or scratch aperture";

using uapi::Exception;
using uapi::exception_bit;

constexpr Meaning kPayload[] = {
    {exception_bit(Exception::kWaveAbort), ErrorCode::kTrap, kTrapText},
    {exception_bit(Exception::kWaveTrap), ErrorCode::kTrap, kTrapText},
    {exception_bit(Exception::kWaveMathError), ErrorCode::kTrap, "an enabled floating-point exception in a kernel"},
    {exception_bit(Exception::kWaveIllegalInstruction), ErrorCode::kIllegalInstruction, kIllegalText},
    {exception_bit(Exception::kWaveApertureViolation), ErrorCode::kIllegalAddress, kApertureText},
    {exception_bit(Exception::kDispatchDimInvalid), ErrorCode::kQueueError, kDimText},
    {exception_bit(Exception::kGroupSegmentSizeInvalid), ErrorCode::kQueueError, kGroupMemoryText},
    {exception_bit(Exception::kDispatchCodeInvalid), ErrorCode::kQueueError, kCodeText},
    {exception_bit(Exception::kPacketReserved), ErrorCode::kQueueError, kPacketText},
    {exception_bit(Exception::kPacketUnsupported), ErrorCode::kQueueError, kPacketText},
    {exception_bit(Exception::kWorkGroupSizeInvalid), ErrorCode::kQueueError, kGroupSizeText},
    {exception_bit(Exception::kDispatchRegisterInvalid), ErrorCode::kQueueError, kRegistersText},
    {exception_bit(Exception::kVendorUnsupported), ErrorCode::kQueueError, kVendorText},
    {exception_bit(Exception::kPreemptionError), ErrorCode::kDeviceLost, "a preemption that failed"},
    {exception_bit(Exception::kDeviceRasError), ErrorCode::kDeviceLost, "an uncorrectable memory error"},
    {exception_bit(Exception::kDeviceFatalHalt), ErrorCode::kDeviceLost, "a fatal halt of the GPU"},
};

using aql::QueueInactive;

constexpr Meaning kInactive[] = {
    {static_cast<uint64_t>(QueueInactive::kDispatchDimInvalid), ErrorCode::kQueueError, kDimText},
    {static_cast<uint64_t>(QueueInactive::kGroupSegmentInvalid), ErrorCode::kQueueError, kGroupMemoryText},
    {static_cast<uint64_t>(QueueInactive::kCodeInvalid), ErrorCode::kQueueError, kCodeText},
    {static_cast<uint64_t>(QueueInactive::kPacketUnsupported), ErrorCode::kQueueError, kPacketText},
    {static_cast<uint64_t>(QueueInactive::kWorkgroupTooLarge), ErrorCode::kQueueError, kGroupSizeText},
    {static_cast<uint64_t>(QueueInactive::kOutOfVgprs), ErrorCode::kQueueError, kRegistersText},
    {static_cast<uint64_t>(QueueInactive::kVendorPacketUnsupported), ErrorCode::kQueueError, kVendorText},
    {static_cast<uint64_t>(QueueInactive::kApertureViolation), ErrorCode::kIllegalAddress, kApertureText},
    {static_cast<uint64_t>(QueueInactive::kIllegalInstruction), ErrorCode::kIllegalInstruction, kIllegalText},
    {static_cast<uint64_t>(QueueInactive::kTrap), ErrorCode::kTrap, kTrapText},
};

constexpr uint64_t kScratchRequests = static_cast<uint64_t>(QueueInactive::kScratchWave64) |
                                      static_cast<uint64_t>(QueueInactive::kScratchWave32) |
                                      static_cast<uint64_t>(QueueInactive::kScratchOnceDone);

// What the payload may carry without the queue having ended.
constexpr uint64_t kHarmless = exception_bit(Exception::kQueueNew) | exception_bit(Exception::kQueueDelete) |
                               exception_bit(Exception::kWaveMemoryViolation) |
                               exception_bit(Exception::kDeviceMemoryViolation);

template <size_t N>
std::optional<Error> explain(const Meaning (&table)[N], uint64_t bits, const GpuProperties& gpu, uint32_t queue_id,
                             const char* operation) {
  if (bits == 0) return std::nullopt;
  const std::string where = "Queue " + std::to_string(queue_id) + " of " + name_of(gpu) + " was stopped by ";
  for (const Meaning& meaning : table)
    if ((bits & meaning.bit) != 0) return Error{meaning.code, 0, operation, where + meaning.text + "."};
  return Error{ErrorCode::kQueueError, 0, operation, where + "an error of unknown code " + hex_text(bits) + "."};
}

}  // namespace

Error memory_fault_error(const GpuProperties& gpu, const MemoryFault& fault) {
  std::string text = "Memory fault on " + name_of(gpu) + " at page " + hex_text(fault.page_address) + ": ";
  if (fault.error_type != 0)
    text += "uncorrectable memory error.";
  else if (fault.write)
    text += fault.not_present ? "a write to an address that is not mapped." : "a write to read-only memory.";
  else if (fault.no_execute)
    text += "instructions were fetched from memory that is not executable.";
  else if (fault.not_present)
    text += "an access to an address that is not mapped.";
  else
    text += "an access that the page does not allow.";
  if (fault.imprecise) text += " The address is imprecise.";
  return Error{ErrorCode::kIllegalAddress, 0, "GPU memory access", std::move(text)};
}

Error hw_exception_error(const GpuProperties& gpu, const HwException& exception) {
  std::string text =
      name_of(gpu) + (exception.reset_cause == 1 ? " was reset after a memory error" : " hung and was reset");
  text += exception.memory_lost ? "; the contents of its memory are lost." : ".";
  return Error{ErrorCode::kDeviceLost, 0, "GPU reset", std::move(text)};
}

Error unnamed_exception_error() {
  return Error{ErrorCode::kQueueError, 0, "GPU queue",
               "A queue of this process was stopped by a packet that its GPU cannot execute; the driver does not say "
               "which (Linux 6.5 and later do)."};
}

std::optional<Error> payload_error(const GpuProperties& gpu, uint32_t queue_id, uint64_t payload) {
  return explain(kPayload, payload & ~kHarmless, gpu, queue_id, "queue error");
}

std::optional<Error> inactive_error(const GpuProperties& gpu, uint32_t queue_id, uint64_t bits) {
  return explain(kInactive, bits & ~kScratchRequests, gpu, queue_id, "queue error");
}

}  // namespace barehip::kfd
