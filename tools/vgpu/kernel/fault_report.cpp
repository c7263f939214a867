#include "tools/vgpu/kernel/fault_report.h"

#include <fmt/format.h>

#include "tools/vgpu/kernel/kernel_name.h"

namespace vgpu {

namespace {

const char* kind_text(WaveError::Kind kind) {
  switch (kind) {
    case WaveError::Kind::kMemoryFault: return "memory fault";
    case WaveError::Kind::kApertureViolation: return "LDS or scratch aperture violation";
    case WaveError::Kind::kIllegalInstruction: return "illegal instruction";
    case WaveError::Kind::kUnsupported: return "instruction that vgpu does not have";
    case WaveError::Kind::kTrapWithoutHandler: return "trap with no trap handler set";
    case WaveError::Kind::kDeadlock: return "deadlock: no wave can make progress";
  }
  return "wave error";
}

const char* access_text(Access access) {
  switch (access) {
    case Access::kRead: return "read";
    case Access::kWrite: return "write";
    case Access::kExecute: return "instruction fetch";
  }
  return "access";
}

std::string fault_text(const MemoryFault& fault) {
  return fmt::format("{} of {:#x} ({})", access_text(fault.access), fault.va,
                     fault.not_present ? "not mapped on this GPU" : "mapped, but not for this access");
}

std::string gpu_text(const Gpu& gpu) {
  return fmt::format("GPU {} ({}, id {})", gpu.index, gpu.card().gfx, gpu.gpu_id);
}

}  // namespace

std::string describe_wave_error(const Gpu& gpu, const AddressSpace& space, uint32_t queue_id, const Dispatch& dispatch,
                                const WaveError& error) {
  const std::string name = kernel_name_of_packet(space, dispatch.packet_va);
  std::string text = fmt::format("{}: {}", gpu_text(gpu), kind_text(error.kind));
  if (error.kind == WaveError::Kind::kMemoryFault) text += ": " + fault_text(error.fault);
  text += fmt::format(
      "\n  in kernel {} at pc {:#x} (code + {:#x}, code at {:#x}), lane {}, wave {} of work-group ({}, {}, {})\n"
      "  grid {}x{}x{}, group {}x{}x{}, queue {}, packet {:#x}",
      name.empty() ? "(no name known)" : name, error.pc, error.pc - dispatch.code_va, dispatch.code_va, error.lane,
      error.wave, error.workgroup[0], error.workgroup[1], error.workgroup[2], dispatch.grid[0], dispatch.grid[1],
      dispatch.grid[2], dispatch.group[0], dispatch.group[1], dispatch.group[2], queue_id, dispatch.packet_va);
  if (!error.text.empty()) text += "\n  " + error.text;
  return text;
}

std::string describe_packet_fault(const Gpu& gpu, uint32_t queue_id, const MemoryFault& fault) {
  return fmt::format("{}: memory fault of the packet processor: {}, queue {}", gpu_text(gpu), fault_text(fault),
                     queue_id);
}

std::string describe_queue_error(const Gpu& gpu, uint32_t queue_id, uint32_t exception_code, const char* text) {
  return fmt::format("{}: queue {} stopped (exception code {}): {}", gpu_text(gpu), queue_id, exception_code, text);
}

std::string describe_stray_access(const Gpu& gpu, uint64_t address) {
  return fmt::format("{}: memory fault: host page of {:#x} is mapped on the GPU, but the program took it away",
                     gpu_text(gpu), address);
}

}  // namespace vgpu
