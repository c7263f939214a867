#include "runtime/core/staging.h"

namespace barehip::runtime {

Result<std::unique_ptr<Staging>> Staging::create(Device& device) {
  auto memory = Memory::allocate(device, kChunkBytes * kChunks, {.kind = MemoryKind::kHostCoherent});
  if (!memory) return std::unexpected(memory.error());
  return std::unique_ptr<Staging>(new Staging(std::move(*memory)));
}

Result<Staging::Chunk> Staging::next() {
  const size_t index = next_;
  if (busy_[index]) {
    auto seen = busy_[index]->wait(WaitCondition::kLess, 1, memory_.device());
    if (!seen) return std::unexpected(seen.error());
    busy_[index] = {};
  }
  next_ = (next_ + 1) % kChunks;
  return Chunk{index, memory_.host_as<uint8_t>() + index * kChunkBytes};
}

}  // namespace barehip::runtime
