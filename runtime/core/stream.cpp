#include "runtime/core/stream.h"

#include <algorithm>
#include <vector>

#include "runtime/core/event_impl.h"
#include "runtime/core/fences.h"
#include "runtime/core/runtime.h"
#include "runtime/core/stream_impl.h"
#include "runtime/core/thread_state.h"

namespace barehip::runtime {
namespace {

constexpr PriorityRange kPriorityRange{};

std::unexpected<Error> bad_stream(const char* operation) {
  return fail(ErrorCode::kInvalidHandle, operation, "the stream does not exist (never created, or destroyed)");
}

/// The streams behind hipStreamPerThread of one thread; they retire with it.
struct ThreadStreams {
  static constexpr size_t kDevices = 64;
  std::vector<Stream*> streams;  ///< by ordinal; null: none yet

  ~ThreadStreams() {
    for (Stream* stream : streams)
      if (stream) stream->context().retire_stream(*stream);
  }
};

Result<Stream*> thread_stream(DeviceContext& context) {
  static thread_local ThreadStreams t_streams;
  const auto ordinal = static_cast<size_t>(context.ordinal());
  if (ordinal >= ThreadStreams::kDevices)
    return fail(ErrorCode::kNotSupported, "hipStreamPerThread", "per-thread streams exist for the first 64 devices");
  if (t_streams.streams.size() <= ordinal) t_streams.streams.resize(ordinal + 1);
  Stream*& stream = t_streams.streams[ordinal];
  if (stream == nullptr) {
    auto made = context.make_stream(false, 0);
    if (!made) return made;
    stream = *made;
  }
  return stream;
}

Result<Stream*> user_stream(Handle handle, const char* operation) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  Stream* stream = (*runtime)->streams.find(handle);
  if (stream == nullptr) return bad_stream(operation);
  return stream;
}

}  // namespace

Result<Stream*> find_stream(Handle handle) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  if (handle > kStreamPerThread) {
    Stream* stream = (*runtime)->streams.find(handle);
    if (stream == nullptr) [[unlikely]]
      return bad_stream("find stream");
    return stream;
  }
  auto context = (*runtime)->context(current_device());
  if (!context) return std::unexpected(context.error());
  if (handle == kStreamPerThread) return thread_stream(**context);
  auto null = (*context)->null_stream();
  if (null) t_state.null_stream = *null;  // from here on this thread's launches find it themselves
  return null;
}

// ---- the stream itself -------------------------------------------------------------------------------------------

Stream::Stream(DeviceContext& context, HwQueue& queue, Kind kind, int priority)
    : context_(&context), kind_(kind), priority_(priority), tail_(word_of(queue, 0)) {}

void Stream::reuse(HwQueue& queue, Kind kind, int priority) {
  kind_ = kind;
  priority_ = priority;
  tail_.store(word_of(queue, 0), std::memory_order_release);
  note_outside_write();
  null_tail_.store(0, std::memory_order_relaxed);
  copy_done = {};
  copy_barrier = {};
}

Result<Stream::Entry> Stream::enter() {
  // First, or code that is loaded meanwhile would count as invalidated.
  Entry entry{.epoch = context_->epoch.load(std::memory_order_acquire)};
  if (auto joined = join(); !joined) return std::unexpected(joined.error());
  entry.queue = &queue();
  if (auto clean = context_->invalidate_code(*entry.queue); !clean) return std::unexpected(clean.error());
  entry.seen = epoch_.load(std::memory_order_acquire);
  entry.header = entry.seen == entry.epoch ? g_fences.dispatch : g_fences.dispatch_after_outside_write;
  return entry;
}

Result<void> Stream::join() {
  switch (kind_) {
    case Kind::kNull: return join_blocking();
    case Kind::kBlocking: return join_null();
    case Kind::kNonBlocking: break;
  }
  return {};
}

