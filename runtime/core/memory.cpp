#include "runtime/core/memory.h"

#include <limits>

#include "runtime/core/runtime.h"

namespace barehip::runtime {
namespace {

// hipHostMalloc flags: Portable, Mapped, WriteCombined, Uncached; NumaUser, Coherent, NonCoherent.
constexpr unsigned kHostFlags = 0x1 | 0x2 | 0x4 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80000000;
constexpr unsigned kHostUncached = 0x10000000, kHostCoherent = 0x40000000, kHostNonCoherent = 0x80000000;
// hipHostRegister flags: Portable, Mapped, IoMemory, ReadOnly, Coarsegrained.
constexpr unsigned kRegisterFlags = 0x1 | 0x2 | 0x8;
constexpr unsigned kRegisterIoMemory = 0x4, kRegisterCoarse = 0x8;
constexpr size_t kPitchAlignment = 256;

void* as_pointer(uint64_t address) { return reinterpret_cast<void*>(address); }
uint64_t as_address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void* publish(Runtime& runtime, DeviceContext& context, AllocationKind kind, size_t bytes, unsigned flags,
              uint64_t host, Memory memory) {
  auto allocation = std::make_shared<Allocation>();
  allocation->kind = kind;
  allocation->context = &context;
  allocation->gpu = memory.gpu_address();
  allocation->host = host;
  allocation->bytes = bytes;
  allocation->flags = flags;
  allocation->memory = std::move(memory);
  void* pointer = as_pointer(kind == AllocationKind::kDevice ? allocation->gpu : allocation->host);
  runtime.allocations.insert(std::move(allocation));
  return pointer;
}

/// Coherent unless the program says that it does not need that.
MemoryKind host_kind(unsigned flags) {
  if (flags & kHostUncached) return MemoryKind::kHostUncached;
  return flags & kHostNonCoherent ? MemoryKind::kHostCoarse : MemoryKind::kHostCoherent;
}

/// Frees what starts at `pointer` after the work of its device is done, as it may still use it.
Result<void> release(void* pointer, AllocationKind kind, ErrorCode missing, const char* operation, const char* text) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  auto found = (*runtime)->allocations.find(pointer);
  const uint64_t start = !found ? 0 : kind == AllocationKind::kDevice ? found->gpu : found->host;
  if (!found || found->kind != kind || start != as_address(pointer)) return fail(missing, operation, text);
  // Host memory is mapped to all GPUs.
  for (size_t i = 0; i < (*runtime)->device_count(); ++i) {
    auto context = (*runtime)->context(static_cast<int>(i));
    if (kind == AllocationKind::kDevice && *context != found->context) continue;
    if (auto done = (*context)->synchronize(); !done) return done;
  }
  found.reset();
  auto removed = (*runtime)->allocations.remove(pointer, kind);
  if (!removed) return fail(missing, operation, text);
  return removed->memory.free();
}

}  // namespace

Result<void*> device_allocate(size_t bytes) {
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  if (bytes == 0) return nullptr;
  auto memory = Memory::allocate((*context)->device(), bytes, {.kind = MemoryKind::kVram});
  if (!memory) return std::unexpected(memory.error());
  const uint64_t host = as_address(memory->host());
  return publish(*Runtime::if_open(), **context, AllocationKind::kDevice, bytes, 0, host, std::move(*memory));
}

Result<void> device_free(void* pointer) {
  if (pointer == nullptr) {
    auto context = current_context();
    return context ? Result<void>{} : std::unexpected(context.error());
  }
  return release(pointer, AllocationKind::kDevice, ErrorCode::kInvalidArgument, "free device memory",
                 "the pointer is not the start of a live device allocation");
}

Result<PitchedAllocation> device_allocate_pitched(size_t width_bytes, size_t height) {
  if (width_bytes > std::numeric_limits<size_t>::max() - kPitchAlignment)
    return fail(ErrorCode::kOutOfMemory, "allocate rows", "the row does not fit any memory");
  const size_t pitch = (width_bytes + kPitchAlignment - 1) & ~(kPitchAlignment - 1);
  if (pitch && height > std::numeric_limits<size_t>::max() / pitch)
    return fail(ErrorCode::kOutOfMemory, "allocate rows", "the rows do not fit any memory");
  auto pointer = device_allocate(pitch * height);
  if (!pointer) return std::unexpected(pointer.error());
  return PitchedAllocation{*pointer, pitch};
}

