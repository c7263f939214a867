#include "runtime/gpu/trap_handler.h"

#include <cstring>

namespace barehip::runtime::gpu {
namespace {

struct TrapHandlerRow {
  std::string_view gfx;
  std::span<const uint32_t> code;
};

#include "runtime/gpu/trap_handler_code.inc"

}  // namespace

std::span<const uint8_t> trap_handler_code(std::string_view gfx) {
  for (const TrapHandlerRow& row : kTrapHandlers)
    if (row.gfx == gfx) return {reinterpret_cast<const uint8_t*>(row.code.data()), row.code.size_bytes()};
  return {};
}

Result<Memory> load_trap_handler(Device& device) {
  const std::span<const uint8_t> code = trap_handler_code(device.properties().gfx);
  if (code.empty())
    return fail(ErrorCode::kNotSupported, "load trap handler",
                "barehip has no trap handler for " + device.properties().gfx);
  // System memory: it needs no upload, which would need a queue, which needs the handler.
  auto memory = Memory::allocate(device, 4096, {.kind = MemoryKind::kHostUncached, .executable = true});
  if (!memory) return memory;
  std::memcpy(memory->host(), code.data(), code.size());
  if (auto installed = device.install_trap_handler(*memory); !installed) return std::unexpected(installed.error());
  return memory;
}

}  // namespace barehip::runtime::gpu
