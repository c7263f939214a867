// GPU-accessible memory. A Memory owns one allocation (or one registration of user memory) with its GPU
// mappings and its CPU mapping. For everything that barehip allocates, GPU address and host address are the
// same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <barehip/error.h>

namespace barehip {

class Device;
class System;
namespace kfd {
struct MemoryAccess;
}

/// Where memory lies and who sees writes when (memory types per GPU: docs/kfd.md).
enum class MemoryKind : uint8_t {
  kVram,          ///< device memory, coarse: coherent at kernel boundaries
  kVramFine,      ///< device memory, fine: coherent with peers and host while a kernel runs
  kVramUncached,  ///< device memory that no GPU cache holds
  kHostCoarse,    ///< system memory that the GPU may cache within a kernel
  kHostCoherent,  ///< system memory, fine: atomics and flags between host and GPU work while a kernel runs
  kHostUncached,  ///< system memory for what the command processor and host share: rings, signals, kernel
                  ///< arguments
};

struct MemoryOptions {
  MemoryKind kind = MemoryKind::kVram;
  bool executable = false;  ///< shader code may be fetched from it
  bool read_only = false;   ///< the GPU may not write it
  /// VRAM only: map it for the CPU when the GPU has a large BAR. When it has none, the allocation still
  /// succeeds and host() is null: fill it by SDMA or a kernel.
  bool host_access = true;
  /// System memory only: make it of pageable pages (a userptr object) and not of GTT.
  bool pageable = false;
  bool contiguous = false;    ///< VRAM only, best effort, needs KFD 1.16
  uint64_t alignment = 4096;  ///< power of two, at least 4096 bytes
  /// VRAM: peers that get a mapping besides the owner. System memory is mapped to every GPU of the System.
  std::span<Device* const> peers{};
};

/// Move-only owner. Destruction unmaps and frees: the caller makes sure that no GPU still uses it (a queue
/// that uses it keeps it busy on Linux 6.12 and later, and then it leaks with a line in the log). Not thread
/// safe itself; different Memory objects may be used from different threads.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  /// Allocates `bytes` (rounded up to 4096) on `device`, maps it and fills it with zeros (the kernel does
  /// that). Errors: kInvalidArgument (zero size, bad alignment), kOutOfMemory, kSystem, kInvalidHandle
  /// (forked child). Cost: 2 ioctls and 2 to 5 memory-mapping calls.
  static Result<Memory> allocate(Device& device, uint64_t bytes, const MemoryOptions& options);

  /// Makes [host, host + bytes) of the caller's own memory visible to every GPU of `device`'s System. The
  /// range may start anywhere; its pages stay pinned until destruction and must stay mapped. gpu_address()
  /// equals `host` when that range of GPU addresses is free, else it is another address with the same offset
  /// in its page. Errors: kInvalidArgument (empty, null), kSystem with EFAULT (not mapped, or read-only),
  /// kOutOfMemory.
  static Result<Memory> register_host(Device& device, void* host, uint64_t bytes, bool coherent = true);

  /// Gives `peer` a mapping at the same address; nothing when it has one. Error: kNotSupported when no link
  /// leads there.
  Result<void> map_to(Device& peer);
  Result<void> unmap_from(Device& peer);

  /// A dma-buf descriptor (O_CLOEXEC) of a VRAM or GTT allocation, owned by the caller. Needs KFD 1.12.
  Result<int> export_dmabuf() const;

  explicit operator bool() const { return handle_ != 0; }
  uint64_t gpu_address() const { return gpu_; }
  /// The CPU's address, or null where the CPU cannot touch this memory.
  void* host() const { return host_; }
  template <class T>
  T* host_as() const {
    return static_cast<T*>(host_);
  }
  uint64_t bytes() const { return bytes_; }  ///< as asked for
  MemoryKind kind() const { return kind_; }
  Device* device() const { return device_; }
  uint64_t kfd_handle() const { return handle_; }

  /// Unmaps and frees now, and says what failed; the destructor can only log. The object is empty afterwards.
  Result<void> free();

 private:
  friend struct kfd::MemoryAccess;

  Device* device_ = nullptr;
  uint64_t handle_ = 0;  ///< the kernel's handle, never 0
  uint64_t gpu_ = 0;
  void* host_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t reserved_at_ = 0;  ///< start of our address reservation, 0 when the range is the user's
  uint64_t reserved_bytes_ = 0;
  uint64_t mapped_gpus_ = 0;  ///< bit i: mapped to System::devices()[i]
  MemoryKind kind_ = MemoryKind::kVram;
};

}  // namespace barehip
