// Apart from the rest, so that tests with shader cores of their own need not link the real ones.
#include "tools/vgpu/cp/command_processor.h"

namespace vgpu {

std::unique_ptr<CommandProcessor> CommandProcessor::create(const GpuConfig& config, AddressSpace& memory,
                                                           InterruptSink& sink) {
  return create(config, memory, sink, ShaderEngine::create);
}

}  // namespace vgpu
