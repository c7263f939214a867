// A map from addresses to objects that is read without a lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/lock.h"

namespace barehip::runtime {

/// Open addressing over atomic entries; grows by publishing a larger table (the old ones stay: a reader may be in
/// them). Writers are serialised by the map's lock. What is inserted has neither a null key nor a null value, and
/// values must outlive their readers.
template <class T>
class PointerMap {
 public:
  /// Null when there is none. Cost: a multiplication and a few loads.
  T* find(const void* key) const {
    const Table& table = *table_.load(std::memory_order_acquire);
    for (const Entry* entry = table.home(key);; entry = table.next(entry)) {
      const void* seen = entry->key.load(std::memory_order_acquire);
      if (seen == key) [[likely]] {
        T* value = entry->value.load(std::memory_order_acquire);
        if (value == nullptr) __builtin_unreachable();
        return value;
      }
      if (seen == kEmpty) return nullptr;
    }
  }

  /// Replaces what the key had.
  void insert(const void* key, T* value) {
    std::lock_guard lock(mutex_);
    Table* table = table_.load(std::memory_order_relaxed);
    if ((used_ + 1) * 2 > table->size()) table = grow(*table);
    put(*table, key, value);
  }

  /// The key finds nothing afterwards. Its entry is not used again, so who has just found it reads the old value.
  void erase(const void* key) {
    std::lock_guard lock(mutex_);
    Table& table = *table_.load(std::memory_order_relaxed);
    Entry* entry = table.home(key);
    for (const void* seen; (seen = entry->key.load(std::memory_order_relaxed)) != kEmpty; entry = table.next(entry))
      if (seen == key) entry->key.store(kErased, std::memory_order_release);
  }

 private:
  // No program's keys. Null is not one of them, so that looking for it needs no test: it is in no entry.
  static inline const char kMarks[2] = {};
  static constexpr const void* kEmpty = &kMarks[0];
  static constexpr const void* kErased = &kMarks[1];

  struct Entry {
    std::atomic<const void*> key{kEmpty};
    std::atomic<T*> value{nullptr};
  };
  struct Table {
    /// Over one entry that lives elsewhere.
    explicit Table(Entry* entry) : byte_mask(0), entries(entry) {}
    explicit Table(size_t size)
        : byte_mask((size - 1) * sizeof(Entry)), owned(std::make_unique<Entry[]>(size)), entries(owned.get()) {}
    size_t size() const { return byte_mask / sizeof(Entry) + 1; }
    /// The key's first place. In bytes and 32 bits, as that takes the fewest instructions; beyond 65536 entries the
    /// homes are fewer than the entries.
    Entry* home(const void* key) const {
      static_assert(sizeof(Entry) == 16);
      const uint32_t hash = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(key)) * 0x9e3779b1u >> 12;
      return reinterpret_cast<Entry*>(reinterpret_cast<char*>(entries) + (hash & byte_mask));
    }
    Entry* next(const Entry* entry) const {
      const auto place = static_cast<size_t>(entry - entries) + 1;
      return entries + (place == size() ? 0 : place);
    }

    size_t byte_mask;  ///< of an entry's offset
    std::unique_ptr<Entry[]> owned;
    Entry* entries;
  };

  void put(Table& table, const void* key, T* value) {
    Entry* entry = table.home(key);
    for (const void* seen; (seen = entry->key.load(std::memory_order_relaxed)) != kEmpty; entry = table.next(entry))
      if (seen == key) return entry->value.store(value, std::memory_order_release);
    ++used_;
    entry->value.store(value, std::memory_order_relaxed);
    entry->key.store(key, std::memory_order_release);
  }
  Table* grow(const Table& old) {
    constexpr size_t kLeast = 64;
    tables_.push_back(std::make_unique<Table>(std::max(kLeast, old.size() * 2)));
    Table* table = tables_.back().get();
    used_ = 0;
    for (size_t i = 0; i < old.size(); ++i) {
      const void* key = old.entries[i].key.load(std::memory_order_relaxed);
      if (key != kEmpty && key != kErased) put(*table, key, old.entries[i].value.load(std::memory_order_relaxed));
    }
    table_.store(table, std::memory_order_release);
    return table;
  }

  // One empty entry to begin with, so that there is always a table to look into.
  Entry nothing_;
  Table empty_{&nothing_};
  std::atomic<Table*> table_{&empty_};
  Mutex mutex_;
  size_t used_ = 0;
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace barehip::runtime
