// Pinned host memory through which copies with pageable memory go.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <barehip/device.h>
#include <barehip/memory.h>

#include "runtime/core/lock.h"
#include "runtime/core/shared_signal.h"

namespace barehip::runtime {

/// A ring of chunks. A chunk is taken when the transfer that used it last is done.
class Staging {
 public:
  static constexpr size_t kChunkBytes = 1u << 20;
  static constexpr size_t kChunks = 4;

  /// Error: as Memory::allocate.
  static Result<std::unique_ptr<Staging>> create(Device& device);

  struct Chunk {
    size_t index = 0;
    uint8_t* data = nullptr;  ///< host address and GPU address
  };
  /// The next chunk; waits for its last transfer. The caller holds `mutex` from here until it has called use() for it.
  Result<Chunk> next();
  /// The chunk is busy until `done`.
  void use(const Chunk& chunk, const SignalRef& done) { busy_[chunk.index] = done; }

  Mutex mutex;  ///< one copy at a time goes through the ring

 private:
  explicit Staging(Memory memory) : memory_(std::move(memory)) {}

  Memory memory_;
  std::array<SignalRef, kChunks> busy_;
  size_t next_ = 0;
};

}  // namespace barehip::runtime
