#include <barehip/queue.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "kfd/aql_queue.h"
#include "kfd/log.h"

namespace barehip {
namespace kfd {

/// Both indices count bytes; the driver wants them in one page.
struct SdmaPointers {
  uint64_t write;
  alignas(64) uint64_t read;
};

struct SdmaQueueImpl {
  Device* device = nullptr;
  Memory page;
  Memory ring;
  uint32_t queue_id = 0;
  bool created = false;

  SdmaPointers& pointers() const { return *page.host_as<SdmaPointers>(); }
  Result<volatile uint64_t*> create(const SdmaQueueOptions& options);
  ~SdmaQueueImpl();
};

/// The driver can choose since KFD 1.17. Stock runtimes have seen engines misbehave when they chose on gfx9 before
/// gfx90a, and leave it to the driver there.
bool may_choose_engine(const Device& device) {
  constexpr uint32_t kMinorOfEngineChoice = 17;
  const GpuProperties& gpu = device.properties();
  const bool old_gfx9 = gpu.gfx_major == 9 && gpu.gfx_minor == 0 && gpu.gfx_step < 10;
  return device.system().kfd_minor() >= kMinorOfEngineChoice && !old_gfx9;
}

Result<volatile uint64_t*> SdmaQueueImpl::create(const SdmaQueueOptions& options) {
  MemoryOptions memory;
  memory.kind = MemoryKind::kHostUncached;
  for (const auto& [into, bytes] : {std::pair{&page, kPage}, std::pair{&ring, uint64_t{options.ring_bytes}}}) {
    Result<Memory> made = Memory::allocate(*device, bytes, memory);
    if (!made) return std::unexpected(std::move(made.error()));
    *into = std::move(*made);
  }
  const bool choose = options.engine >= 0 && may_choose_engine(*device);
  uapi::create_queue_args args{};
  args.ring_base_address = ring.gpu_address();
  args.write_pointer_address = reinterpret_cast<uint64_t>(&pointers().write);
  args.read_pointer_address = reinterpret_cast<uint64_t>(&pointers().read);
  args.ring_size = options.ring_bytes;
  args.gpu_id = device->properties().gpu_id;
  args.queue_type = choose ? uapi::kQueueTypeSdmaByEngineId : uapi::kQueueTypeSdma;
  args.queue_percentage = 100;
  args.queue_priority = static_cast<uint32_t>(options.priority);
  args.sdma_engine_id = choose ? static_cast<uint32_t>(options.engine) : 0;
  const Client& client = device->system().impl().client;
  int rc = client.create_queue(args);
  if (rc == -ENOMEM && choose) {  // other processes have all queues of that engine; another one may have some left
    args.queue_type = uapi::kQueueTypeSdma;
    args.sdma_engine_id = 0;
    rc = client.create_queue(args);
  }
  if (rc < 0) return std::unexpected(create_queue_error(*device, rc, "a copy queue"));
  queue_id = args.queue_id;
  created = true;
  return map_doorbell(*device, args.doorbell_offset);
}

SdmaQueueImpl::~SdmaQueueImpl() {
  device->impl().queues.fetch_sub(1, std::memory_order_relaxed);
  if (!created) return;
  uapi::destroy_queue_args args{};
  args.queue_id = queue_id;
  const int rc = device->system().impl().client.destroy_queue(args);
  if (rc < 0) log_warning(call_error("DESTROY_QUEUE", rc, "destroying copy queue " + std::to_string(queue_id)).text);
}

}  // namespace kfd

SdmaQueue::SdmaQueue() = default;
SdmaQueue::~SdmaQueue() {
  if (impl_ != nullptr && !impl_->device->system().usable()) (void)impl_.release();
}

Result<std::unique_ptr<SdmaQueue>> SdmaQueue::create(Device& device, const SdmaQueueOptions& options) {
  if (!device.system().usable()) return kfd::forked_child("create queue");
  if (!std::has_single_bit(options.ring_bytes) || options.ring_bytes < kfd::kPage)
    return fail(ErrorCode::kInvalidArgument, "create queue",
                "A copy queue's ring is a power of two of at least 4096 bytes, not " +
                    std::to_string(options.ring_bytes) + ".");
  if (const Error* fatal = device.error()) return std::unexpected(*fatal);
  // Copies can fault too: the watcher tells.
  if (Result<kfd::Watcher*> watcher = device.system().impl().ensure_watcher(device.system()); !watcher)
    return std::unexpected(std::move(watcher.error()));
  std::unique_ptr<SdmaQueue> queue(new SdmaQueue);
  queue->impl_ = std::make_unique<kfd::SdmaQueueImpl>();
  kfd::SdmaQueueImpl& impl = *queue->impl_;
  impl.device = &device;
  device.impl().queues.fetch_add(1, std::memory_order_relaxed);
  Result<volatile uint64_t*> doorbell = impl.create(options);
  if (!doorbell) return std::unexpected(std::move(doorbell.error()));
  queue->doorbell_ = *doorbell;
  queue->ring_ = impl.ring.host_as<uint8_t>();
  queue->ring_bytes_ = options.ring_bytes;
  queue->write_pointer_ = reinterpret_cast<std::atomic<uint64_t>*>(&impl.pointers().write);
  queue->read_pointer_ = reinterpret_cast<const std::atomic<uint64_t>*>(&impl.pointers().read);
  return queue;
}

// A packet may not cross the ring's end; zero dwords are NOPs. The ring is never filled to the last dword, so
// that full and empty differ for an engine that compares wrapped pointers.
void* SdmaQueue::try_reserve(uint32_t bytes) {
  constexpr uint32_t kDword = 4;
  if (bytes == 0 || bytes % kDword != 0 || bytes >= ring_bytes_) return nullptr;
  const uint64_t at = reserved_ & (ring_bytes_ - 1);
  const uint64_t padding = at + bytes > ring_bytes_ ? ring_bytes_ - at : 0;
  if (reserved_ + padding + bytes - consumed_bytes() > ring_bytes_ - kDword) return nullptr;
  if (padding != 0) std::memset(ring_ + at, 0, padding);
  reserved_ += padding;
  void* out = ring_ + (reserved_ & (ring_bytes_ - 1));
  reserved_ += bytes;
  return out;
}

void SdmaQueue::publish() {
  published_ = reserved_;
  write_pointer_->store(published_, std::memory_order_release);
  __builtin_ia32_sfence();
  *doorbell_ = published_;
}

Device& SdmaQueue::device() const { return *impl_->device; }
uint32_t SdmaQueue::queue_id() const { return impl_->queue_id; }
const Error* SdmaQueue::error() const { return impl_->device->error(); }

}  // namespace barehip
