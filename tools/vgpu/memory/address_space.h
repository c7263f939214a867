// The GPU page table of one process on one simulated GPU: from GPU virtual addresses to host memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace vgpu {

enum class Access : uint8_t { kRead, kWrite, kExecute };

/// Memory type of a page (PTE MTYPE): which caches may hold it. See docs/vgpu.md for the table per target.
enum class MemType : uint8_t { kRW, kNC, kCC, kUC };

struct Mapping {
  uint64_t va = 0;            ///< GPU address, 4 KiB aligned
  uint64_t size = 0;          ///< bytes, multiple of 4 KiB
  std::byte* host = nullptr;  ///< where the model itself reaches the bytes of `va`
  MemType mtype = MemType::kNC;
  bool writable = false;
  bool executable = false;
  bool system = false;  ///< host memory (GTT or userptr), not VRAM
};

/// Why an access failed. Mirrors what the interrupt ring of real hardware tells the driver.
struct MemoryFault {
  uint64_t va = 0;  ///< the byte that was touched; the driver reports its page
  Access access = Access::kRead;
  bool not_present = false;  ///< else: present, but the permission lacks
};

/// Thread safe. Readers (CP and shader workers) never block each other. Translation results stay valid until
/// generation() changes; unmap() returns only when no reader that entered before it still uses the old mapping
/// (readers hold a ReadGuard over each batch of accesses).
class AddressSpace {
 public:
  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  bool map(const Mapping& mapping);        ///< false: overlaps an existing mapping
  bool unmap(uint64_t va, uint64_t size);  ///< false: not exactly one mapping
  /// The mapping that holds va, by value; size 0 when there is none.
  Mapping find(uint64_t va) const;
  /// Changes whenever a mapping is added or removed; a TLB that was filled under another generation is dropped.
  uint64_t generation() const;
  /// Makes every TLB drop what it holds, as when pages moved under unchanged addresses.
  void drop_translations();

  /// Entered by whoever dereferences host pointers of mappings; cheap; must not be held across a blocking wait.
  class ReadGuard {
   public:
    explicit ReadGuard(const AddressSpace& space);
    ~ReadGuard();
    ReadGuard(const ReadGuard&) = delete;
    ReadGuard& operator=(const ReadGuard&) = delete;

   private:
    const AddressSpace& space_;
    uint32_t counter_;  // which of the two reader counters it holds
  };

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vgpu
