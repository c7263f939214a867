// Address space: owned mappings and reservations.
#pragma once

#include <cstdint>
#include <utility>

#include <barehip/error.h>

#include "kfd/os.h"

namespace barehip::kfd {

inline constexpr uint64_t kPage = 4096;
constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Owner of a range that was mapped through an OS table.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const barehip_os_table* os, void* at, uint64_t bytes) : os_(os), at_(at), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : os_(other.os_), at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(os_, other.os_);
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (at_ != nullptr) os_->munmap(os_->self, at_, bytes_);
  }
  explicit operator bool() const { return at_ != nullptr; }
  void* at() const { return at_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(at_); }
  uint64_t bytes() const { return bytes_; }
  /// Gives the range up without unmapping it.
  void release() { at_ = nullptr; }

 private:
  const barehip_os_table* os_ = nullptr;
  void* at_ = nullptr;
  uint64_t bytes_ = 0;
};

/// `bytes` of inaccessible address space, aligned (power of two, at least a page), followed by one guard page
/// that stays inaccessible, so that neither CPU nor GPU runs from one allocation into the next. `bytes()` of
/// the result includes it.
Result<Mapping> reserve_addresses(const barehip_os_table& os, uint64_t bytes, uint64_t alignment);

/// mmap with an Error that says what the mapping is for.
Result<Mapping> map(const barehip_os_table& os, void* at, uint64_t bytes, int prot, int flags, int fd, uint64_t offset,
                    const char* purpose);

}  // namespace barehip::kfd
