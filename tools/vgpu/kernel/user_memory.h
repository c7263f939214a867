// Access to the client's memory by address, the way the kernel does it: a bad address is an answer, never a crash.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vgpu {

/// True when all bytes were copied.
bool copy_from_user(void* to, uint64_t from, size_t bytes);
bool copy_to_user(uint64_t to, const void* from, size_t bytes);

/// 0 when every page of [address, address + bytes) is mapped and the first and last can be written (get_user_pages of
/// a writable registration); else -EFAULT.
int check_user_pages(uint64_t address, uint64_t bytes, bool writable);

/// access_ok(): the range lies in the user half of the address space.
bool in_user_range(uint64_t address, uint64_t bytes);

/// What the process may do with all pages of a range, from its own table of mappings. `present` is false when a page
/// of it is not mapped at all.
struct Protection {
  bool present = false, readable = false, writable = false;
};
Protection protection_of(uint64_t address, uint64_t bytes);

}  // namespace vgpu
