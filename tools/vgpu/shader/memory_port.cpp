#include "tools/vgpu/shader/memory_port.h"

#include <cstring>

namespace vgpu {

std::byte* MemoryPort::translate_slow(uint64_t va, uint32_t size, Access access, MemoryFault& fault) {
  const Mapping mapping = space_.find(va);
  if (mapping.size == 0 || mapping.host == nullptr) {
    fault = {va, access, true};
    return nullptr;
  }
  Entry& entry = entries_[index_of(va)];
  entry = {mapping.va,
           mapping.size,
           mapping.host,
           mapping.writable,
           mapping.executable,
           mapping.system,
           mapping.mtype == MemType::kUC || mapping.mtype == MemType::kCC};
  if (!allows(entry, access)) {
    fault = {va, access, false};
    return nullptr;
  }
  if (size > entry.size - (va - entry.begin)) {
    fault = {entry.begin + entry.size, access, true};
    return nullptr;
  }
  return entry.host + (va - entry.begin);
}

bool MemoryPort::load(uint64_t va, void* out, uint32_t size, Access access, MemoryFault& fault) {
  if (const std::byte* from = translate(va, size, access, fault)) {
    std::memcpy(out, from, size);
    return true;
  }
  std::byte buffer[64];
  if (size > sizeof buffer) return false;
  for (uint32_t i = 0; i < size; ++i) {
    const std::byte* from = translate(va + i, 1, access, fault);
    if (!from) return false;
    buffer[i] = *from;
  }
  std::memcpy(out, buffer, size);
  return true;
}

bool MemoryPort::store(uint64_t va, const void* data, uint32_t size, MemoryFault& fault) {
  if (std::byte* to = translate(va, size, Access::kWrite, fault)) {
    std::memcpy(to, data, size);
    return true;
  }
  std::byte* to[64];
  if (size > 64) return false;
  for (uint32_t i = 0; i < size; ++i) {
    to[i] = translate(va + i, 1, Access::kWrite, fault);
    if (!to[i]) return false;
  }
  for (uint32_t i = 0; i < size; ++i) *to[i] = static_cast<const std::byte*>(data)[i];
  return true;
}

bool MemoryPort::revalidate() {
  const uint64_t now = space_.generation();
  if (now == generation_) return false;
  generation_ = now;
  entries_.fill({});
  return true;
}

}  // namespace vgpu
