#include "tools/vgpu/cp/gpu_memory.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace vgpu {
namespace {

// __atomic builtins and not std::atomic_ref: the bytes are shared with programs that this process did not compile.
template <class T>
T update(T* host, const std::function<T(T)>& next) {
  T seen = __atomic_load_n(host, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(host, &seen, next(seen), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return seen;
}

}  // namespace

MemResult<Mapping> GpuMemory::mapping(uint64_t va, Access access) {
  // The generation first: a mapping found under an older one is only ever stored under that older number.
  if (const uint64_t now = space_.generation(); now != generation_) {
    recent_.fill(Mapping{});
    generation_ = now;
  }
  const auto hit = std::ranges::find_if(recent_, [va](const Mapping& m) { return va - m.va < m.size; });
  Mapping found;
  if (hit != recent_.end()) {
    found = *hit;
  } else {
    found = space_.find(va);
    if (found.size == 0) return std::unexpected(MemoryFault{va, access, true});
    recent_[next_entry_++ % recent_.size()] = found;
  }
  const bool allowed = access == Access::kRead || (access == Access::kWrite ? found.writable : found.executable);
  if (!allowed) return std::unexpected(MemoryFault{va, access, false});
  return found;
}

MemResult<GpuMemory::Span> GpuMemory::span(uint64_t va, Access access) {
  const auto found = mapping(va, access);
  if (!found) return std::unexpected(found.error());
  const uint64_t offset = va - found->va;
  return Span{found->host + offset, found->size - offset};
}

template <class T, class F>
auto GpuMemory::on_host(uint64_t va, Access access, F operation) -> MemResult<decltype(operation(std::declval<T*>()))> {
  const AddressSpace::ReadGuard guard(space_);
  const auto at = span(va & ~static_cast<uint64_t>(sizeof(T) - 1), access);
  if (!at) return std::unexpected(at.error());
  if constexpr (std::is_void_v<decltype(operation(std::declval<T*>()))>) {
    operation(reinterpret_cast<T*>(at->host));
    return {};
  } else {
    return operation(reinterpret_cast<T*>(at->host));
  }
}

MemResult<void> GpuMemory::read(uint64_t va, void* out, uint64_t bytes) {
  const AddressSpace::ReadGuard guard(space_);
  auto* to = static_cast<std::byte*>(out);
  while (bytes > 0) {
    const auto from = span(va, Access::kRead);
    if (!from) return std::unexpected(from.error());
    const uint64_t part = std::min(bytes, from->bytes);
    std::memcpy(to, from->host, part);
    va += part, to += part, bytes -= part;
  }
  return {};
}

MemResult<void> GpuMemory::write(uint64_t va, const void* data, uint64_t bytes) {
  const AddressSpace::ReadGuard guard(space_);
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const auto to = span(va, Access::kWrite);
    if (!to) return std::unexpected(to.error());
    const uint64_t part = std::min(bytes, to->bytes);
    std::memcpy(to->host, from, part);
    va += part, from += part, bytes -= part;
  }
  return {};
}

MemResult<void> GpuMemory::copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  const AddressSpace::ReadGuard guard(space_);
  while (bytes > 0) {
    const auto from = span(src, Access::kRead);
    if (!from) return std::unexpected(from.error());
    const auto to = span(dst, Access::kWrite);
    if (!to) return std::unexpected(to.error());
    const uint64_t part = std::min({bytes, from->bytes, to->bytes});
    std::memmove(to->host, from->host, part);
    dst += part, src += part, bytes -= part;
  }
  return {};
}

MemResult<void> GpuMemory::fill(uint64_t dst, uint32_t pattern, uint32_t unit, uint64_t bytes) {
  // A whole number of units per block, so that every block starts with the pattern's first byte.
  std::array<std::byte, 4096> block;
  for (size_t i = 0; i < block.size(); i += unit) std::memcpy(&block[i], &pattern, unit);
  while (bytes > 0) {
    const uint64_t part = std::min<uint64_t>(bytes, block.size());
    if (auto done = write(dst, block.data(), part); !done) return done;
    dst += part, bytes -= part;
  }
  return {};
}

template <std::integral T>
MemResult<T> GpuMemory::load(uint64_t va) {
  if (va % sizeof(T) != 0) {
    T value{};
    if (auto done = read(va, &value, sizeof(T)); !done) return std::unexpected(done.error());
    return value;
  }
  return on_host<T>(va, Access::kRead, [](T* host) { return __atomic_load_n(host, __ATOMIC_ACQUIRE); });
}

template <std::integral T>
MemResult<void> GpuMemory::store(uint64_t va, T value) {
  if (va % sizeof(T) != 0) return write(va, &value, sizeof(T));
  return on_host<T>(va, Access::kWrite, [value](T* host) { __atomic_store_n(host, value, __ATOMIC_RELEASE); });
}

template MemResult<uint16_t> GpuMemory::load<uint16_t>(uint64_t);
template MemResult<uint32_t> GpuMemory::load<uint32_t>(uint64_t);
template MemResult<uint64_t> GpuMemory::load<uint64_t>(uint64_t);
template MemResult<int64_t> GpuMemory::load<int64_t>(uint64_t);
template MemResult<void> GpuMemory::store<uint16_t>(uint64_t, uint16_t);
template MemResult<void> GpuMemory::store<uint32_t>(uint64_t, uint32_t);
template MemResult<void> GpuMemory::store<uint64_t>(uint64_t, uint64_t);
template MemResult<void> GpuMemory::store<int64_t>(uint64_t, int64_t);

MemResult<uint64_t> GpuMemory::update64(uint64_t va, const std::function<uint64_t(uint64_t)>& next) {
  return on_host<uint64_t>(va, Access::kWrite, [&next](uint64_t* host) { return update(host, next); });
}

MemResult<uint32_t> GpuMemory::update32(uint64_t va, const std::function<uint32_t(uint32_t)>& next) {
  return on_host<uint32_t>(va, Access::kWrite, [&next](uint32_t* host) { return update(host, next); });
}

}  // namespace vgpu
