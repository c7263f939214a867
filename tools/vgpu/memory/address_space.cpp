#include "tools/vgpu/memory/address_space.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace vgpu {

// Readers take a reference on one of two counters and use the table that is current; a writer publishes a new table and
// waits until both counters were zero once, with the other one open for new readers meanwhile. A table is never changed
// after it was published.
struct AddressSpace::State {
  using Table = std::vector<Mapping>;  // sorted by va

  std::atomic<const Table*> table{new Table};
  std::atomic<uint64_t> generation{1};
  std::atomic<uint32_t> phase{0};
  struct alignas(64) Counter {
    std::atomic<uint32_t> readers{0};
  };
  Counter counters[2];
  std::mutex writer;
  std::vector<const Table*> retired;

  ~State() {
    delete table.load();
    for (const Table* old : retired) delete old;
  }

  uint32_t enter() {
    const uint32_t which = phase.load();
    counters[which].readers.fetch_add(1);
    return which;
  }
  void leave(uint32_t which) { counters[which].readers.fetch_sub(1); }

  void publish(const Table* next) {
    retired.push_back(table.exchange(next));
    generation.fetch_add(1);
  }

  void wait_for_readers() {
    for (int turn = 0; turn < 2; ++turn) {
      const uint32_t old_phase = phase.load();
      phase.store(1 - old_phase);
      while (counters[old_phase].readers.load() != 0) std::this_thread::yield();
    }
    for (const Table* old : retired) delete old;
    retired.clear();
  }
};

namespace {

// The mapping that starts at or before va is the one before this.
auto first_after(const std::vector<Mapping>& table, uint64_t va) {
  return std::upper_bound(table.begin(), table.end(), va, [](uint64_t at, const Mapping& m) { return at < m.va; });
}

constexpr size_t kMaxRetired = 32;  // map() may not wait for each reader; a pile of old tables makes it wait once

}  // namespace

AddressSpace::AddressSpace() : state_(std::make_unique<State>()) {}
AddressSpace::~AddressSpace() = default;

bool AddressSpace::map(const Mapping& mapping) {
  constexpr uint64_t kPageMask = 4095;
  if (mapping.size == 0 || ((mapping.va | mapping.size) & kPageMask) != 0) return false;
  if (mapping.va + mapping.size < mapping.va) return false;
  std::lock_guard lock(state_->writer);
  const State::Table& old = *state_->table.load();
  const auto next = first_after(old, mapping.va);
  if (next != old.end() && next->va < mapping.va + mapping.size) return false;
  if (next != old.begin() && std::prev(next)->va + std::prev(next)->size > mapping.va) return false;
  auto* fresh = new State::Table;
  fresh->reserve(old.size() + 1);
  fresh->insert(fresh->end(), old.begin(), next);
  fresh->push_back(mapping);
  fresh->insert(fresh->end(), next, old.end());
  state_->publish(fresh);
  if (state_->retired.size() > kMaxRetired) state_->wait_for_readers();
  return true;
}

bool AddressSpace::unmap(uint64_t va, uint64_t size) {
  std::lock_guard lock(state_->writer);
  const State::Table& old = *state_->table.load();
  const auto next = first_after(old, va);
  if (next == old.begin()) return false;
  const auto it = std::prev(next);
  if (it->va != va || it->size != size) return false;
  auto* fresh = new State::Table;
  fresh->reserve(old.size());
  fresh->insert(fresh->end(), old.begin(), it);
  fresh->insert(fresh->end(), next, old.end());
  state_->publish(fresh);
  state_->wait_for_readers();
  return true;
}

Mapping AddressSpace::find(uint64_t va) const {
  const ReadGuard guard(*this);
  const State::Table& table = *state_->table.load();
  const auto next = first_after(table, va);
  if (next == table.begin()) return {};
  const Mapping& found = *std::prev(next);
  return va - found.va < found.size ? found : Mapping{};
}

uint64_t AddressSpace::generation() const { return state_->generation.load(); }

void AddressSpace::drop_translations() { state_->generation.fetch_add(1); }

AddressSpace::ReadGuard::ReadGuard(const AddressSpace& space) : space_(space), counter_(space.state_->enter()) {}
AddressSpace::ReadGuard::~ReadGuard() { space_.state_->leave(counter_); }

}  // namespace vgpu
