#include "runtime/core/allocations.h"

#include <mutex>
#include <shared_mutex>

namespace barehip::runtime {

void AllocationTable::insert(std::shared_ptr<Allocation> allocation) {
  std::lock_guard lock(mutex_);
  if (allocation->host && allocation->host != allocation->gpu) by_start_[allocation->host] = allocation;
  const uint64_t gpu = allocation->gpu;
  by_start_[gpu] = std::move(allocation);
}

std::shared_ptr<const Allocation> AllocationTable::find(const void* address) const {
  const auto key = reinterpret_cast<uint64_t>(address);
  std::shared_lock lock(mutex_);
  auto after = by_start_.upper_bound(key);
  if (after == by_start_.begin()) return nullptr;
  const auto& [start, allocation] = *std::prev(after);
  return key - start < allocation->bytes ? allocation : nullptr;
}

std::shared_ptr<Allocation> AllocationTable::remove(const void* address, AllocationKind kind) {
  std::lock_guard lock(mutex_);
  auto found = by_start_.find(reinterpret_cast<uint64_t>(address));
  if (found == by_start_.end() || found->second->kind != kind) return nullptr;
  std::shared_ptr<Allocation> allocation = found->second;
  by_start_.erase(allocation->gpu);
  if (allocation->host) by_start_.erase(allocation->host);
  return allocation;
}

bool AllocationTable::overlaps(const void* address, size_t bytes) const {
  const auto begin = reinterpret_cast<uint64_t>(address);
  std::shared_lock lock(mutex_);
  auto after = by_start_.lower_bound(begin + bytes);
  if (after == by_start_.begin()) return false;
  const auto& [start, allocation] = *std::prev(after);
  return start + allocation->bytes > begin;
}

void AllocationTable::remove_all(const DeviceContext& context, std::map<uint64_t, std::shared_ptr<Allocation>>& out) {
  std::lock_guard lock(mutex_);
  for (auto entry = by_start_.begin(); entry != by_start_.end();) {
    if (entry->second->context == &context) {
      out.insert(*entry);
      entry = by_start_.erase(entry);
    } else {
      ++entry;
    }
  }
}

}  // namespace barehip::runtime
