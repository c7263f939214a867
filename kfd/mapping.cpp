#include "kfd/mapping.h"

#include <sys/mman.h>

#include <string>

#include "kfd/client.h"

namespace barehip::kfd {

Result<Mapping> map(const barehip_os_table& os, void* at, uint64_t bytes, int prot, int flags, int fd, uint64_t offset,
                    const char* purpose) {
  void* out = nullptr;
  const int rc = os.mmap(os.self, at, bytes, prot, flags, fd, offset, &out);
  if (rc < 0) return call_failed("mmap", rc, "mapping " + std::to_string(bytes) + " bytes for " + purpose);
  return Mapping(&os, out, bytes);
}

Result<Mapping> reserve_addresses(const barehip_os_table& os, uint64_t bytes, uint64_t alignment) {
  const uint64_t kept = round_up(bytes, kPage) + kPage;
  const uint64_t slack = alignment > kPage ? alignment - kPage : 0;
  if (kept + slack < bytes)
    return fail(ErrorCode::kOutOfMemory, "mmap", "The size " + std::to_string(bytes) + " is beyond all address space.");
  Result<Mapping> whole = map(os, nullptr, kept + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0,
                              "an address reservation");
  if (!whole) return whole;
  const uint64_t start = whole->address();
  const uint64_t aligned = round_up(start, alignment);
  const uint64_t end = start + kept + slack;
  whole->release();
  // Trims; each piece is an owner that unmaps when it goes out of scope.
  if (aligned > start) Mapping(&os, reinterpret_cast<void*>(start), aligned - start);
  if (end > aligned + kept) Mapping(&os, reinterpret_cast<void*>(aligned + kept), end - aligned - kept);
  return Mapping(&os, reinterpret_cast<void*>(aligned), kept);
}

}  // namespace barehip::kfd
