// Buffers of the render node: GEM handles, their GPU addresses, and their way from and to dma-bufs.
// Source of the checks: amdgpu_gem.c and amdgpu_vm.c of Linux 6.9, read for behaviour.
#include <amdgpu_drm.h>
#include <drm.h>
#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "tools/vgpu/kernel/drm.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

constexpr uint64_t kPageMask = kPageBytes - 1;
constexpr uint64_t kReservedBottom = 0x10000, kReservedTop = (2ull << 20) + (2ull << 20) + 0x2000;
constexpr uint64_t kHoleStart = 0x800000000000, kHoleEnd = 0xffff800000000000, kHoleMask = 0xffffffffffff;
constexpr uint64_t kVmEnd = 1ull << 48;
constexpr uint64_t kDoorbellDomain = 0x40;  // newer than the header
constexpr uint32_t kComputeVmMinor = 15;    // KFD 1.15: GEM_VA works on compute address spaces
constexpr size_t kMostMetadata = 256;

GemBuffer* find(DrmFile& file, uint32_t handle) {
  const auto found = file.buffers.find(handle);
  return found == file.buffers.end() ? nullptr : &found->second;
}

// With the locks of process and file, which are taken in that order.
uint32_t add(DrmCall& call, GemBuffer buffer) {
  uint32_t handle = 1;
  while (call.file.buffers.contains(handle)) ++handle;
  ProcessDevice& device = *call.process.devices[call.gpu().index];
  buffer.mmap_offset = device.next_mmap_offset;
  device.next_mmap_offset += buffer.backing->bytes();
  call.file.buffers[handle] = std::move(buffer);
  return handle;
}

/// The page table that the file's mappings go to: the process's, once the file is its compute address space.
AddressSpace& space_of(DrmCall& call) {
  ProcessDevice& device = *call.process.devices[call.gpu().index];
  return device.vm_file.get() == &call.file ? device.space : call.file.own_space;
}

int map_buffer(DrmCall& call, const drm_amdgpu_gem_va& args, const std::shared_ptr<Backing>& backing) {
  if (args.map_size == 0 || ((args.va_address | args.offset_in_bo | args.map_size) & kPageMask) != 0) return -EINVAL;
  if (args.offset_in_bo + args.map_size < args.map_size || args.offset_in_bo + args.map_size > backing->bytes())
    return -EINVAL;
  const bool mapped = space_of(call).map({.va = args.va_address,
                                          .size = args.map_size,
                                          .host = backing->host() + args.offset_in_bo,
                                          .mtype = MemType::kUC,
                                          .writable = (args.flags & AMDGPU_VM_PAGE_WRITEABLE) != 0,
                                          .executable = (args.flags & AMDGPU_VM_PAGE_EXECUTABLE) != 0,
                                          .system = !backing->vram()});
  if (!mapped) return -EINVAL;
  call.file.mappings[args.va_address] = {args.map_size, backing};
  return 0;
}

int unmap_buffer(DrmCall& call, uint64_t va, const Backing& backing) {
  const auto found = call.file.mappings.find(va);
  if (found == call.file.mappings.end() || found->second.backing.get() != &backing) return -ENOENT;
  space_of(call).unmap(va, found->second.bytes);
  call.file.mappings.erase(found);
  return 0;
}

// Takes away every mapping of the range. The driver would keep what sticks out; the model refuses to cut.
int clear_range(DrmCall& call, uint64_t va, uint64_t bytes) {
  for (auto at = call.file.mappings.begin(); at != call.file.mappings.end();) {
    const auto& [start, mapping] = *at;
    if (start >= va + bytes || start + mapping.bytes <= va) {
      ++at;
      continue;
    }
    if (start < va || start + mapping.bytes > va + bytes) return call.refuse(-EINVAL, "a mapping cannot be cut in two");
    space_of(call).unmap(start, mapping.bytes);
    at = call.file.mappings.erase(at);
  }
  return 0;
}

int check_va(drm_amdgpu_gem_va& args) {
  constexpr uint32_t kNoAlloc = 1 << 9;
  constexpr uint32_t kFlags = AMDGPU_VM_DELAY_UPDATE | AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE |
                              AMDGPU_VM_PAGE_EXECUTABLE | AMDGPU_VM_MTYPE_MASK | kNoAlloc;
  constexpr uint32_t kPrtFlags = AMDGPU_VM_DELAY_UPDATE | AMDGPU_VM_PAGE_PRT;
  if (args.va_address < kReservedBottom) return -EINVAL;
  if (args.va_address >= kHoleStart && args.va_address < kHoleEnd) return -EINVAL;
  args.va_address &= kHoleMask;
  if (args.map_size > kVmEnd || args.va_address + args.map_size > kVmEnd - kReservedTop) return -EINVAL;
  if ((args.flags & ~kFlags) != 0 && (args.flags & ~kPrtFlags) != 0) return -EINVAL;
  return args.operation >= AMDGPU_VA_OP_MAP && args.operation <= AMDGPU_VA_OP_REPLACE ? 0 : -EINVAL;
}

}  // namespace

