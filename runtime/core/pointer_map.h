// A map from addresses to objects that is read without a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/lock.h"

namespace barehip::runtime {

/// Open addressing over atomic entries; grows by publishing a larger table (the old ones stay: a reader may be in
/// them). Writers are serialised by the map's lock. Values are never null and must outlive their readers.
template <class T>
class PointerMap {
 public:
  /// Null when there is none. Cost: a multiplication and a few loads.
  T* find(const void* key) const {
    const Table* table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return nullptr;
    for (size_t i = table->home(key);; i = (i + 1) & table->mask) {
      const void* seen = table->entries[i].key.load(std::memory_order_acquire);
      if (seen == key) return table->entries[i].value.load(std::memory_order_acquire);
      if (seen == nullptr) return nullptr;
    }
  }

  /// Replaces what the key had.
  void insert(const void* key, T* value) {
    std::lock_guard lock(mutex_);
    Table* table = table_.load(std::memory_order_relaxed);
    if (table == nullptr || (used_ + 1) * 2 > table->entries.size()) table = grow(table);
    put(*table, key, value);
  }

  /// The key finds nothing afterwards. Its entry is used again for the same key only.
  void erase(const void* key) {
    std::lock_guard lock(mutex_);
    Table* table = table_.load(std::memory_order_relaxed);
    if (table == nullptr) return;
    for (size_t i = table->home(key); table->entries[i].key.load(std::memory_order_relaxed) != nullptr;
         i = (i + 1) & table->mask)
      if (table->entries[i].key.load(std::memory_order_relaxed) == key)
        table->entries[i].value.store(nullptr, std::memory_order_release);
  }

 private:
  struct Entry {
    std::atomic<const void*> key{nullptr};
    std::atomic<T*> value{nullptr};
  };
  struct Table {
    explicit Table(size_t size) : entries(size), mask(size - 1) {}
    size_t home(const void* key) const { return (reinterpret_cast<uintptr_t>(key) * 0x9e3779b97f4a7c15u >> 32) & mask; }
    std::vector<Entry> entries;
    size_t mask;
  };

  void put(Table& table, const void* key, T* value) {
    size_t i = table.home(key);
    for (const void* seen; (seen = table.entries[i].key.load(std::memory_order_relaxed)) != nullptr;
         i = (i + 1) & table.mask)
      if (seen == key) return table.entries[i].value.store(value, std::memory_order_release);
    ++used_;
    table.entries[i].value.store(value, std::memory_order_relaxed);
    table.entries[i].key.store(key, std::memory_order_release);
  }
  Table* grow(const Table* old) {
    tables_.push_back(std::make_unique<Table>(old ? old->entries.size() * 2 : 64));
    Table* table = tables_.back().get();
    used_ = 0;
    if (old)
      for (const Entry& entry : old->entries)
        if (T* value = entry.value.load(std::memory_order_relaxed))
          put(*table, entry.key.load(std::memory_order_relaxed), value);
    table_.store(table, std::memory_order_release);
    return table;
  }

  std::atomic<Table*> table_{nullptr};
  Mutex mutex_;
  size_t used_ = 0;
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace barehip::runtime
