#include "runtime/core/stream.h"

#include <algorithm>
#include <array>

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
  std::array<Stream*, kDevices> streams{};

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
  if (Stream* null = (*context)->null_stream_if_made()) return null;
  return (*context)->null_stream();
}

// ---- the stream itself -------------------------------------------------------------------------------------------

void Stream::reuse(HwQueue& queue, Kind kind, int priority) {
  queue_ = &queue;
  kind_ = kind;
  priority_ = priority;
  tail_.store(0, std::memory_order_relaxed);
  epoch_.store(0, std::memory_order_relaxed);
  null_tail_.store(0, std::memory_order_relaxed);
  copy_done = {};
  copy_barrier = 0;
}

Result<uint16_t> Stream::enter() {
  const uint64_t epoch = context_->epoch.load(std::memory_order_acquire);
  if (auto joined = join(); !joined) return std::unexpected(joined.error());
  if (auto clean = context_->invalidate_code(*queue_); !clean) return std::unexpected(clean.error());
  const bool outside_wrote = epoch_.exchange(epoch, std::memory_order_acq_rel) != epoch;
  return outside_wrote ? g_fences.dispatch_after_outside_write : g_fences.dispatch;
}

Result<void> Stream::join() {
  if (kind_ == Kind::kNonBlocking) return {};
  std::vector<SignalRef> signals;
  if (kind_ == Kind::kNull) {
    if (!context_->blocking_dirty.exchange(false, std::memory_order_acq_rel)) return {};
    if (auto collected = context_->collect_blocking_tails(*queue_, signals); !collected) return collected;
  } else {
    Stream* null = context_->null_stream_if_made();
    if (null == nullptr) return {};
    const uint64_t tail = null->tail();
    if (null_tail_.exchange(tail, std::memory_order_acq_rel) == tail || &null->queue() == queue_) return {};
    auto signal = null->tail_signal();
    if (!signal) return std::unexpected(signal.error());
    if (*signal) signals.push_back(*signal);
  }
  if (signals.empty()) return {};
  auto barrier = queue_->wait_for(signals);
  if (!barrier) return std::unexpected(barrier.error());
  advance(*barrier);
  return {};
}

Result<SignalRef> Stream::tail_signal() {
  const uint64_t tail = this->tail();
  if (tail == 0) return SignalRef{};
  return queue_->marker(tail - 1);
}

Result<void> Stream::wait_for(const SignalRef& signal, bool same_device) {
  auto barrier = queue_->wait_for({&signal, 1});
  if (!barrier) return std::unexpected(barrier.error());
  advance(*barrier);
  if (!same_device) note_outside_write();
  return {};
}

Result<void> Stream::synchronize() {
  if (auto healthy = context_->check(); !healthy) return healthy;
  // Waiting for the null stream waits for what the null stream would wait for.
  if (kind_ == Kind::kNull)
    if (auto joined = join(); !joined) return joined;
  const uint64_t tail = this->tail();
  return tail ? queue_->wait(tail - 1) : Result<void>{};
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
  if (record.queue == &(*stream)->queue()) return {};  // in order already
  return (*stream)->wait_for(record.signal, record.context == &(*stream)->context());
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