int drm_gem_create(DrmCall& call) {
  constexpr uint64_t kDiscardable = 1 << 12;  // newer than the header
  constexpr uint64_t kFlags = AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED | AMDGPU_GEM_CREATE_NO_CPU_ACCESS |
                              AMDGPU_GEM_CREATE_CPU_GTT_USWC | AMDGPU_GEM_CREATE_VRAM_CLEARED |
                              AMDGPU_GEM_CREATE_VM_ALWAYS_VALID | AMDGPU_GEM_CREATE_EXPLICIT_SYNC | kDiscardable;
  auto& args = call.as<drm_amdgpu_gem_create>();
  const drm_amdgpu_gem_create_in in = args.in;
  if ((in.domains & kDoorbellDomain) != 0 || (in.domain_flags & ~kFlags) != 0) return -EINVAL;
  if ((in.domains & ~uint64_t{AMDGPU_GEM_DOMAIN_MASK}) != 0) return -EINVAL;
  constexpr uint64_t kMemory = AMDGPU_GEM_DOMAIN_CPU | AMDGPU_GEM_DOMAIN_GTT | AMDGPU_GEM_DOMAIN_VRAM;
  if ((in.domains & kMemory) == 0) return call.refuse(-EINVAL, "only VRAM and system memory can be had");
  const uint64_t bytes = (in.bo_size + kPageMask) & ~kPageMask;
  if (bytes == 0) return -EINVAL;
  const bool vram = (in.domains & AMDGPU_GEM_DOMAIN_VRAM) != 0;
  const std::lock_guard process_lock(call.process.mutex);
  auto backing = call.process.allocate(vram ? 1 + call.gpu().index : Backing::kSystemStore, bytes);
  // What does not fit into VRAM goes to system memory.
  if (backing == nullptr && vram) backing = call.process.allocate(Backing::kSystemStore, bytes);
  if (backing == nullptr) return -ENOMEM;
  backing->public_vram = backing->vram() && (in.domain_flags & AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED) != 0;
  const std::lock_guard lock(call.file.mutex);
  const uint32_t handle = add(call, {std::move(backing), 0, in.alignment, in.domains, in.domain_flags});
  std::memset(&args.out, 0, sizeof args.out);
  args.out.handle = handle;
  return 0;
}

int drm_gem_mmap(DrmCall& call) {
  auto& args = call.as<drm_amdgpu_gem_mmap>();
  const std::lock_guard lock(call.file.mutex);
  const GemBuffer* buffer = find(call.file, args.in.handle);
  if (buffer == nullptr) return -ENOENT;
  if ((buffer->flags & AMDGPU_GEM_CREATE_NO_CPU_ACCESS) != 0) return -EPERM;
  args.out.addr_ptr = buffer->mmap_offset;
  return 0;
}

int drm_gem_wait_idle(DrmCall& call) {
  auto& args = call.as<drm_amdgpu_gem_wait_idle>();
  const std::lock_guard lock(call.file.mutex);
  if (find(call.file, args.in.handle) == nullptr) return -ENOENT;
  std::memset(&args.out, 0, sizeof args.out);  // nothing but user queues works on buffers, and nobody waits for those
  return 0;
}

int drm_gem_metadata(DrmCall& call) {
  constexpr uint32_t kSet = AMDGPU_GEM_METADATA_OP_SET_METADATA, kGet = AMDGPU_GEM_METADATA_OP_GET_METADATA;
  auto& args = call.as<drm_amdgpu_gem_metadata>();
  const std::lock_guard lock(call.file.mutex);
  GemBuffer* buffer = find(call.file, args.handle);
  if (buffer == nullptr) return -ENOENT;
  BufferMetadata& kept = buffer->backing->metadata;
  if (args.op == kGet) {
    args.data.flags = kept.flags;
    args.data.tiling_info = kept.tiling;
    args.data.data_size_bytes = static_cast<uint32_t>(kept.data.size());
    std::memcpy(args.data.data, kept.data.data(), kept.data.size());
    return 0;
  }
  if (args.op != kSet) return 0;
  if (args.data.data_size_bytes > kMostMetadata) return -EINVAL;
  const auto* first = reinterpret_cast<const std::byte*>(args.data.data);
  kept = {args.data.flags, args.data.tiling_info, {first, first + args.data.data_size_bytes}};
  return 0;
}

