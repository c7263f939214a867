// Events.
#include "runtime/core/event.h"

#include "runtime/api/entry.h"
#include "runtime/core/stream.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

Result<void> create(hipEvent_t* event, unsigned flags) {
  if (!event) return invalid("hipEventCreate", "event is null");
  return store(event, event_create(flags));
}

/// The null stream of the _spt forms is the thread's own.
Handle per_thread(hipStream_t stream) { return stream ? handle(stream) : kStreamPerThread; }

}  // namespace

extern "C" {

hipError_t hipEventCreate(hipEvent_t* event) {
  return enter(api_id("hipEventCreate"), [&] { return create(event, hipEventDefault); });
}
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags) {
  return enter(api_id("hipEventCreateWithFlags"), [&] { return create(event, flags); });
}
hipError_t hipEventDestroy(hipEvent_t event) {
  return enter(api_id("hipEventDestroy"), [&] { return event_destroy(handle(event)); });
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return enter(api_id("hipEventRecord"), [&] { return event_record(handle(event), handle(stream)); });
}
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return enter(api_id("hipEventRecord_spt"), [&] { return event_record(handle(event), per_thread(stream)); });
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags) {
  return enter(api_id("hipEventRecordWithFlags"), [&]() -> Result<void> {
    if (flags == hipEventRecordExternal)
      return fail(ErrorCode::kNotSupported, "hipEventRecordWithFlags", "external records need stream capture");
    if (flags != hipEventRecordDefault) return invalid("hipEventRecordWithFlags", "unknown flag");
    return event_record(handle(event), handle(stream));
  });
}
hipError_t hipEventQuery(hipEvent_t event) {
  return enter(api_id("hipEventQuery"), [&]() -> hipError_t {
    const Result<bool> done = event_query(handle(event));
    if (!done) return failed(api_id("hipEventQuery"), done.error());
    return *done ? hipSuccess : hipErrorNotReady;
  });
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  return enter(api_id("hipEventSynchronize"), [&] { return event_synchronize(handle(event)); });
}
hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop) {
  return enter(api_id("hipEventElapsedTime"), [&]() -> Result<void> {
    if (!ms) return invalid("hipEventElapsedTime", "ms is null");
    return store(ms, event_elapsed_ms(handle(start), handle(stop)));
  });
}

}  // extern "C"
