#include "tools/vgpu/cp/hw_queue.h"

#include <algorithm>

namespace vgpu {

void HwQueue::map(bool doorbell_lost) {
  on_hardware_ = true;
  for (const auto id : dispatches()) gpu_.engine->resume(id);
  mapped(doorbell_lost);
}

void HwQueue::unmap() {
  if (!on_hardware_) return;
  on_hardware_ = false;
  for (const auto id : dispatches()) gpu_.engine->suspend(id);
  save_waves();
}

/// The trap handler that saves waves writes their state from the control stack's end upwards, the processor its entries
/// from there downwards. Here an entry only stands for its wave; nothing is restored from it.
void HwQueue::save_waves() {
  saved_ = {};
  const uint32_t stack = params_.ctl_stack_bytes;
  if (params_.ctx_save_va == 0 || params_.ctx_save_bytes <= stack) return;
  std::vector<std::byte> state;
  for (const auto id : dispatches()) saved_.waves += gpu_.engine->save(id, state);
  if (saved_.waves == 0) return;
  constexpr uint32_t kHeader = 40, kEntry9 = 8, kEntry11 = 12;
  const uint32_t entry = gpu_.caps.has(barehip::pm4::Cap::kGcr) ? kEntry11 : kEntry9;
  state.resize(std::min<size_t>(state.size(), params_.ctx_save_bytes - stack));
  std::vector<uint32_t> entries(std::min((stack - kHeader) / entry, saved_.waves) * entry / sizeof(uint32_t));
  std::ranges::fill(entries, uint32_t{1} << 31);  // COMPUTE_RELAUNCH.IS_STATE
  saved_.control_stack_bytes = static_cast<uint32_t>(entries.size() * sizeof(uint32_t));
  saved_.wave_state_bytes = static_cast<uint32_t>(state.size());
  const uint64_t end = params_.ctx_save_va + stack;
  auto written = gpu_.memory.write(end - saved_.control_stack_bytes, entries.data(), saved_.control_stack_bytes);
  if (written) written = gpu_.memory.write(end, state.data(), state.size());
  if (!written) report_fault(written.error());
}

}  // namespace vgpu
