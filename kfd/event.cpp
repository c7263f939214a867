#include <barehip/event.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "kfd/impl.h"

namespace barehip {

namespace uapi = kfd::uapi;

namespace kfd {

// The page is host memory that all GPUs write; with it the kernel has 4096 slots, and it fills them with
// ones.
Result<void> SystemImpl::ensure_event_page(System& system, uint64_t& handle_for_kernel) {
  handle_for_kernel = 0;
  if (event_page_known) return {};
  if (!event_page) {
    MemoryOptions options;
    options.kind = MemoryKind::kHostUncached;
    options.executable = true;
    Result<Memory> page = Memory::allocate(*system.devices().front(), uapi::kEventPageBytes, options);
    if (!page) return std::unexpected(std::move(page.error()));
    event_page = std::move(*page);
  }
  handle_for_kernel = event_page.kfd_handle();
  return {};
}

}  // namespace kfd

Result<Event> Event::create(System& system, EventKind kind, bool auto_reset) {
  if (!system.usable()) return kfd::forked_child("create event");
  kfd::SystemImpl& impl = system.impl();
  uapi::create_event_args args{};
  args.event_type = static_cast<uint32_t>(kind);
  args.auto_reset = auto_reset ? 1 : 0;
  int rc = 0;
  {
    const std::lock_guard lock(impl.event_page_mutex);
    if (Result<void> page = impl.ensure_event_page(system, args.event_page_offset); !page)
      return std::unexpected(std::move(page.error()));
    rc = impl.client.create_event(args);
    if (rc >= 0) impl.event_page_known = true;
  }
  if (rc < 0) return kfd::call_failed("CREATE_EVENT", rc, "creating an event");
  Event event;
  event.system_ = &system;
  event.id_ = args.event_id;
  if (kind == EventKind::kSignal) event.mailbox_ = impl.event_page.gpu_address() + uint64_t{args.event_id} * 8;
  return event;
}

Event::Event(Event&& other) noexcept { *this = std::move(other); }

Event& Event::operator=(Event&& other) noexcept {
  std::swap(system_, other.system_);
  std::swap(id_, other.id_);
  std::swap(mailbox_, other.mailbox_);
  return *this;
}

Event::~Event() {
  if (id_ == 0 || !system_->usable()) return;
  uapi::destroy_event_args args{};
  args.event_id = id_;
  system_->impl().client.destroy_event(args);
}

Result<void> Event::set() const {
  if (!system_->usable()) return kfd::forked_child("set event");
  uapi::set_event_args args{};
  args.event_id = id_;
  const int rc = system_->impl().client.set_event(args);
  if (rc < 0) return kfd::call_failed("SET_EVENT", rc, "setting event " + std::to_string(id_));
  return {};
}

namespace {

// The kernel writes the data of the events that fired and leaves the others alone. A hardware exception may come with
// nothing but zeros (drivers before KFD 1.13 report a bad packet so), so a number that no GPU has marks what was not
// written.
constexpr uint32_t kNotWritten = UINT32_MAX;

void prepare(const EventWait& wait, bool ages, uapi::event_data& data) {
  data.event_id = wait.event->id();
  switch (wait.kind) {
    case EventKind::kSignal:
      if (ages && wait.use_age) data.signal_event.last_event_age = wait.age;
      break;
    case EventKind::kMemory: data.memory_exception.gpu_id = kNotWritten; break;
    case EventKind::kHwException: data.hw_exception.gpu_id = kNotWritten; break;
  }
}

void copy_result(const uapi::event_data& data, bool ages, EventWait& wait) {
  switch (wait.kind) {
    case EventKind::kSignal:
      if (ages && wait.use_age) wait.age = data.signal_event.last_event_age;
      break;
    case EventKind::kMemory: {
      const uapi::memory_exception_data& m = data.memory_exception;
      wait.fired = m.gpu_id != kNotWritten;
      if (!wait.fired) break;
      wait.fault = {m.gpu_id,
                    m.va,
                    m.failure.NotPresent != 0,
                    m.failure.ReadOnly != 0,
                    m.failure.NoExecute != 0,
                    m.failure.imprecise != 0,
                    m.ErrorType};
      break;
    }
    case EventKind::kHwException: {
      const uapi::hw_exception_data& h = data.hw_exception;
      wait.fired = h.gpu_id != kNotWritten;
      if (!wait.fired) break;
      wait.exception = {h.gpu_id, h.reset_type, h.reset_cause, h.memory_lost != 0};
      break;
    }
  }
}

}  // namespace

Result<WaitOutcome> wait_events(System& system, std::span<EventWait> waits, bool all, uint32_t timeout_ms) {
  constexpr size_t kOnStack = 8;
  constexpr uint32_t kMinorOfAge = 14;
  if (!system.usable()) return kfd::forked_child("wait for events");
  std::array<uapi::event_data, kOnStack> few{};
  std::unique_ptr<uapi::event_data[]> many;
  uapi::event_data* data = few.data();
  if (waits.size() > kOnStack) {
    many = std::make_unique<uapi::event_data[]>(waits.size());
    data = many.get();
  }
  const bool ages = system.kfd_minor() >= kMinorOfAge;
  for (size_t i = 0; i < waits.size(); ++i) prepare(waits[i], ages, data[i]);
  uapi::wait_events_args args{};
  args.events_ptr = reinterpret_cast<uint64_t>(data);
  args.num_events = static_cast<uint32_t>(waits.size());
  args.wait_for_all = all ? 1 : 0;
  args.timeout = timeout_ms;
  const int rc = system.impl().client.wait_events(args);
  // EIO of this call says nothing about the GPU: an event was destroyed during the wait; EINVAL: before it.
  if (rc == -EIO || rc == -EINVAL)
    return fail(ErrorCode::kInvalidHandle, "WAIT_EVENTS", "An event was destroyed while it was waited for.", -rc);
  if (rc < 0) return kfd::call_failed("WAIT_EVENTS", rc, "waiting for " + std::to_string(waits.size()) + " events");
  if (args.wait_result == uapi::kWaitTimeout) return WaitOutcome::kTimeout;
  for (size_t i = 0; i < waits.size(); ++i) copy_result(data[i], ages, waits[i]);
  return WaitOutcome::kComplete;
}

}  // namespace barehip
