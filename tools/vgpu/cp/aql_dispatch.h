// From an AQL kernel dispatch packet to the register state that the shader cores start from, with the checks that make
// the command processor refuse a packet. Rules: facts on dispatch (LLVM's AMDGPU usage document for the descriptor and
// the initial wave state; the KFD's exception codes for refusals).
#pragma once

#include <barehip/aql.h>

#include <cstdint>
#include <string>
#include <variant>

#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

/// KFD_EC_QUEUE_PACKET_* of <linux/kfd_ioctl.h>.
enum class PacketError : uint32_t {
  kDispatchDim = 16,
  kGroupSegment = 17,
  kCode = 18,
  kReserved = 19,
  kUnsupported = 20,
  kWorkGroupSize = 21,
  kRegisters = 22,
  kVendorUnsupported = 23,
};

struct PacketRefusal {
  PacketError code{};
  std::string text;
};

/// The queue's private memory is too small for the packet: the runtime must provide more before it can start.
struct ScratchWanted {
  uint32_t lane_bytes = 0;
  bool wave32 = false;
};

/// What the command processor reads from amd_queue_t before each packet. `va` is where the structure is.
struct QueueView {
  uint64_t va = 0;
  barehip::aql::AmdQueue fields{};  ///< all but the per-XCC reclaim indices, which are left 0
};

MemResult<QueueView> read_queue_view(GpuMemory& memory, uint64_t read_ptr_va);

using DispatchPlan = std::variant<Dispatch, PacketRefusal, ScratchWanted, MemoryFault>;

/// `packet_va` is the packet in the ring, `index` its packet index.
DispatchPlan plan_dispatch(GpuContext& gpu, const QueueParams& params, const QueueView& queue,
                           const barehip::aql::KernelDispatchPacket& packet, uint64_t packet_va, uint64_t index);

}  // namespace vgpu
