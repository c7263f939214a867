// What went wrong on the GPU, as an Error with a text for a person.
#pragma once

#include <cstdint>
#include <optional>

#include <barehip/device.h>
#include <barehip/event.h>

namespace barehip::kfd {

Error memory_fault_error(const GpuProperties& gpu, const MemoryFault& fault);
Error hw_exception_error(const GpuProperties& gpu, const HwException& exception);
/// Of a hardware exception without any data.
Error unnamed_exception_error();

/// From a queue's error payload (bits of uapi::Exception). Nothing when no bit there is the queue's end: a
/// wave's memory violation, for one, comes as a memory fault that names the page.
std::optional<Error> payload_error(const GpuProperties& gpu, uint32_t queue_id, uint64_t payload);

/// From queue_inactive_signal (bits of aql::QueueInactive). Nothing for the scratch requests.
std::optional<Error> inactive_error(const GpuProperties& gpu, uint32_t queue_id, uint64_t bits);

}  // namespace barehip::kfd