int drm_gem_op(DrmCall& call) {
  auto& args = call.as<drm_amdgpu_gem_op>();
  const std::lock_guard lock(call.file.mutex);
  const GemBuffer* buffer = find(call.file, args.handle);
  if (buffer == nullptr) return -ENOENT;
  if (args.op == AMDGPU_GEM_OP_SET_PLACEMENT) return call.refuse(-EINVAL, "buffers stay where they are");
  if (args.op != AMDGPU_GEM_OP_GET_GEM_CREATE_INFO) return -EINVAL;
  const drm_amdgpu_gem_create_in info{.bo_size = buffer->backing->bytes(),
                                      .alignment = buffer->alignment,
                                      .domains = buffer->domains,
                                      .domain_flags = buffer->flags};
  return copy_to_user(args.value, &info, sizeof info) ? 0 : -EFAULT;
}

int drm_gem_va(DrmCall& call) {
  auto& args = call.as<drm_amdgpu_gem_va>();
  if (const int error = check_va(args)) return error;
  const std::lock_guard process_lock(call.process.mutex);
  const bool compute = call.process.devices[call.gpu().index]->vm_file.get() == &call.file;
  if (compute && call.kernel.machine().options.kfd_minor < kComputeVmMinor)
    return call.refuse(-EINVAL, "on a compute address space only since KFD 1.15");
  const std::lock_guard lock(call.file.mutex);
  if (args.operation == AMDGPU_VA_OP_CLEAR) return clear_range(call, args.va_address, args.map_size);
  if ((args.flags & AMDGPU_VM_PAGE_PRT) != 0) return call.refuse(-EINVAL, "no partially resident memory");
  const GemBuffer* buffer = find(call.file, args.handle);
  if (buffer == nullptr) return -ENOENT;
  if (args.operation == AMDGPU_VA_OP_UNMAP) return unmap_buffer(call, args.va_address, *buffer->backing);
  if (args.operation == AMDGPU_VA_OP_REPLACE) {
    if (const int error = clear_range(call, args.va_address, args.map_size)) return error;
  }
  return map_buffer(call, args, buffer->backing);
}

// The driver unmaps a buffer whose last handle of the file goes.
int drm_gem_close(DrmCall& call) {
  const auto& args = call.as<struct drm_gem_close>();
  const std::lock_guard process_lock(call.process.mutex);
  const std::lock_guard lock(call.file.mutex);
  const auto found = call.file.buffers.find(args.handle);
  if (found == call.file.buffers.end()) return -EINVAL;
  for (auto at = call.file.mappings.begin(); at != call.file.mappings.end();) {
    if (at->second.backing != found->second.backing) {
      ++at;
      continue;
    }
    space_of(call).unmap(at->first, at->second.bytes);
    at = call.file.mappings.erase(at);
  }
  call.file.buffers.erase(found);
  return 0;
}

int drm_prime_handle_to_fd(DrmCall& call) {
  auto& args = call.as<drm_prime_handle>();
  if ((args.flags & ~uint32_t{DRM_CLOEXEC | DRM_RDWR}) != 0) return -EINVAL;
  const std::lock_guard lock(call.file.mutex);
  const GemBuffer* buffer = find(call.file, args.handle);
  if (buffer == nullptr) return -ENOENT;
  if ((buffer->flags & AMDGPU_GEM_CREATE_VM_ALWAYS_VALID) != 0) return -EPERM;
  const int fd = call.kernel.machine().dma_bufs->export_range(*buffer->backing, static_cast<int>(args.flags));
  if (fd < 0) return fd;
  args.fd = fd;
  return 0;
}

int drm_prime_fd_to_handle(DrmCall& call) {
  auto& args = call.as<drm_prime_handle>();
  DmaBufs::Found found;
  if (const int error = call.kernel.machine().dma_bufs->find(args.fd, found)) return error;
  const std::lock_guard process_lock(call.process.mutex);
  const std::lock_guard lock(call.file.mutex);
  // A buffer that the file has already keeps its handle.
  for (const auto& [handle, buffer] : call.file.buffers) {
    if (buffer.backing->store() != found.store || buffer.backing->offset() != found.offset) continue;
    args.handle = handle;
    return 0;
  }
  auto backing = call.process.import(found);
  if (backing == nullptr) return -EINVAL;
  const uint64_t domain = backing->vram() ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT;
  args.handle = add(call, {std::move(backing), 0, 0, domain, 0});
  return 0;
}

}  // namespace vgpu
