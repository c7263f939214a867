#include "kfd/memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <utility>

#include "kfd/log.h"

namespace barehip {

using kfd::call_failed;
using kfd::Client;
using kfd::kPage;
using kfd::Mapping;
using kfd::MemoryAccess;
using kfd::round_up;
namespace uapi = kfd::uapi;

namespace {

bool is_vram(MemoryKind kind) {
  return kind == MemoryKind::kVram || kind == MemoryKind::kVramFine || kind == MemoryKind::kVramUncached;
}

std::string describe(uint64_t bytes, MemoryKind kind, const Device& device) {
  return "allocating " + std::to_string(bytes) + " bytes of " + (is_vram(kind) ? "VRAM" : "host memory") + " for " +
         device.properties().gfx;
}

}  // namespace

namespace kfd {

uint32_t MemoryAccess::flags_of(const Device& device, const MemoryOptions& options) {
  uint32_t flags = uapi::kMemNoSubstitute;
  if (!options.read_only) flags |= uapi::kMemWritable;
  if (options.executable) flags |= uapi::kMemExecutable;
  if (is_vram(options.kind)) {
    flags |= uapi::kMemVram;
    if (options.host_access && device.properties().vram_host_visible) flags |= uapi::kMemPublic;
    constexpr uint32_t kMinorOfContiguous = 16;
    if (options.contiguous && device.system().kfd_minor() >= kMinorOfContiguous) flags |= uapi::kMemContiguous;
  }
  switch (options.kind) {
    case MemoryKind::kVram:
    case MemoryKind::kHostCoarse: break;
    case MemoryKind::kVramFine:
    case MemoryKind::kHostCoherent: flags |= uapi::kMemCoherent; break;
    case MemoryKind::kVramUncached: flags |= uapi::kMemUncached; break;
    case MemoryKind::kHostUncached: flags |= uapi::kMemCoherent | uapi::kMemUncached; break;
  }
  return flags;
}

uint64_t MemoryAccess::all_devices(const Device& device) {
  const size_t count = device.system().devices().size();
  return count < 64 ? (1ull << count) - 1 : ~0ull;
}

Result<Memory> MemoryAccess::create_object(Device& device, uint64_t va, uint64_t bytes, uint32_t flags,
                                           uint64_t& mmap_offset) {
  uapi::alloc_memory_of_gpu_args args{};
  args.va_addr = va;
  args.size = bytes;
  args.mmap_offset = mmap_offset;
  args.gpu_id = device.properties().gpu_id;
  args.flags = flags;
  const int rc = device.system().impl().client.alloc_memory_of_gpu(args);
  if (rc < 0)
    return call_failed(
        "ALLOC_MEMORY_OF_GPU", rc,
        "allocating " + std::to_string(bytes) + " bytes (flags " + hex_text(flags) + ") on " + device.properties().gfx);
  Memory memory;
  memory.device_ = &device;
  memory.handle_ = args.handle;
  memory.bytes_ = bytes;
  mmap_offset = args.mmap_offset;
  return memory;
}

namespace {

std::vector<uint32_t> gpu_ids_of(const System& system, uint64_t mask) {
  std::vector<uint32_t> ids;
  for (const std::unique_ptr<Device>& device : system.devices())
    if ((mask >> device->index()) & 1) ids.push_back(device->properties().gpu_id);
  return ids;
}

/// Mask of the first `count` devices of `mask`.
uint64_t first_of(uint64_t mask, uint32_t count) {
  uint64_t out = 0;
  for (; count > 0 && mask != 0; --count) {
    out |= mask & (~mask + 1);
    mask &= mask - 1;
  }
  return out;
}

}  // namespace

Result<void> MemoryAccess::map_to(Memory& memory, uint64_t mask) {
  mask &= ~memory.mapped_gpus_;
  if (mask == 0) return {};
  const std::vector<uint32_t> ids = gpu_ids_of(memory.device_->system(), mask);
  uapi::map_memory_to_gpu_args args{};
  args.handle = memory.handle_;
  args.device_ids_array_ptr = reinterpret_cast<uint64_t>(ids.data());
  args.n_devices = static_cast<uint32_t>(ids.size());
  const int rc = memory.device_->system().impl().client.map_memory_to_gpu(args);
  // A failure may come after some of the GPUs: those are mapped now.
  const uint64_t done = first_of(mask, rc < 0 ? args.n_success : args.n_devices);
  memory.mapped_gpus_ |= done;
  if (rc >= 0) return {};
  if (done != 0) (void)unmap_from(memory, done);
  return call_failed("MAP_MEMORY_TO_GPU", rc,
                     "mapping " + std::to_string(memory.bytes_) + " bytes to " + std::to_string(ids.size()) + " GPUs");
}

Result<void> MemoryAccess::unmap_from(Memory& memory, uint64_t mask) {
  mask &= memory.mapped_gpus_;
  if (mask == 0) return {};
  const std::vector<uint32_t> ids = gpu_ids_of(memory.device_->system(), mask);
  uapi::unmap_memory_from_gpu_args args{};
  args.handle = memory.handle_;
  args.device_ids_array_ptr = reinterpret_cast<uint64_t>(ids.data());
  args.n_devices = static_cast<uint32_t>(ids.size());
  const int rc = memory.device_->system().impl().client.unmap_memory_from_gpu(args);
  memory.mapped_gpus_ &= ~first_of(mask, rc < 0 ? args.n_success : args.n_devices);
  if (rc < 0) return call_failed("UNMAP_MEMORY_FROM_GPU", rc, "unmapping " + std::to_string(memory.bytes_) + " bytes");
  return {};
}

void MemoryAccess::abandon(Memory& memory) {
  if (memory.handle_ == 0) return;
  const barehip_os_table& os = memory.device_->system().os();
  if (memory.reserved_bytes_ != 0)
    os.munmap(os.self, reinterpret_cast<void*>(memory.reserved_at_), memory.reserved_bytes_);
  memory.handle_ = 0;
}

void MemoryAccess::map_hdp_page(DeviceImpl& impl, Device& device) {
  const barehip_os_table& os = device.system().os();
  Result<Mapping> reservation = reserve_addresses(os, kPage, kPage);
  if (!reservation) return;
  uint64_t offset = 0;
  const uint32_t flags = uapi::kMemMmioRemap | uapi::kMemWritable | uapi::kMemNoSubstitute | uapi::kMemCoherent;
  Result<Memory> memory = create_object(device, reservation->address(), kPage, flags, offset);
  if (!memory) return;
  // At an address of its own: only the CPU uses it, and the GPU has no mapping to keep in step.
  Result<Mapping> page = map(os, nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, device.system().impl().client.fd(),
                             offset, "the HDP flush page");
  if (!page) return;
  impl.hdp_page = std::move(*page);
  impl.hdp_memory = std::move(*memory);
  adopt_reservation(impl.hdp_memory, *reservation);
  DeviceImpl::set_hdp_page(device, impl.hdp_page.at());
}

std::unexpected<Error> forked_child(const char* operation) {
  return fail(ErrorCode::kInvalidHandle, operation,
              "This process was forked after the GPU was opened: GPU memory and queues stay with the parent. "
              "Open the GPU in the "
              "child before any use in the parent, or start the child with exec.");
}

}  // namespace kfd

// ---- allocation
// ----------------------------------------------------------------------------------------------------

namespace {

Result<void> check(uint64_t bytes, const MemoryOptions& options) {
  if (bytes == 0)
    return fail(ErrorCode::kInvalidArgument, "allocate memory", "A memory allocation needs at least one byte.");
  if (!std::has_single_bit(options.alignment) || options.alignment < kPage)
    return fail(ErrorCode::kInvalidArgument, "allocate memory",
                "The alignment " + std::to_string(options.alignment) + " is not a power of two of at least 4096.");
  if (bytes > UINT64_MAX / 4)
    return fail(ErrorCode::kOutOfMemory, "allocate memory",
                "The size " + std::to_string(bytes) + " is beyond all address space.");
  return {};
}

bool inside_gpuvm(const System& system, uint64_t address, uint64_t bytes) {
  for (const std::unique_ptr<Device>& device : system.devices()) {
    const GpuProperties& p = device->properties();
    if (address < p.gpuvm_base || address + bytes - 1 > p.gpuvm_limit) return false;
  }
  return true;
}

/// The CPU side of an object that lies at its reservation: GTT and visible VRAM through the render node.
Result<void*> map_for_host(Device& device, uint64_t address, uint64_t bytes, uint64_t offset) {
  const kfd::SystemImpl& impl = device.system().impl();
  Result<Mapping> mapping = kfd::map(*impl.os, reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_FIXED, device.impl().render.get(), offset, "GPU memory");
  if (!mapping) return std::unexpected(std::move(mapping.error()));
  mapping->release();  // the reservation that it lies in unmaps it
  impl.os->madvise(impl.os->self, reinterpret_cast<void*>(address), bytes, MADV_DONTFORK);
  return reinterpret_cast<void*>(address);
}

constexpr uint64_t kLargePage = 2 << 20;

/// GPU page tables (and the CPU's) use larger entries when address and size allow it.
uint64_t useful_alignment(uint64_t bytes) { return std::clamp(std::bit_floor(bytes), kPage, kLargePage); }

Result<void*> map_anonymous(const System& system, uint64_t address, uint64_t bytes) {
  const barehip_os_table& os = system.os();
  Result<Mapping> mapping = kfd::map(os, reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, "pageable GPU memory");
  if (!mapping) return std::unexpected(std::move(mapping.error()));
  mapping->release();
  os.madvise(os.self, reinterpret_cast<void*>(address), bytes, MADV_DONTFORK);
  // The driver pins page by page; a system without huge pages refuses, and that is all right.
  if (bytes >= kLargePage) os.madvise(os.self, reinterpret_cast<void*>(address), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(address);
}

uint64_t mask_of(const MemoryOptions& options, const Device& owner) {
  if (!is_vram(options.kind)) return MemoryAccess::all_devices(owner);
  uint64_t mask = 1ull << owner.index();
  for (const Device* peer : options.peers) mask |= 1ull << peer->index();
  return mask;
}

}  // namespace

Result<Memory> Memory::allocate(Device& device, uint64_t bytes, const MemoryOptions& options) {
  System& system = device.system();
  if (!system.usable()) return kfd::forked_child("allocate memory");
  if (Result<void> ok = check(bytes, options); !ok) return std::unexpected(std::move(ok.error()));
  const uint64_t size = round_up(bytes, kPage);
  Result<Mapping> reservation =
      kfd::reserve_addresses(system.os(), size, std::max(options.alignment, useful_alignment(size)));
  if (!reservation) return std::unexpected(std::move(reservation.error()));
  const uint64_t va = reservation->address();
  if (!inside_gpuvm(system, va, size))
    return fail(ErrorCode::kOutOfMemory, "allocate memory",
                "The system gave addresses that a GPU cannot reach; the address space is used up.");

  uint32_t flags = MemoryAccess::flags_of(device, options);
  void* host = nullptr;
  uint64_t offset = 0;
  const bool userptr = !is_vram(options.kind) && options.pageable;
  if (userptr) {
    Result<void*> mapped = map_anonymous(system, va, size);
    if (!mapped) return std::unexpected(std::move(mapped.error()));
    host = *mapped;
    offset = va;
  }
  if (!is_vram(options.kind)) flags |= userptr ? uapi::kMemUserptr : uapi::kMemGtt;
  Result<Memory> memory = MemoryAccess::create_object(device, va, size, flags, offset);
  if (!memory) {
    memory.error().text = describe(bytes, options.kind, device) + ": " + memory.error().text;
    return memory;
  }
  // From here the Memory owns the range too, and its destruction undoes everything.
  MemoryAccess::adopt_reservation(*memory, *reservation);
  const bool host_sees_it = !is_vram(options.kind) || (flags & uapi::kMemPublic) != 0;
  if (host_sees_it && !userptr) {
    Result<void*> mapped = map_for_host(device, va, size, offset);
    if (!mapped) return std::unexpected(std::move(mapped.error()));
    host = *mapped;
  }
  MemoryAccess::set_addresses(*memory, va, host, bytes, options.kind);
  if (Result<void> mapped = MemoryAccess::map_to(*memory, mask_of(options, device)); !mapped)
    return std::unexpected(std::move(mapped.error()));
  return memory;
}

// ---- registration of the user's own memory
// -------------------------------------------------------------------------

namespace {

Result<Memory> register_at(Device& device, uint64_t va, uint64_t first_page, uint64_t size, uint32_t flags) {
  uint64_t offset = first_page;
  Result<Memory> memory = MemoryAccess::create_object(device, va, size, flags, offset);
  if (!memory) return memory;
  MemoryAccess::set_addresses(*memory, va, nullptr, size, MemoryKind::kHostCoherent);
  if (Result<void> mapped = MemoryAccess::map_to(*memory, MemoryAccess::all_devices(device)); !mapped)
    return std::unexpected(std::move(mapped.error()));
  return memory;
}

}  // namespace

Result<Memory> Memory::register_host(Device& device, void* host, uint64_t bytes, bool coherent) {
  System& system = device.system();
  if (!system.usable()) return kfd::forked_child("register host memory");
  const uint64_t start = reinterpret_cast<uint64_t>(host);
  if (host == nullptr || bytes == 0 || start + bytes < start)
    return fail(ErrorCode::kInvalidArgument, "register host memory",
                "Host memory to register needs an address and a size.");
  const uint64_t first_page = start & ~(kPage - 1);
  const uint64_t size = round_up(start + bytes, kPage) - first_page;
  const uint32_t flags = uapi::kMemUserptr | uapi::kMemWritable | uapi::kMemExecutable | uapi::kMemNoSubstitute |
                         (coherent ? uapi::kMemCoherent : 0);
  const MemoryKind kind = coherent ? MemoryKind::kHostCoherent : MemoryKind::kHostCoarse;
  if (inside_gpuvm(system, first_page, size)) {
    Result<Memory> same = register_at(device, first_page, first_page, size, flags);
    if (same) {
      MemoryAccess::set_addresses(*same, start, host, bytes, kind);
      return same;
    }
    // EINVAL: another mapping of this GPU (a neighbour that shares a page) lies there. Everything else is
    // final.
    if (same.error().sys_errno != EINVAL) return same;
  }
  Result<Mapping> reservation = kfd::reserve_addresses(system.os(), size, kPage);
  if (!reservation) return std::unexpected(std::move(reservation.error()));
  const uint64_t va = reservation->address();
  Result<Memory> elsewhere = register_at(device, va, first_page, size, flags);
  if (!elsewhere) return elsewhere;
  MemoryAccess::adopt_reservation(*elsewhere, *reservation);
  MemoryAccess::set_addresses(*elsewhere, va + (start - first_page), host, bytes, kind);
  return elsewhere;
}

// ---- the rest
// ------------------------------------------------------------------------------------------------------

Memory::Memory(Memory&& other) noexcept { *this = std::move(other); }

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(gpu_, other.gpu_);
  std::swap(host_, other.host_);
  std::swap(bytes_, other.bytes_);
  std::swap(reserved_at_, other.reserved_at_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  std::swap(mapped_gpus_, other.mapped_gpus_);
  std::swap(kind_, other.kind_);
  return *this;
}

Memory::~Memory() {
  if (Result<void> freed = free(); !freed) kfd::log_warning(freed.error().text);
}

// The object goes before its pages. A driver that sees pages of an object go away stops every queue of the process
// until it has looked for new ones. And while the object is there the GPU may have it mapped: its addresses stay taken.
Result<void> Memory::free() {
  if (handle_ == 0) return {};
  Memory gone;
  std::swap(*this, gone);
  Result<void> result;
  const bool usable = gone.device_->system().usable();
  if (usable) result = MemoryAccess::unmap_from(gone, gone.mapped_gpus_);
  uapi::free_memory_of_gpu_args args{};
  args.handle = std::exchange(gone.handle_, 0);
  if (!usable) return result;
  const kfd::SystemImpl& impl = gone.device_->system().impl();
  const int rc = impl.client.free_memory_of_gpu(args);
  if (rc < 0) {
    if (result) result = call_failed("FREE_MEMORY_OF_GPU", rc, "freeing " + std::to_string(gone.bytes_) + " bytes");
    return result;
  }
  if (gone.reserved_bytes_ != 0)
    impl.os->munmap(impl.os->self, reinterpret_cast<void*>(gone.reserved_at_), gone.reserved_bytes_);
  return result;
}

Result<void> Memory::map_to(Device& peer) {
  if (handle_ == 0) return fail(ErrorCode::kInvalidArgument, "map memory", "The memory object is empty.");
  if (!device_->system().usable()) return kfd::forked_child("map memory");
  Result<void> mapped = MemoryAccess::map_to(*this, 1ull << peer.index());
  if (!mapped && mapped.error().sys_errno == EINVAL) {
    mapped.error().code = ErrorCode::kNotSupported;
    mapped.error().text = "The memory of " + device_->properties().gfx + " (device " +
                          std::to_string(device_->index()) + ") cannot be reached from device " +
                          std::to_string(peer.index()) + ": " + mapped.error().text;
  }
  return mapped;
}

Result<void> Memory::unmap_from(Device& peer) {
  if (handle_ == 0) return fail(ErrorCode::kInvalidArgument, "unmap memory", "The memory object is empty.");
  if (!device_->system().usable()) return kfd::forked_child("unmap memory");
  return MemoryAccess::unmap_from(*this, 1ull << peer.index());
}

Result<int> Memory::export_dmabuf() const {
  constexpr uint32_t kMinorOfExport = 12;
  if (handle_ == 0) return fail(ErrorCode::kInvalidArgument, "export memory", "The memory object is empty.");
  const kfd::SystemImpl& impl = device_->system().impl();
  if (!device_->system().usable()) return kfd::forked_child("export memory");
  if (impl.minor < kMinorOfExport)
    return fail(ErrorCode::kNotSupported, "export memory",
                "Export as dma-buf needs KFD 1.12; this kernel has 1." + std::to_string(impl.minor) + ".");
  uapi::export_dmabuf_args args{};
  args.handle = handle_;
  args.flags = O_CLOEXEC;
  const int rc = impl.client.export_dmabuf(args);
  if (rc < 0) return call_failed("EXPORT_DMABUF", rc, "exporting " + std::to_string(bytes_) + " bytes");
  return static_cast<int>(args.dmabuf_fd);
}

}  // namespace barehip
