// Texts about faults, for a person. The model can tell far more than hardware does; nothing here reaches the client.
#pragma once

#include <string>

#include "tools/vgpu/cp/command_processor.h"
#include "tools/vgpu/kernel/machine.h"

namespace vgpu {

/// Looks the kernel's name up in the GPU's memory.
std::string describe_wave_error(const Gpu& gpu, const AddressSpace& space, uint32_t queue_id, const Dispatch& dispatch,
                                const WaveError& error);
std::string describe_packet_fault(const Gpu& gpu, uint32_t queue_id, const MemoryFault& fault);
std::string describe_queue_error(const Gpu& gpu, uint32_t queue_id, uint32_t exception_code, const char* text);
std::string describe_stray_access(const Gpu& gpu, uint64_t address);

}  // namespace vgpu
