#include "tools/vgpu/kernel/user_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace vgpu {

namespace {

constexpr uint64_t kUserEnd = 0x7ffffffff000;
constexpr uint64_t kPage = 4096;
#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;
constexpr int MADV_POPULATE_WRITE = 23;
#endif

// process_vm_* on ourselves reports bad addresses; a sandbox may forbid it, and then we must trust the client.
bool forbidden(ssize_t result) { return result < 0 && (errno == EPERM || errno == ENOSYS); }

bool populated(uint64_t page, bool writable) {
  if (madvise(reinterpret_cast<void*>(page), kPage, writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
    return true;
  return errno == EINVAL || errno == ENOSYS;  // an older kernel, or a kind of memory that it does not populate
}

}  // namespace

bool in_user_range(uint64_t address, uint64_t bytes) { return address < kUserEnd && bytes <= kUserEnd - address; }

bool copy_from_user(void* to, uint64_t from, size_t bytes) {
  if (bytes == 0) return true;
  if (!in_user_range(from, bytes)) return false;
  const iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (!forbidden(copied)) return copied == static_cast<ssize_t>(bytes);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return true;
}

bool copy_to_user(uint64_t to, const void* from, size_t bytes) {
  if (bytes == 0) return true;
  if (!in_user_range(to, bytes)) return false;
  const iovec local{const_cast<void*>(from), bytes}, remote{reinterpret_cast<void*>(to), bytes};
  const ssize_t copied = process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
  if (!forbidden(copied)) return copied == static_cast<ssize_t>(bytes);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return true;
}

int check_user_pages(uint64_t address, uint64_t bytes, bool writable) {
  const uint64_t first = address & ~(kPage - 1);
  const uint64_t end = (address + bytes + kPage - 1) & ~(kPage - 1);
  if (bytes == 0 || end <= first || !in_user_range(first, end - first)) return -EFAULT;
  constexpr uint64_t kChunk = 1ull << 30;
  std::vector<unsigned char> residency(std::min(end - first, kChunk) / kPage);
  for (uint64_t at = first; at < end; at += kChunk) {
    if (mincore(reinterpret_cast<void*>(at), std::min(end - at, kChunk), residency.data()) != 0) return -EFAULT;
  }
  return populated(first, writable) && populated(end - kPage, writable) ? 0 : -EFAULT;
}

Protection protection_of(uint64_t address, uint64_t bytes) {
  Protection all{.present = false, .readable = true, .writable = true};
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return {};
  uint64_t at = address;
  char line[512];
  while (at < address + bytes && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long first = 0, end = 0;
    char rights[5] = {};
    if (sscanf(line, "%llx-%llx %4s", &first, &end, rights) != 3 || end <= at) continue;
    if (first > at) break;
    all.readable &= rights[0] == 'r';
    all.writable &= rights[1] == 'w';
    at = end;
  }
  fclose(maps);
  all.present = bytes != 0 && at >= address + bytes;
  return all.present ? all : Protection{};
}

}  // namespace vgpu
