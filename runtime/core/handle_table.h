// Opaque handles: an index and a generation, so that a stale, foreign or random value is an error and never a crash.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/core/lock.h"

namespace barehip::runtime {

/// What the HIP API passes as hipStream_t, hipEvent_t, hipModule_t, hipFunction_t. Never dereferenced; 0 is "none".
using Handle = uintptr_t;

enum class HandleKind : uint8_t { kStream = 0x9, kEvent = 0xa, kModule = 0xb, kFunction = 0xc };

/// Handle layout: bits 3:0 kind, 23:4 index, 47:24 generation (from 1, wraps past 0).
/// Objects are owned by their callers' pools and stay readable memory for the life of the process, which is what lets
/// find() run without a lock. Threads: all functions from any thread. Cost: find() is two loads, no lock, no syscall.
template <class T, HandleKind kKind>
class HandleTable {
 public:
  static constexpr uint32_t kBlock = 1024;
  static constexpr uint32_t kBlocks = 1024;

  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable() {
    for (auto& block : blocks_) delete block.load(std::memory_order_relaxed);
  }

  /// Returns 0 when all 2^20 slots are in use.
  Handle insert(T* object) {
    std::lock_guard lock(mutex_);
    uint32_t index = 0;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      if (used_ == kBlock * kBlocks) return 0;
      index = used_++;
      if (!blocks_[index / kBlock].load(std::memory_order_relaxed))
        blocks_[index / kBlock].store(new Block{}, std::memory_order_release);
    }
    Slot& slot = (*blocks_[index / kBlock].load(std::memory_order_relaxed))[index % kBlock];
    uint32_t generation = (slot.generation.load(std::memory_order_relaxed) + 1) & kGenerationMask;
    if (generation == 0) generation = 1;
    slot.object.store(object, std::memory_order_relaxed);
    slot.generation.store(generation, std::memory_order_release);
    return (Handle{generation} << 24) | (Handle{index} << 4) | static_cast<Handle>(kKind);
  }

  /// Null for everything that insert() did not return or that was erased.
  T* find(Handle handle) const {
    const Slot* slot = slot_of(handle);
    return slot ? slot->object.load(std::memory_order_acquire) : nullptr;
  }

  /// Takes the handle out of use and returns its object; null when another thread was first or it never was one.
  T* erase(Handle handle) {
    std::lock_guard lock(mutex_);
    Slot* slot = const_cast<Slot*>(slot_of(handle));
    if (!slot) return nullptr;
    T* object = slot->object.exchange(nullptr, std::memory_order_acq_rel);
    if (!object) return nullptr;
    retired_generation(*slot);
    free_.push_back(static_cast<uint32_t>(handle >> 4) & 0xfffff);
    return object;
  }

 private:
  static constexpr uint32_t kGenerationMask = 0xffffff;
  struct Slot {
    std::atomic<T*> object{nullptr};
    std::atomic<uint32_t> generation{0};
  };
  using Block = std::array<Slot, kBlock>;

  const Slot* slot_of(Handle handle) const {
    if ((handle & 0xf) != static_cast<Handle>(kKind) || handle >> 48) return nullptr;
    const uint32_t index = static_cast<uint32_t>(handle >> 4) & 0xfffff;
    const Block* block = blocks_[index / kBlock].load(std::memory_order_acquire);
    if (!block) return nullptr;
    const Slot& slot = (*block)[index % kBlock];
    if (slot.generation.load(std::memory_order_acquire) != (handle >> 24)) return nullptr;
    return &slot;
  }
  static void retired_generation(Slot& slot) {
    const uint32_t next = (slot.generation.load(std::memory_order_relaxed) + 1) & kGenerationMask;
    slot.generation.store(next ? next : 1, std::memory_order_release);
  }

  std::array<std::atomic<Block*>, kBlocks> blocks_{};
  Mutex mutex_;
  std::vector<uint32_t> free_;
  uint32_t used_ = 0;
};

}  // namespace barehip::runtime
