// What barehip itself runs on the GPU: the second-level trap handler, and the command buffer that makes new code
// visible.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <barehip/device.h>
#include <barehip/memory.h>

namespace barehip::runtime::gpu {

/// Machine code of the trap handler for a target (runtime/gpu/trap_handler.s), or empty when there is none. Static
/// data.
std::span<const uint8_t> trap_handler_code(std::string_view gfx);

/// Puts the handler into memory of the GPU and installs it for all queues made later. The memory must outlive the
/// device's queues. Errors: kNotSupported (no handler for this GPU), kOutOfMemory, those of
/// Device::install_trap_handler.
Result<Memory> load_trap_handler(Device& device);

struct CommandBuffer {
  Memory memory;
  uint32_t dwords = 0;
};
/// PM4 that invalidates the instruction and scalar caches (and what lies behind them) for all addresses, for a PM4-IB
/// packet.
Result<CommandBuffer> make_code_invalidation(Device& device);

}  // namespace barehip::runtime::gpu
