#include <algorithm>
#include <array>

#include "codeobj/target.h"
#include "pm4/pm4.h"
#include "runtime/gpu/trap_handler.h"

namespace barehip::runtime::gpu {
namespace {

Result<uint32_t> encode_invalidation(pm4::CapSet caps, std::span<uint32_t> out) {
  if (caps.has(pm4::Cap::kGcr)) {
    namespace gcr = pm4::gcr;
    return pm4::encode(
        pm4::AcquireMemGcr{.size = pm4::kAcquireAllSize,
                           .control = gcr::kGliInvAll | gcr::kGlkInv | gcr::kGlvInv | gcr::kGl1Inv | gcr::kGl2Inv},
        caps, out);
  }
  namespace coher = pm4::coher;
  return pm4::encode(
      pm4::AcquireMemCoher{.control = coher::kShIcache | coher::kShKcache | coher::kTc | coher::kTcWriteback,
                           .size = pm4::kAcquireAllSize},
      caps, out);
}

}  // namespace

Result<CommandBuffer> make_code_invalidation(Device& device) {
  const codeobj::Target* target = codeobj::find_target(device.properties().gfx);
  const pm4::PacketCaps* caps = target ? pm4::find_packet_caps(target->gfx_target_version) : nullptr;
  if (caps == nullptr || !caps->caps.has(pm4::Cap::kAqlPm4Ib))
    return fail(ErrorCode::kNotSupported, "make code invalidation",
                "barehip has no way to invalidate the instruction caches of " + device.properties().gfx);
  std::array<uint32_t, 16> dwords{};
  auto count = encode_invalidation(caps->caps, dwords);
  if (!count) return std::unexpected(count.error());
  auto memory = Memory::allocate(device, 4096, {.kind = MemoryKind::kHostUncached, .executable = true});
  if (!memory) return std::unexpected(memory.error());
  std::copy_n(dwords.begin(), *count, memory->host_as<uint32_t>());
  return CommandBuffer{std::move(*memory), *count};
}

}  // namespace barehip::runtime::gpu
