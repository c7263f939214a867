// Lines of the trace (GpuConfig::trace) for packets, written as each one starts. Nothing happens when it is off.
#pragma once

#include <cstdint>
#include <span>

#include "pm4/pm4.h"
#include "pm4/sdma.h"
#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

/// "packet queue=1 KERNEL_DISPATCH ... mailbox=0x...": the mailbox is that of the completion signal.
void trace_aql(GpuContext& gpu, uint32_t queue_id, std::span<const uint32_t> dwords);
void trace_sdma(GpuContext& gpu, uint32_t queue_id, const barehip::pm4::sdma::Packet& packet);
/// A PM4 packet of an indirect buffer.
void trace_pm4(GpuContext& gpu, const barehip::pm4::Packet& packet);
/// A PM4 packet of a ring.
void trace_pm4(GpuContext& gpu, uint32_t queue_id, const barehip::pm4::Packet& packet);

}  // namespace vgpu
