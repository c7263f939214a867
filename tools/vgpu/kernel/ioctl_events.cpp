// Events: page, creation, setting, waiting.
#include <errno.h>

#include "tools/vgpu/kernel/ioctl.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr uint32_t kSlotsBeforeMapping = 256;  // the oldest user space maps one page of slots

// The client brings its page by the handle of a GTT buffer.
int adopt_event_page(Process& process, uint64_t handle) {
  if (process.events.has_page()) return -EINVAL;
  ProcessDevice* owner = process.device(static_cast<uint32_t>(handle >> 32));
  if (owner == nullptr) return -EINVAL;
  if (!owner->acquired()) return -ENODEV;
  MemoryObject* object = process.object(handle);
  if (object == nullptr || !object->is(uapi::kAllocGtt)) return -EINVAL;
  const int error =
      process.events.set_page(reinterpret_cast<uint64_t*>(object->host), object->bytes, uapi::kSignalEventLimit);
  if (error == 0) object->event_page = true;
  return error;
}

int make_own_event_page(Process& process) {
  process.own_event_page = process.allocate(Backing::kSystemStore, uapi::kEventPageBytes);
  if (process.own_event_page == nullptr) return -ENOMEM;
  return process.events.set_page(reinterpret_cast<uint64_t*>(process.own_event_page->host()), uapi::kEventPageBytes,
                                 kSlotsBeforeMapping);
}

}  // namespace

int ioctl_create_event(Call& call) {
  auto& args = call.as<uapi::CreateEvent>();
  {
    std::lock_guard lock(call.process.mutex);
    if (args.event_page_offset != 0) {
      if (const int error = adopt_event_page(call.process, args.event_page_offset)) return error;
    }
    const bool needs_slot = args.event_type == uapi::kEventSignal || args.event_type == uapi::kEventDebug;
    if (needs_slot && !call.process.events.has_page()) {
      if (const int error = make_own_event_page(call.process)) return error;
    }
  }
  return call.process.events.create(args.event_type, args.auto_reset != 0, args);
}

int ioctl_destroy_event(Call& call) { return call.process.events.destroy(call.as<uapi::EventId>().event_id); }
int ioctl_set_event(Call& call) { return call.process.events.set(call.as<uapi::EventId>().event_id); }
int ioctl_reset_event(Call& call) { return call.process.events.reset(call.as<uapi::EventId>().event_id); }

int ioctl_wait_events(Call& call) {
  auto& args = call.as<uapi::WaitEvents>();
  constexpr uint32_t kTooManyEvents = 1u << 20;  // the kernel finds no memory for so many waiters
  if (args.num_events >= kTooManyEvents) return -ENOMEM;
  std::vector<uapi::EventData> data(args.num_events);
  const size_t bytes = data.size() * sizeof(uapi::EventData);
  if (!copy_from_user(data.data(), args.events_ptr, bytes)) return -EFAULT;
  const int error = call.process.events.wait(data, args.wait_for_all != 0, args.timeout_ms, args.wait_result);
  if (error != 0 || args.wait_result != uapi::kWaitComplete) return error;
  return copy_to_user(args.events_ptr, data.data(), bytes) ? 0 : -EFAULT;
}

}  // namespace vgpu
