#include "kfd/aql_queue.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "kfd/cwsr.h"
#include "kfd/fault_text.h"
#include "kfd/log.h"

namespace barehip {
namespace kfd {
namespace {

using aql::QueueInactive;

constexpr uint64_t bit(QueueInactive value) { return static_cast<uint64_t>(value); }

/// What one queue may hold on to for scratch; kernels that need more run with fewer waves at a time.
uint64_t scratch_budget(const GpuProperties& gpu) {
  constexpr uint64_t kLeast = 128ull << 20, kShareOfVram = 32;
  return std::max(kLeast, gpu.vram_bytes / kShareOfVram);
}

Result<Memory> allocate_host(Device& device, uint64_t bytes, MemoryKind kind, bool executable, bool pageable = false) {
  MemoryOptions options;
  options.kind = kind;
  options.executable = executable;
  options.pageable = pageable;
  return Memory::allocate(device, bytes, options);
}

Result<Memory> allocate_vram(Device& device, uint64_t bytes, bool executable) {
  MemoryOptions options;
  options.executable = executable;
  options.host_access = false;
  return Memory::allocate(device, bytes, options);
}

Result<void> keep(Result<Memory> made, Memory& into) {
  if (!made) return std::unexpected(std::move(made.error()));
  into = std::move(*made);
  return {};
}

}  // namespace

Result<void> AqlQueueImpl::allocate(const AqlQueueOptions& options) {
  constexpr uint64_t kEopBytes = 4096;
  const uint64_t ring_bytes = uint64_t{options.packets} * aql::kPacketBytes;
  const CwsrSizes sizes = cwsr_sizes(device->properties());
  // GTT, not pages of the process: with a MES scheduler (gfx11) the kernel takes the write index from nowhere
  // else.
  Result<void> done = keep(allocate_host(*device, kPage, MemoryKind::kHostUncached, false), page);
  if (done) done = keep(allocate_host(*device, ring_bytes, MemoryKind::kHostUncached, true), ring);
  if (done) done = keep(allocate_vram(*device, kEopBytes, true), eop);
  if (done) done = keep(allocate_host(*device, sizes.total_bytes, MemoryKind::kHostCoherent, true, true), save_area);
  if (!done) return done;
  fill_page(options);
  fill_save_area_headers();
  if (options.scratch_bytes_per_lane == 0) return {};
  const ScratchNeed need{options.scratch_bytes_per_lane, device->properties().wave_size, 1};
  return grow_scratch(need);
}

void AqlQueueImpl::fill_page(const AqlQueueOptions& options) {
  constexpr uint64_t kNoIndex = UINT64_MAX;
  const GpuProperties& gpu = device->properties();
  QueuePage& shared_page = *new (page.host()) QueuePage{};
  aql::AmdQueue& q = shared_page.queue;
  q.features = aql::kQueueKernelDispatch;
  q.base_address = ring.gpu_address();
  q.doorbell_signal = reinterpret_cast<uint64_t>(&shared_page.doorbell_signal);
  q.size = options.packets;
  q.group_segment_aperture_base_hi = static_cast<uint32_t>(gpu.lds_aperture >> 32);
  q.private_segment_aperture_base_hi = static_cast<uint32_t>(gpu.scratch_aperture >> 32);
  q.max_cu_id = gpu.cu_count - 1;
  q.max_wave_id = gpu.max_waves_per_cu - 1;
  q.read_dispatch_id_field_base_byte_offset = offsetof(aql::AmdQueue, read_dispatch_id);
  q.queue_properties = aql::kQueueIsPtr64 | (options.profiling ? uint32_t{aql::kQueueEnableProfiling} : 0);
  q.scratch_max_use_index = kNoIndex;
  q.alt_scratch_max_use_index = kNoIndex;
  q.queue_inactive_signal = reinterpret_cast<uint64_t>(&shared_page.inactive_signal);
  write_scratch(q, gpu, {}, 0);

  const Event& event = device->system().impl().watcher->queue_event();
  shared_page.inactive_signal.kind = static_cast<int64_t>(aql::SignalKind::kUser);
  shared_page.inactive_signal.event_mailbox_ptr = event.mailbox();
  shared_page.inactive_signal.event_id = event.id();
  shared_page.doorbell_signal.kind = static_cast<int64_t>(aql::SignalKind::kDoorbell);
  shared_page.doorbell_signal.queue_ptr = page.gpu_address();

  uint16_t* header = ring.host_as<uint16_t>();
  constexpr size_t kHalfWordsPerPacket = aql::kPacketBytes / sizeof(uint16_t);
  for (uint32_t i = 0; i < options.packets; ++i)
    header[i * kHalfWordsPerPacket] = static_cast<uint16_t>(aql::PacketType::kInvalid);
}

// One header at the start of each XCC's slice: the driver looks there when it reports an exception.
void AqlQueueImpl::fill_save_area_headers() {
  const GpuProperties& gpu = device->properties();
  const CwsrSizes sizes = cwsr_sizes(gpu);
  for (uint32_t xcc = 0; xcc < gpu.num_xcc; ++xcc) {
    auto* header =
        new (save_area.host_as<uint8_t>() + uint64_t{xcc} * sizes.save_bytes) uapi::context_save_area_header{};
    header->debug_offset = (gpu.num_xcc - xcc) * sizes.save_bytes;
    header->debug_size = sizes.debug_bytes * gpu.num_xcc;
    header->err_payload_addr = reinterpret_cast<uint64_t>(&shared().error_payload);
    header->err_event_id = device->system().impl().watcher->queue_event().id();
  }
}

Error create_queue_error(const Device& device, int rc, const char* kind) {
  Error error = call_error("CREATE_QUEUE", rc, std::string("creating ") + kind + " on " + device.properties().gfx);
  if (rc == -EBUSY) {
    error.code = ErrorCode::kOutOfResources;
    error.text += "; the process has no free doorbell";
  } else if (rc == -ENOMEM || rc == -ENOSPC) {
    error.code = ErrorCode::kOutOfResources;
    error.text += "; the driver has no queue left, destroy one first";
  }
  return error;
}

Result<volatile uint64_t*> map_doorbell(Device& device, uint64_t doorbell_offset) {
  constexpr uint64_t kInSlice = uapi::kDoorbellSliceBytes - 1;
  DeviceImpl& impl = device.impl();
  const std::lock_guard lock(impl.doorbell_mutex);
  if (!impl.doorbells) {
    Result<Mapping> slice =
        map(device.system().os(), nullptr, uapi::kDoorbellSliceBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
            device.system().impl().client.fd(), doorbell_offset & ~kInSlice, "doorbells");
    if (!slice) return std::unexpected(std::move(slice.error()));
    impl.doorbells = std::move(*slice);
  }
  return reinterpret_cast<volatile uint64_t*>(impl.doorbells.address() + (doorbell_offset & kInSlice));
}

Result<void> AqlQueueImpl::create_in_kernel(const AqlQueueOptions& options) {
  const CwsrSizes sizes = cwsr_sizes(device->properties());
  uapi::create_queue_args args{};
  args.ring_base_address = ring.gpu_address();
  args.write_pointer_address = page.gpu_address() + offsetof(aql::AmdQueue, write_dispatch_id);
  args.read_pointer_address = page.gpu_address() + offsetof(aql::AmdQueue, read_dispatch_id);
  args.ring_size = static_cast<uint32_t>(ring.bytes());
  args.gpu_id = device->properties().gpu_id;
  args.queue_type = uapi::kQueueTypeComputeAql;
  args.queue_percentage = 100;
  args.queue_priority = static_cast<uint32_t>(options.priority);
  args.eop_buffer_address = eop.gpu_address();
  args.eop_buffer_size = eop.bytes();
  args.ctx_save_restore_address = save_area.gpu_address();
  args.ctx_save_restore_size = sizes.save_bytes;
  args.ctl_stack_size = sizes.ctl_stack_bytes;
  const int rc = device->system().impl().client.create_queue(args);
  if (rc < 0) return std::unexpected(create_queue_error(*device, rc, "an AQL queue"));
  queue_id = args.queue_id;
  priority = options.priority;
  created = true;
  Result<volatile uint64_t*> doorbell = map_doorbell(*device, args.doorbell_offset);
  if (!doorbell) return std::unexpected(std::move(doorbell.error()));
  doorbell_index = static_cast<uint32_t>(args.doorbell_offset & (uapi::kDoorbellSliceBytes - 1)) / sizeof(uint64_t);
  queue->doorbell_ = *doorbell;
  shared().queue.id = queue_id;
  shared().doorbell_signal.hardware_doorbell_ptr = reinterpret_cast<uint64_t>(*doorbell);
  const std::lock_guard lock(device->impl().trap_mutex);
  if (device->impl().trap_table)
    device->impl().trap_table.host_as<std::atomic<uint64_t>>()[doorbell_index].store(page.gpu_address(),
                                                                                     std::memory_order_release);
  return {};
}

AqlQueueImpl::~AqlQueueImpl() {
  // First: the watcher names the queue to the kernel, which gives the number away again.
  if (watched) device->system().impl().watcher->remove(this);
  if (created) {
    uapi::destroy_queue_args args{};
    args.queue_id = queue_id;
    const int rc = device->system().impl().client.destroy_queue(args);
    // The kernel forgets the queue even when it could not stop it in time.
    if (rc < 0) log_warning(call_error("DESTROY_QUEUE", rc, "destroying queue " + std::to_string(queue_id)).text);
    const std::lock_guard lock(device->impl().trap_mutex);
    if (device->impl().trap_table)
      device->impl().trap_table.host_as<std::atomic<uint64_t>>()[doorbell_index].store(0, std::memory_order_release);
  }
  device->impl().queues.fetch_sub(1, std::memory_order_relaxed);
}

// ---- on the watcher thread
// -----------------------------------------------------------------------------------------

void AqlQueueImpl::set_error(Error error) {
  if (error_ != nullptr) return;
  error_ = std::make_unique<Error>(error);
  queue->error_.store(error_.get(), std::memory_order_release);
  device->impl().set_error(*device, std::move(error));
  stop();
}

// Its waves are halted and hold their compute units, and its processor looks at the bad packet again whenever the queue
// is scheduled. With nothing of the GPU's time it does neither.
void AqlQueueImpl::stop() {
  uapi::update_queue_args args{};
  args.ring_base_address = ring.gpu_address();
  args.queue_id = queue_id;
  args.ring_size = static_cast<uint32_t>(ring.bytes());
  args.queue_percentage = 0;
  args.queue_priority = static_cast<uint32_t>(priority);
  const int rc = device->system().impl().client.update_queue(args);
  if (rc < 0) log_warning(call_error("UPDATE_QUEUE", rc, "stopping queue " + std::to_string(queue_id)).text);
}

void AqlQueueImpl::service() {
  if (error_ != nullptr) return;
  const GpuProperties& gpu = device->properties();
  const uint64_t payload = std::atomic_ref(shared().error_payload).load(std::memory_order_acquire);
  if (std::optional<Error> error = payload_error(gpu, queue_id, payload)) return set_error(std::move(*error));

  std::atomic_ref<int64_t> inactive(shared().inactive_signal.value);
  const uint64_t bits = static_cast<uint64_t>(inactive.load(std::memory_order_acquire));
  if (bits == 0) return;
  if (std::optional<Error> error = inactive_error(gpu, queue_id, bits)) return set_error(std::move(*error));
  if ((bits & (bit(QueueInactive::kScratchWave64) | bit(QueueInactive::kScratchWave32))) != 0) {
    if (Result<void> grown = grow_scratch(need_of_current_packet(bits)); !grown)
      return set_error(std::move(grown.error()));
  }
  // The command processor reads the descriptor again and goes on with the same packet.
  inactive.store(0, std::memory_order_release);
}

ScratchNeed AqlQueueImpl::need_of_current_packet(uint64_t inactive_bits) const {
  const uint64_t index = std::atomic_ref(shared().queue.read_dispatch_id).load(std::memory_order_acquire);
  const auto& packet = *static_cast<const aql::KernelDispatchPacket*>(queue->slot(index));
  ScratchNeed need;
  need.bytes_per_lane = packet.private_segment_size;
  need.wave_lanes = (inactive_bits & bit(QueueInactive::kScratchWave32)) != 0 ? 32 : 64;
  const uint32_t group = uint32_t{packet.workgroup_size_x} * std::max<uint32_t>(packet.workgroup_size_y, 1) *
                         std::max<uint32_t>(packet.workgroup_size_z, 1);
  need.waves_per_group = std::max((group + need.wave_lanes - 1) / need.wave_lanes, 1u);
  return need;
}

// The queue stands still (or was not created yet), so nothing uses the old memory.
Result<void> AqlQueueImpl::grow_scratch(const ScratchNeed& need) {
  const GpuProperties& gpu = device->properties();
  uint64_t budget = scratch_budget(gpu);
  write_scratch(shared().queue, gpu, {}, 0);
  scratch = Memory();
  for (;;) {
    Result<ScratchPlan> plan = plan_scratch(gpu, need, budget);
    if (!plan) return std::unexpected(std::move(plan.error()));
    Result<Memory> memory = allocate_vram(*device, plan->bytes, false);
    if (memory) {
      scratch = std::move(*memory);
      write_scratch(shared().queue, gpu, *plan, scratch.gpu_address());
      return {};
    }
    // With less memory fewer waves run at a time; at the least number there is nothing left to try.
    const uint64_t smaller = plan->bytes / 2;
    const Result<ScratchPlan> next = plan_scratch(gpu, need, std::max<uint64_t>(smaller, 1));
    if (memory.error().code != ErrorCode::kOutOfMemory || !next || next->bytes >= plan->bytes)
      return std::unexpected(std::move(memory.error()));
    budget = std::max<uint64_t>(smaller, 1);
  }
}

}  // namespace kfd

// ---- AqlQueue
// ------------------------------------------------------------------------------------------------------

AqlQueue::AqlQueue() = default;
AqlQueue::~AqlQueue() {
  // In a forked child there is nothing to destroy, and the memory is not mapped.
  if (impl_ != nullptr && !impl_->device->system().usable()) (void)impl_.release();
}

Result<std::unique_ptr<AqlQueue>> AqlQueue::create(Device& device, const AqlQueueOptions& options) {
  constexpr uint32_t kFewest = 64, kMost = 131072;
  System& system = device.system();
  if (!system.usable()) return kfd::forked_child("create queue");
  if (!std::has_single_bit(options.packets) || options.packets < kFewest || options.packets > kMost)
    return fail(
        ErrorCode::kInvalidArgument, "create queue",
        "A queue has a power of two of packets between 64 and 131072, not " + std::to_string(options.packets) + ".");
  if (const Error* fatal = device.error()) return std::unexpected(*fatal);
  Result<kfd::Watcher*> watcher = system.impl().ensure_watcher(system);
  if (!watcher) return std::unexpected(std::move(watcher.error()));

  std::unique_ptr<AqlQueue> queue(new AqlQueue);
  queue->impl_ = std::make_unique<kfd::AqlQueueImpl>();
  kfd::AqlQueueImpl& impl = *queue->impl_;
  impl.queue = queue.get();
  impl.device = &device;
  device.impl().queues.fetch_add(1, std::memory_order_relaxed);
  if (Result<void> done = impl.allocate(options); !done) return std::unexpected(std::move(done.error()));
  queue->ring_ = impl.ring.host_as<uint8_t>();
  queue->size_ = options.packets;
  queue->write_index_ = reinterpret_cast<std::atomic<uint64_t>*>(&impl.shared().queue.write_dispatch_id);
  queue->read_index_ = reinterpret_cast<const std::atomic<uint64_t>*>(&impl.shared().queue.read_dispatch_id);
  if (Result<void> done = impl.create_in_kernel(options); !done) return std::unexpected(std::move(done.error()));
  (*watcher)->add(&impl);
  impl.watched = true;
  return queue;
}

Device& AqlQueue::device() const { return *impl_->device; }
uint32_t AqlQueue::queue_id() const { return impl_->queue_id; }
uint64_t AqlQueue::descriptor() const { return impl_->page.gpu_address(); }
uint32_t AqlQueue::scratch_bytes_per_lane() const {
  return std::atomic_ref(impl_->shared().queue.scratch_wave64_lane_byte_size).load(std::memory_order_relaxed);
}

void AqlQueue::set_profiling(bool on) {
  std::atomic_ref<uint32_t> properties(impl_->shared().queue.queue_properties);
  if (on)
    properties.fetch_or(aql::kQueueEnableProfiling, std::memory_order_release);
  else
    properties.fetch_and(~uint32_t{aql::kQueueEnableProfiling}, std::memory_order_release);
}

Result<void> AqlQueue::set_cu_mask(const uint32_t* mask, uint32_t words) {
  if (!impl_->device->system().usable()) return kfd::forked_child("set CU mask");
  kfd::uapi::set_cu_mask_args args{};
  args.queue_id = impl_->queue_id;
  args.num_cu_mask = words * 32;
  args.cu_mask_ptr = reinterpret_cast<uint64_t>(mask);
  const int rc = impl_->device->system().impl().client.set_cu_mask(args);
  if (rc < 0) return kfd::call_failed("SET_CU_MASK", rc, "restricting queue " + std::to_string(impl_->queue_id));
  return {};
}

Result<void> AqlQueue::enable_gws() {
  if (!impl_->device->system().usable()) return kfd::forked_child("allocate GWS");
  kfd::uapi::alloc_queue_gws_args args{};
  args.queue_id = impl_->queue_id;
  args.num_gws = 1;
  const int rc = impl_->device->system().impl().client.alloc_queue_gws(args);
  if (rc >= 0) return {};
  Error error =
      kfd::call_error("ALLOC_QUEUE_GWS", rc, "taking global wave sync for queue " + std::to_string(impl_->queue_id));
  if (rc == -ENODEV) error.code = ErrorCode::kNotSupported;
  if (rc == -EBUSY) error.code = ErrorCode::kOutOfResources;
  return std::unexpected(std::move(error));
}

}  // namespace barehip
