// Streams.
#include "runtime/core/stream.h"

#include "runtime/api/entry.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

Handle per_thread(hipStream_t stream) { return stream ? handle(stream) : kStreamPerThread; }

Result<void> create(hipStream_t* stream, unsigned flags, int priority) {
  if (!stream) return invalid("hipStreamCreate", "stream is null");
  return store(stream, stream_create(flags, priority));
}

hipError_t query(ApiId id, Handle stream) {
  const Result<bool> done = stream_query(stream);
  if (!done) return failed(id, done.error());
  return *done ? hipSuccess : hipErrorNotReady;
}

Result<void> get_flags(Handle stream, unsigned* flags) {
  if (!flags) return invalid("hipStreamGetFlags", "flags is null");
  return store(flags, stream_flags(stream));
}

Result<void> get_priority(Handle stream, int* priority) {
  if (!priority) return invalid("hipStreamGetPriority", "priority is null");
  return store(priority, stream_priority(stream));
}

}  // namespace

extern "C" {

hipError_t hipStreamCreate(hipStream_t* stream) {
  return enter(api_id("hipStreamCreate"), [&] { return create(stream, hipStreamDefault, 0); });
}
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return enter(api_id("hipStreamCreateWithFlags"), [&] { return create(stream, flags, 0); });
}
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return enter(api_id("hipStreamCreateWithPriority"), [&] { return create(stream, flags, priority); });
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  return enter(api_id("hipStreamDestroy"), [&] { return stream_destroy(handle(stream)); });
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  return enter(api_id("hipStreamSynchronize"), [&] { return stream_synchronize(handle(stream)); });
}
hipError_t hipStreamSynchronize_spt(hipStream_t stream) {
  return enter(api_id("hipStreamSynchronize_spt"), [&] { return stream_synchronize(per_thread(stream)); });
}
hipError_t hipStreamQuery(hipStream_t stream) {
  return enter(api_id("hipStreamQuery"), [&] { return query(api_id("hipStreamQuery"), handle(stream)); });
}
hipError_t hipStreamQuery_spt(hipStream_t stream) {
  return enter(api_id("hipStreamQuery_spt"), [&] { return query(api_id("hipStreamQuery_spt"), per_thread(stream)); });
}
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return enter(api_id("hipStreamWaitEvent"), [&] { return stream_wait_event(handle(stream), handle(event), flags); });
}
hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return enter(api_id("hipStreamWaitEvent_spt"),
               [&] { return stream_wait_event(per_thread(stream), handle(event), flags); });
}
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  return enter(api_id("hipStreamGetFlags"), [&] { return get_flags(handle(stream), flags); });
}
hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned int* flags) {
  return enter(api_id("hipStreamGetFlags_spt"), [&] { return get_flags(per_thread(stream), flags); });
}
hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return enter(api_id("hipStreamGetPriority"), [&] { return get_priority(handle(stream), priority); });
}
hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return enter(api_id("hipStreamGetPriority_spt"), [&] { return get_priority(per_thread(stream), priority); });
}
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return enter(api_id("hipStreamGetDevice"), [&]() -> Result<void> {
    if (!device) return invalid("hipStreamGetDevice", "device is null");
    return store(device, stream_device(handle(stream)));
  });
}
hipError_t hipDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return enter(api_id("hipDeviceGetStreamPriorityRange"), [&]() -> Result<void> {
    const PriorityRange range = stream_priority_range();
    if (leastPriority) *leastPriority = range.least;
    if (greatestPriority) *greatestPriority = range.greatest;
    return {};
  });
}

}  // extern "C"