Result<void> Stream::join_blocking() {
  std::atomic<uint32_t>& work = context_->blocking_work;
  if (work.load(std::memory_order_seq_cst) == 0) return {};
  const uint32_t before = work.fetch_add(DeviceContext::kNullJoining, std::memory_order_seq_cst);
  const bool dirty =
      work.fetch_and(~DeviceContext::kBlockingDirty, std::memory_order_seq_cst) & DeviceContext::kBlockingDirty;
  Result<void> waits;
  if (dirty || before >= DeviceContext::kNullJoining) {
    HwQueue& own = queue();
    auto tails = context_->collect_blocking_tails(own);
    waits = tails ? wait_for(*tails, own) : std::unexpected(tails.error());
    if (!waits) work.fetch_or(DeviceContext::kBlockingDirty, std::memory_order_seq_cst);
  }
  work.fetch_sub(DeviceContext::kNullJoining, std::memory_order_seq_cst);
  return waits;
}

Result<void> Stream::join_null() {
  const Stream* null = context_->null_stream_if_made();
  if (null == nullptr) return {};
  const uint64_t word = null->tail_.load(std::memory_order_acquire);
  if (null_tail_.load(std::memory_order_acquire) == word) return {};
  HwQueue& own = queue();
  HwQueue& nulls = context_->queue(word >> kIndexBits);
  DeviceContext::BlockingTails tails;
  if (&nulls == &own) {
    tails.own_tail = word & kIndexMask;
  } else if (word & kIndexMask) {
    auto signal = nulls.marker((word & kIndexMask) - 1);
    if (!signal) return std::unexpected(signal.error());
    if (*signal) tails.signals.push_back(std::move(*signal));
  }
  auto waits = wait_for(tails, own);
  // Only now: another thread that sees it goes on without waiting.
  if (waits) null_tail_.store(word, std::memory_order_release);
  return waits;
}

/// What is in the same queue is in order already; but what it waited for, copies too, is part of this stream now.
Result<void> Stream::wait_for(const DeviceContext::BlockingTails& tails, HwQueue& own) {
  if (tails.own_tail) {
    advance(own, tails.own_tail - 1);
    note_outside_write();
  }
  return tails.signals.empty() ? Result<void>{} : wait_for(tails.signals);
}

Result<SignalRef> Stream::tail_signal() const {
  const Tail tail = this->tail();
  if (tail.end == 0) return SignalRef{};
  return tail.queue->marker(tail.end - 1);
}

Result<void> Stream::wait_for(std::span<const SignalRef> signals, std::span<const SignalRef> keep) {
  std::lock_guard lock(wait_mutex);
  HwQueue& here = queue();
  HwQueue& there = context_->queue_for_wait(here, priority_);
  if (&there != &here) return move(there, signals, keep);
  auto barrier = here.wait_for(signals, keep);
  if (!barrier) return std::unexpected(barrier.error());
  advance(here, *barrier);
  return {};
}

/// Needs wait_mutex. The queues count the stream already.
Result<void> Stream::move(HwQueue& to, std::span<const SignalRef> signals, std::span<const SignalRef> keep) {
  auto barrier = to.wait_for(signals, keep);
  if (!barrier) return std::unexpected(barrier.error());
  uint64_t word = tail_.load(std::memory_order_acquire);
  uint64_t waited_for = word & ~kIndexMask;  // nothing
  do {
    // Again when another thread launched meanwhile.
    if (word != waited_for) {
      auto signal = context_->queue(word >> kIndexBits).marker((word & kIndexMask) - 1);
      if (!signal) return std::unexpected(signal.error());
      waited_for = word;
      if (*signal) barrier = to.wait_for({&*signal, 1});
      if (!barrier) return std::unexpected(barrier.error());
    }
    note_outside_write();  // the next launch enters: the new queue may not have invalidated its instruction caches
  } while (!tail_.compare_exchange_strong(word, word_of(to, *barrier + 1), std::memory_order_acq_rel));
  note_outside_write();
  if (kind_ == Kind::kBlocking) note_blocking_work();
  return {};
}

