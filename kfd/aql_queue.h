// The state of an AQL queue that the launch path does not touch.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <barehip/aql.h>
#include <barehip/queue.h>

#include "kfd/impl.h"
#include "kfd/scratch.h"

namespace barehip::kfd {

/// What shares one page with the command processor, the kernel driver and the trap handler.
struct QueuePage {
  aql::AmdQueue queue;
  aql::AmdSignal doorbell_signal;  ///< amd_queue_t.doorbell_signal
  aql::AmdSignal inactive_signal;  ///< amd_queue_t.queue_inactive_signal
  uint64_t error_payload;          ///< the kernel ORs exception bits in
};
static_assert(sizeof(QueuePage) <= 4096);

struct AqlQueueImpl {
  AqlQueue* queue = nullptr;
  Device* device = nullptr;
  Memory page;  ///< QueuePage; exactly one 4096-byte mapping, as the kernel wants it for both indices
  Memory ring;
  Memory eop;        ///< end-of-pipe events, private to the command processor
  Memory save_area;  ///< where waves go when the queue is preempted
  Memory scratch;
  uint32_t queue_id = 0;
  QueuePriority priority = QueuePriority::kNormal;
  uint32_t doorbell_index = 0;
  bool created = false;  ///< the kernel has the queue
  bool watched = false;

  QueuePage& shared() const { return *page.host_as<QueuePage>(); }

  Result<void> allocate(const AqlQueueOptions& options);
  Result<void> create_in_kernel(const AqlQueueOptions& options);
  /// On the watcher thread: scratch requests and errors.
  void service();
  ~AqlQueueImpl();

 private:
  void fill_page(const AqlQueueOptions& options);
  void fill_save_area_headers();
  Result<void> grow_scratch(const ScratchNeed& need);
  /// Need of the packet that the command processor stands at.
  ScratchNeed need_of_current_packet(uint64_t inactive_bits) const;
  void set_error(Error error);
  /// Takes the queue off the GPU for good.
  void stop();
  std::unique_ptr<Error> error_;
};

/// The doorbell at `doorbell_offset` of CREATE_QUEUE; maps this process's slice with the first queue of the
/// device.
Result<volatile uint64_t*> map_doorbell(Device& device, uint64_t doorbell_offset);

/// The error of a CREATE_QUEUE that failed.
Error create_queue_error(const Device& device, int rc, const char* kind);

}  // namespace barehip::kfd
