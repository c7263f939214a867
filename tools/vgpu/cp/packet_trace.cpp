#include "tools/vgpu/cp/packet_trace.h"

#include <barehip/aql.h>

#include "pm4/aql.h"

namespace vgpu {

namespace {

constexpr unsigned kCompletionDword = 14;

uint64_t mailbox_of(GpuContext& gpu, std::span<const uint32_t> packet) {
  const uint64_t signal = packet[kCompletionDword] | uint64_t{packet[kCompletionDword + 1]} << 32;
  if (!signal) return 0;
  const auto mailbox = gpu.memory.load<uint64_t>(signal + offsetof(barehip::aql::AmdSignal, event_mailbox_ptr));
  return mailbox ? *mailbox : 0;
}

}  // namespace

void trace_aql(GpuContext& gpu, uint32_t queue_id, std::span<const uint32_t> dwords) {
  if (!gpu.config.trace) return;
  const auto decoded = barehip::pm4::decode_aql(dwords, gpu.caps);
  std::string text = "packet queue=" + std::to_string(queue_id) + " ";
  text += decoded.outcome == barehip::pm4::Outcome::kPacket ? describe(decoded.packet) : decoded.error;
  gpu.config.trace(text + " mailbox=" + std::to_string(mailbox_of(gpu, dwords)));
}

void trace_sdma(GpuContext& gpu, uint32_t queue_id, const barehip::pm4::sdma::Packet& packet) {
  if (!gpu.config.trace) return;
  gpu.config.trace("packet queue=" + std::to_string(queue_id) + " SDMA " + barehip::pm4::sdma::describe(packet));
}

void trace_pm4(GpuContext& gpu, uint32_t queue_id, const barehip::pm4::Packet& packet) {
  if (!gpu.config.trace) return;
  gpu.config.trace("packet queue=" + std::to_string(queue_id) + " PM4 " + barehip::pm4::describe(packet));
}

void trace_pm4(GpuContext& gpu, const barehip::pm4::Packet& packet) {
  if (!gpu.config.trace) return;
  gpu.config.trace("packet IB " + barehip::pm4::describe(packet));
}

}  // namespace vgpu