Result<void*> host_allocate(size_t bytes, unsigned flags) {
  if (flags & ~kHostFlags)
    return fail(ErrorCode::kInvalidArgument, "allocate host memory", "unknown flags " + std::to_string(flags));
  if ((flags & kHostCoherent) && (flags & kHostNonCoherent))
    return fail(ErrorCode::kInvalidArgument, "allocate host memory", "memory cannot be coherent and not coherent");
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  if (bytes == 0) return nullptr;
  auto memory = Memory::allocate((*context)->device(), bytes, {.kind = host_kind(flags)});
  if (!memory) return std::unexpected(memory.error());
  const uint64_t host = as_address(memory->host());
  return publish(*Runtime::if_open(), **context, AllocationKind::kHost, bytes, flags, host, std::move(*memory));
}

Result<void> host_free(void* pointer) {
  if (pointer == nullptr) return {};
  return release(pointer, AllocationKind::kHost, ErrorCode::kInvalidArgument, "free host memory",
                 "the pointer is not the start of live memory of hipHostMalloc");
}

Result<void> host_register(void* pointer, size_t bytes, unsigned flags) {
  if (pointer == nullptr || bytes == 0)
    return fail(ErrorCode::kInvalidArgument, "register host memory", "the range is empty");
  if (flags & kRegisterIoMemory)
    return fail(ErrorCode::kNotSupported, "register host memory", "I/O memory cannot be registered");
  if (flags & ~kRegisterFlags)
    return fail(ErrorCode::kInvalidArgument, "register host memory", "unknown flags " + std::to_string(flags));
  auto context = current_context();
  if (!context) return std::unexpected(context.error());
  Runtime& runtime = *Runtime::if_open();
  if (runtime.allocations.overlaps(pointer, bytes))
    return fail(ErrorCode::kAlreadyRegistered, "register host memory",
                "part of the range is registered or allocated already");
  auto memory = Memory::register_host((*context)->device(), pointer, bytes, !(flags & kRegisterCoarse));
  if (!memory) return std::unexpected(memory.error());
  publish(runtime, **context, AllocationKind::kRegistered, bytes, flags, as_address(pointer), std::move(*memory));
  return {};
}

Result<void> host_unregister(void* pointer) {
  return release(pointer, AllocationKind::kRegistered, ErrorCode::kNotRegistered, "unregister host memory",
                 "the pointer is not the start of a registered range");
}

Result<void*> host_device_pointer(void* pointer) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  auto found = (*runtime)->allocations.find(pointer);
  if (!found || found->on_device())
    return fail(ErrorCode::kInvalidArgument, "device pointer of host memory",
                "the pointer is not in pinned or registered host memory");
  return as_pointer(found->gpu_of(as_address(pointer)));
}

Result<unsigned> host_flags(void* pointer) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  auto found = (*runtime)->allocations.find(pointer);
  if (!found || found->on_device())
    return fail(ErrorCode::kInvalidArgument, "flags of host memory",
                "the pointer is not in pinned or registered host memory");
  return found->flags;
}

Result<PointerInfo> pointer_info(const void* pointer) {
  auto runtime = Runtime::get();
  if (!runtime) return std::unexpected(runtime.error());
  auto found = (*runtime)->allocations.find(pointer);
  if (!found) return PointerInfo{};
  const bool device = found->on_device();
  const uint64_t gpu = found->gpu_of(as_address(pointer));
  PointerInfo info;
  info.type = device ? MemoryType::kDevice : MemoryType::kHost;
  info.device = found->context->ordinal();
  info.base = as_pointer(device ? found->gpu : found->host);
  info.bytes = found->bytes;
  info.device_pointer = as_pointer(gpu);
  info.host_pointer = device ? nullptr : as_pointer(found->host_of(as_address(pointer)));
  info.flags = found->flags;
  return info;
}

}  // namespace barehip::runtime
