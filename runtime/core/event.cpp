#include "runtime/core/event.h"

#include <vector>

#include "runtime/core/event_impl.h"
#include "runtime/core/runtime.h"
#include "runtime/core/stream_impl.h"

namespace barehip::runtime {
namespace {

constexpr unsigned kReleaseScopeFlags = 0xe0000000u;
constexpr unsigned kKnownFlags = kEventBlockingSync | kEventDisableTiming | kReleaseScopeFlags;

/// Events that were destroyed, for the next event_create(): their memory stays readable for stale handles.
struct RetiredEvents {
  Mutex mutex;
  std::vector<EventImpl*> events;
};
RetiredEvents& retired_events() {
  static auto* const kRetired = new RetiredEvents;
  return *kRetired;
}

EventImpl* make_event(unsigned flags) {
  RetiredEvents& retired = retired_events();
  EventImpl* event = nullptr;
  {
    std::lock_guard lock(retired.mutex);
    if (!retired.events.empty()) {
      event = retired.events.back();
      retired.events.pop_back();
    }
  }
  if (event == nullptr) event = new EventImpl;
  event->reset(flags);
  return event;
}

void retire_event(EventImpl* event) {
  event->reset(0);
  RetiredEvents& retired = retired_events();
  std::lock_guard lock(retired.mutex);
  retired.events.push_back(event);
}

/// Milliseconds between two counter values; negative when `stop` came first, as HIP has it.
float milliseconds(uint64_t start, uint64_t stop, uint64_t hz) {
  const auto ticks = static_cast<int64_t>(stop - start);
  return static_cast<float>(static_cast<double>(ticks) * 1000.0 / static_cast<double>(hz));
}

}  // namespace

Result<EventImpl*> find_event(Handle handle) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  EventImpl* event = (*runtime)->events.find(handle);
  if (event == nullptr)
    return fail(ErrorCode::kInvalidHandle, "find event", "the event does not exist (never created, or destroyed)");
  return event;
}

Result<Handle> event_create(unsigned flags) {
  if (flags & kEventInterprocess)
    return fail(ErrorCode::kNotSupported, "create event", "events shared between processes are not supported");
  if (flags & ~kKnownFlags)
    return fail(ErrorCode::kInvalidArgument, "create event", "unknown event flags " + std::to_string(flags));
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  EventImpl* event = make_event(flags);
  const Handle handle = (*runtime)->events.insert(event);
  if (handle) return handle;
  retire_event(event);
  return fail(ErrorCode::kOutOfResources, "create event", "all event handles are in use");
}

Result<void> event_destroy(Handle handle) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  EventImpl* event = (*runtime)->events.erase(handle);
  if (event == nullptr)
    return fail(ErrorCode::kInvalidHandle, "destroy event", "the event does not exist (never created, or destroyed)");
  retire_event(event);
  return {};
}

Result<void> event_record(Handle handle, Handle stream_handle) {
  auto event = find_event(handle);
  if (!event) return std::unexpected(event.error());
  auto stream = find_stream(stream_handle);
  if (!stream) return std::unexpected(stream.error());
  if (auto healthy = (*stream)->context().check(); !healthy) return healthy;
  if (auto joined = (*stream)->join(); !joined) return joined;
  HwQueue& queue = (*stream)->queue();
  auto marker = queue.record();
  if (!marker) return std::unexpected(marker.error());
  (*stream)->advance(queue, marker->index);
  (*event)->set_record({marker->signal, &(*stream)->context(), &queue, marker->index});
  return {};
}

Result<bool> event_query(Handle handle) {
  auto event = find_event(handle);
  if (!event) return std::unexpected(event.error());
  const EventImpl::Record record = (*event)->record();
  if (!record.signal || record.signal.done()) return true;
  if (auto healthy = record.context->check(); !healthy) return std::unexpected(healthy.error());
  return false;
}

Result<void> event_synchronize(Handle handle) {
  auto event = find_event(handle);
  if (!event) return std::unexpected(event.error());
  const EventImpl::Record record = (*event)->record();
  if (!record.signal) return {};
  auto seen = record.signal->wait(WaitCondition::kLess, 1, &record.context->device());
  if (!seen) return std::unexpected(seen.error());
  return record.context->check();
}

Result<float> event_elapsed_ms(Handle start_handle, Handle stop_handle) {
  auto start = find_event(start_handle);
  if (!start) return std::unexpected(start.error());
  auto stop = find_event(stop_handle);
  if (!stop) return std::unexpected(stop.error());
  const EventImpl::Record from = (*start)->record();
  const EventImpl::Record to = (*stop)->record();
  if (!(*start)->timed() || !(*stop)->timed())
    return fail(ErrorCode::kInvalidHandle, "elapsed time", "an event was created with hipEventDisableTiming");
  if (!from.signal || !to.signal) return fail(ErrorCode::kInvalidHandle, "elapsed time", "an event was never recorded");
  if (from.context != to.context)
    return fail(ErrorCode::kInvalidHandle, "elapsed time", "the events were recorded on different devices");
  if (auto healthy = from.context->check(); !healthy) return std::unexpected(healthy.error());
  if (!from.signal.done() || !to.signal.done())
    return fail(ErrorCode::kNotReady, "elapsed time", "an event has not completed yet");
  return milliseconds(from.signal->end_ticks(), to.signal->end_ticks(), from.context->device().properties().clock_hz);
}

}  // namespace barehip::runtime
