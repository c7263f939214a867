#include <barehip/signal.h>

#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <barehip/aql.h>

#include "kfd/impl.h"

namespace barehip {
namespace {

constexpr uint32_t kBlocksPerChunk = 1024;
constexpr uint32_t kMaxChunks = 256;
constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kMinorOfAge = 14;

/// Host-side companion of a block.
struct Slot {
  std::atomic<uint64_t> age{1};       ///< of the event, as a waiter saw it last; an older one costs one more look
  std::atomic<uint32_t> next{kNone};  ///< in a free list
  std::atomic<uint32_t> sleepers{0};  ///< threads in the kernel for this signal
  Event event;                        ///< made when first asked for, kept for the block's next owners
};

struct Chunk {
  Memory memory;
  std::unique_ptr<Slot[]> slots;
};

/// Lock-free stack of block numbers; the tag in the upper half keeps a slow thread from taking a stale top.
class FreeList {
 public:
  template <class GetSlot>
  uint32_t pop(GetSlot slot) {
    uint64_t top = top_.load(std::memory_order_acquire);
    for (;;) {
      const uint32_t index = static_cast<uint32_t>(top);
      if (index == kNone) return kNone;
      const uint64_t next = ((top >> 32) + 1) << 32 | slot(index).next.load(std::memory_order_relaxed);
      if (top_.compare_exchange_weak(top, next, std::memory_order_acq_rel, std::memory_order_acquire)) return index;
    }
  }
  void push(Slot& slot, uint32_t index) {
    uint64_t top = top_.load(std::memory_order_relaxed);
    for (;;) {
      slot.next.store(static_cast<uint32_t>(top), std::memory_order_relaxed);
      const uint64_t next = ((top >> 32) + 1) << 32 | index;
      if (top_.compare_exchange_weak(top, next, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::atomic<uint64_t> top_{kNone};
};

}  // namespace

struct SignalPool::Impl {
  System& system;
  FreeList plain;  ///< blocks that never had an event
  FreeList with_event;
  std::mutex grow_mutex;
  std::atomic<uint32_t> chunk_count{0};
  Chunk chunks[kMaxChunks];

  explicit Impl(System& owner) : system(owner) {}
  Slot& slot(uint32_t index) { return chunks[index / kBlocksPerChunk].slots[index % kBlocksPerChunk]; }
  uint64_t* block(uint32_t index) {
    return chunks[index / kBlocksPerChunk].memory.host_as<uint64_t>() + size_t{index % kBlocksPerChunk} * 8;
  }
  Result<void> grow();
  Result<uint32_t> take(bool interrupt);
};

Result<void> SignalPool::Impl::grow() {
  const std::lock_guard lock(grow_mutex);
  const uint32_t number = chunk_count.load(std::memory_order_relaxed);
  if (number == kMaxChunks)
    return fail(ErrorCode::kOutOfResources, "acquire signal",
                "All " + std::to_string(kMaxChunks * kBlocksPerChunk) + " signals are in use.");
  MemoryOptions options;
  options.kind = MemoryKind::kHostUncached;
  Result<Memory> memory =
      Memory::allocate(*system.devices().front(), uint64_t{kBlocksPerChunk} * sizeof(aql::AmdSignal), options);
  if (!memory) return std::unexpected(std::move(memory.error()));
  chunks[number].slots = std::make_unique<Slot[]>(kBlocksPerChunk);
  chunks[number].memory = std::move(*memory);
  chunk_count.store(number + 1, std::memory_order_release);
  for (uint32_t i = kBlocksPerChunk; i-- > 0;) {
    const uint32_t index = number * kBlocksPerChunk + i;
    plain.push(slot(index), index);
  }
  return {};
}

/// A free block; the kind that does not match is second choice for signals without an event only.
Result<uint32_t> SignalPool::Impl::take(bool interrupt) {
  const auto get = [this](uint32_t index) -> Slot& { return slot(index); };
  for (;;) {
    uint32_t index = interrupt ? with_event.pop(get) : plain.pop(get);
    if (index == kNone) index = interrupt ? plain.pop(get) : with_event.pop(get);
    if (index != kNone) return index;
    if (Result<void> grown = grow(); !grown) return std::unexpected(std::move(grown.error()));
  }
}

SignalPool::SignalPool(System& system) : impl_(new Impl(system)) {}
SignalPool::~SignalPool() { delete impl_; }

Result<Signal> SignalPool::acquire(int64_t initial, bool interrupt) {
  if (!impl_->system.usable()) return kfd::forked_child("acquire signal");
  Result<uint32_t> index = impl_->take(interrupt);
  if (!index) return std::unexpected(std::move(index.error()));
  Slot& slot = impl_->slot(*index);
  uint64_t* block = impl_->block(*index);
  if (interrupt && !slot.event) {
    Result<Event> event = Event::create(impl_->system, EventKind::kSignal, true);
    if (event)
      slot.event = std::move(*event);
    else if (event.error().code != ErrorCode::kOutOfResources) {
      release(block, *index);
      return std::unexpected(std::move(event.error()));
    }
  }
  auto* abi = new (block) aql::AmdSignal{};
  abi->kind = static_cast<int64_t>(aql::SignalKind::kUser);
  abi->value = initial;
  if (interrupt && slot.event) {
    abi->event_mailbox_ptr = slot.event.mailbox();
    abi->event_id = slot.event.id();
  }
  Signal signal;
  signal.block_ = block;
  signal.pool_ = this;
  signal.index_ = *index;
  return signal;
}

void SignalPool::release(uint64_t*, uint32_t index) {
  Slot& slot = impl_->slot(index);
  (slot.event ? impl_->with_event : impl_->plain).push(slot, index);
}

Signal::Signal(Signal&& other) noexcept { *this = std::move(other); }

Signal& Signal::operator=(Signal&& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(pool_, other.pool_);
  std::swap(index_, other.index_);
  return *this;
}

Signal::~Signal() {
  if (block_ != nullptr && pool_->impl().system.usable()) pool_->release(block_, index_);
}

void Signal::store_and_wake(int64_t v) {
  store(v);
  if (event_id() == 0) return;
  const Event& event = pool_->impl().slot(index_).event;
  (void)event.set();
}

// ---- waiting
// -------------------------------------------------------------------------------------------------------

namespace {

bool holds(WaitCondition condition, int64_t value, int64_t reference) {
  switch (condition) {
    case WaitCondition::kEqual: return value == reference;
    case WaitCondition::kNotEqual: return value != reference;
    case WaitCondition::kLess: return value < reference;
    case WaitCondition::kGreaterEqual: return value >= reference;
  }
  return false;
}

/// Counts the threads that sleep for one signal, and lists the event for wake-ups by device errors.
class Sleeper {
 public:
  Sleeper(System& system, Slot& slot) : system_(system), slot_(slot) {
    others_ = slot.sleepers.fetch_add(1, std::memory_order_relaxed);
    system.impl().waiters.add(slot.event.id());
  }
  ~Sleeper() {
    system_.impl().waiters.remove(slot_.event.id());
    slot_.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  bool alone() const { return others_ == 0; }

 private:
  System& system_;
  Slot& slot_;
  uint32_t others_ = 0;
};

uint32_t to_ms(uint64_t ns) {
  constexpr uint64_t kLongest = 0xfffffffe;
  return static_cast<uint32_t>(std::min(ns / 1'000'000 + 1, kLongest));
}

}  // namespace

namespace kfd {

/// One wait for one signal: what all its phases share.
struct SignalWait {
  const Signal& signal;
  WaitCondition condition;
  int64_t reference;
  const Device* device;
  const barehip_os_table& os;
  uint64_t deadline_ns;  ///< CLOCK_MONOTONIC
  int64_t seen = 0;

  uint64_t now() const { return os.clock_ns(os.self, CLOCK_MONOTONIC); }
  bool met() { return holds(condition, seen = signal.load(), reference); }
  const Error* error() const { return device != nullptr ? device->error() : nullptr; }
  uint64_t left_ns() const {
    const uint64_t t = now();
    return t >= deadline_ns ? 0 : deadline_ns - t;
  }

  /// True when the wait has an answer.
  bool spin(uint64_t ns);
  Result<int64_t> sleep(System& system, Slot& slot);
  Result<int64_t> nap();
  std::unexpected<Error> timed_out() const {
    return fail(ErrorCode::kTimeout, "wait for signal",
                "The signal did not reach its value in time; it is " + std::to_string(seen) + ".");
  }
};

bool SignalWait::spin(uint64_t ns) {
  constexpr int kBetweenClocks = 64;
  const uint64_t start = now();
  for (;;) {
    for (int i = 0; i < kBetweenClocks; ++i) {
      if (met()) return true;
      __builtin_ia32_pause();
    }
    if (error() != nullptr) return true;
    const uint64_t t = now();
    if (t - start >= ns || t >= deadline_ns) return false;
  }
}

// The age (KFD 1.14) makes the order "read age, test, wait" free of lost wake-ups for any number of threads.
// Before that the event remembers one wake-up for whoever comes next, which is enough for one thread; others
// look again every millisecond.
Result<int64_t> SignalWait::sleep(System& system, Slot& slot) {
  constexpr uint32_t kLookAgainMs = 1;
  const Sleeper sleeper(system, slot);
  const bool sure = sleeper.alone() || system.kfd_minor() >= kMinorOfAge;
  EventWait wait{&slot.event, slot.age.load(std::memory_order_relaxed)};
  for (;;) {
    if (met()) return seen;
    if (const Error* fatal = error()) return std::unexpected(*fatal);
    const uint64_t left = deadline_ns == UINT64_MAX ? UINT64_MAX : left_ns();
    if (left == 0) return timed_out();
    uint32_t ms = left == UINT64_MAX ? kWaitForever : to_ms(left);
    if (!sure) ms = std::min(ms, kLookAgainMs);
    Result<WaitOutcome> outcome = wait_events(system, {&wait, 1}, false, ms);
    if (!outcome) return std::unexpected(std::move(outcome.error()));
    slot.age.store(wait.age, std::memory_order_relaxed);
  }
}

// Without an event there is nothing to sleep on: look again after naps that double up to a millisecond.
Result<int64_t> SignalWait::nap() {
  constexpr long kFirstNs = 20'000, kLongestNs = 1'000'000;
  timespec pause{0, kFirstNs};
  for (;;) {
    if (met()) return seen;
    if (const Error* fatal = error()) return std::unexpected(*fatal);
    if (deadline_ns != UINT64_MAX && left_ns() == 0) return timed_out();
    ::nanosleep(&pause, nullptr);
    pause.tv_nsec = std::min(pause.tv_nsec * 2, kLongestNs);
  }
}

}  // namespace kfd

Result<int64_t> Signal::wait(WaitCondition condition, int64_t reference, const Device* device, uint64_t timeout_ns,
                             uint64_t spin_ns) const {
  System& system = pool_->impl().system;
  if (!system.usable()) return kfd::forked_child("wait for signal");
  kfd::SignalWait wait{*this, condition, reference, device, system.os(), UINT64_MAX};
  if (wait.met()) return wait.seen;
  if (timeout_ns != kForeverNs) {
    const uint64_t now = wait.now();
    wait.deadline_ns = timeout_ns > UINT64_MAX - 1 - now ? UINT64_MAX - 1 : now + timeout_ns;
  }
  if (wait.spin(spin_ns)) {
    if (wait.met()) return wait.seen;
    return std::unexpected(*wait.error());
  }
  return event_id() != 0 ? wait.sleep(system, pool_->impl().slot(index_)) : wait.nap();
}

}  // namespace barehip