/// Another thread moved the stream between this thread's look at it and its packet, which nobody waited for there.
/// An error is the device's, and stays.
[[gnu::cold]] void Stream::follow(HwQueue& queue, uint64_t index) {
  auto signal = queue.marker(index);
  if (signal && *signal) (void)wait_for({&*signal, 1});
}

Result<void> Stream::synchronize() {
  if (auto healthy = context_->check(); !healthy) return healthy;
  // Waiting for the null stream waits for what the null stream would wait for.
  if (kind_ == Kind::kNull)
    if (auto joined = join(); !joined) return joined;
  const Tail tail = this->tail();
  return tail.end ? tail.queue->wait(tail.end - 1) : Result<void>{};
}

// ---- API ---------------------------------------------------------------------------------------------------------

PriorityRange stream_priority_range() { return kPriorityRange; }

Result<Handle> stream_create(unsigned flags, int priority) {
  if (flags & ~kStreamNonBlocking)
    return fail(ErrorCode::kInvalidArgument, "create stream", "unknown stream flags " + std::to_string(flags));
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  priority = std::clamp(priority, kPriorityRange.greatest, kPriorityRange.least);
  auto stream = (*context)->make_stream((flags & kStreamNonBlocking) != 0, priority);
  if (!stream) return std::unexpected(stream.error());
  const Handle handle = Runtime::if_open()->streams.insert(*stream);
  if (handle == 0) {
    (*context)->retire_stream(**stream);
    return fail(ErrorCode::kOutOfResources, "create stream", "all stream handles are in use");
  }
  return handle;
}

Result<void> stream_destroy(Handle handle) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  Stream* stream = (*runtime)->streams.erase(handle);
  if (stream == nullptr) return bad_stream("destroy stream");
  stream->context().retire_stream(*stream);
  return {};
}

Result<void> stream_synchronize(Handle handle) {
  auto stream = find_stream(handle);
  if (!stream) return std::unexpected(stream.error());
  return (*stream)->synchronize();
}

Result<bool> stream_query(Handle handle) {
  auto stream = find_stream(handle);
  if (!stream) return std::unexpected(stream.error());
  if (auto healthy = (*stream)->context().check(); !healthy) return std::unexpected(healthy.error());
  if ((*stream)->kind() == Stream::Kind::kNull)
    if (auto joined = (*stream)->join(); !joined) return std::unexpected(joined.error());
  auto signal = (*stream)->tail_signal();
  if (!signal) return std::unexpected(signal.error());
  return !*signal || signal->done();
}

Result<void> stream_wait_event(Handle handle, Handle event_handle, unsigned flags) {
  if (flags != 0) return fail(ErrorCode::kInvalidArgument, "stream wait event", "flags must be 0");
  auto stream = find_stream(handle);
  if (!stream) return std::unexpected(stream.error());
  auto event = find_event(event_handle);
  if (!event) return std::unexpected(event.error());
  const EventImpl::Record record = (*event)->record();
  if (!record.signal || record.signal.done()) return {};
  if (record.queue == &(*stream)->queue()) {
    (*stream)->advance(*record.queue, record.index);  // in order already
    return {};
  }
  if (auto waits = (*stream)->wait_for({&record.signal, 1}); !waits) return waits;
  if (record.context != &(*stream)->context()) (*stream)->note_outside_write();
  return {};
}

Result<unsigned> stream_flags(Handle handle) {
  if (handle <= kStreamPerThread) return 0u;
  auto stream = user_stream(handle, "stream flags");
  if (!stream) return std::unexpected(stream.error());
  return (*stream)->kind() == Stream::Kind::kNonBlocking ? kStreamNonBlocking : 0u;
}

Result<int> stream_priority(Handle handle) {
  if (handle <= kStreamPerThread) return 0;
  auto stream = user_stream(handle, "stream priority");
  if (!stream) return std::unexpected(stream.error());
  return (*stream)->priority();
}

Result<int> stream_device(Handle handle) {
  auto stream = find_stream(handle);
  if (!stream) return std::unexpected(stream.error());
  return (*stream)->context().ordinal();
}

}  // namespace barehip::runtime
