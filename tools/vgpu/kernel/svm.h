// Shared virtual memory of one process: ranges of its own address space with attributes, and the GPU mappings that
// follow from them. Rules: amdkfd's kfd_svm.c of Linux 6.12, read for behaviour. Without retry faults every accessible
// range is mapped when its attributes are set. Pages never move: what a location attribute asks for is kept and told,
// no more.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tools/vgpu/kernel/uapi.h"
#include "tools/vgpu/memory/address_space.h"

namespace vgpu {

struct Process;

struct SvmAttributes {
  uint32_t preferred = uapi::kSvmNowhere, prefetch = uapi::kSvmNowhere;
  uint32_t flags = uapi::kSvmHostAccess | uapi::kSvmCoherent;
  uint32_t granularity = 9;
  std::vector<uint8_t> access;  ///< by GPU index: one of Svm::Access
};

/// Guarded by the process's mutex. Functions return 0 or a negative errno.
class Svm {
 public:
  enum Access : uint8_t { kNone, kAccess, kInPlace };

  explicit Svm(Process& process) : process_(process) {}

  int set(uint64_t start, uint64_t bytes, std::span<const uapi::SvmAttribute> wanted);
  int get(uint64_t start, uint64_t bytes, std::span<uapi::SvmAttribute> attributes) const;
  bool overlaps(uint64_t start, uint64_t bytes) const;
  /// Whether a queue on that GPU may use the bytes without ever faulting.
  bool always_mapped(uint64_t start, uint64_t bytes, uint32_t gpu_index) const;
  /// The client's mapping there is gone.
  void forget(uint64_t start, uint64_t bytes);

 private:
  struct Range {
    uint64_t end = 0;
    SvmAttributes attributes;
    std::vector<uint8_t> mapped;  ///< by GPU index: it is in that page table
  };
  using Ranges = std::map<uint64_t, Range>;

  int check(std::span<const uapi::SvmAttribute> wanted) const;
  int check_place(uint64_t start, uint64_t bytes) const;
  Range fresh(uint64_t end) const;
  void unmap(uint64_t start, Range& range);
  int map(uint64_t start, Range& range);
  void split(uint64_t at);
  Ranges::const_iterator first_over(uint64_t start) const;

  Process& process_;
  Ranges ranges_;
};

}  // namespace vgpu
