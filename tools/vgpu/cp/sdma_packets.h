// What each SDMA packet does. Types and layouts: pm4/sdma.h.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "pm4/sdma.h"
#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

struct SdmaDone {
  uint64_t skip_dwords = 0;  ///< COND_EXE: what follows and must not run
};
struct SdmaAgain {     ///< not finished: run it again
  bool moved = false;  ///< false: a condition in memory is not met
};
struct SdmaCall {  ///< goes on in a command buffer, then after this packet
  uint64_t va = 0;
  uint64_t dwords = 0;
};
struct SdmaRefusal {
  std::string text;
};
using SdmaOutcome = std::variant<SdmaDone, SdmaAgain, SdmaCall, SdmaRefusal, MemoryFault>;

/// `moved_bytes` counts how far a copy or fill has come; 0 for a new packet. Moves at most 1 MiB a call.
SdmaOutcome run_sdma_packet(GpuContext& gpu, const barehip::pm4::sdma::Packet& packet, uint64_t& moved_bytes);

}  // namespace vgpu
