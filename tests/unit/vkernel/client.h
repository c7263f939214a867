// A small client of the simulated driver for tests: it speaks the ioctls as the kernel's header numbers them, and keeps
// nothing between calls. Uses <linux/kfd_ioctl.h> where that has the request, so that the test's idea of the interface
// is not the model's own.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "tools/vgpu/kernel/kernel.h"

struct Client {
  explicit Client(const std::string& spec = "gfx90a+vram=256M") {
    auto options = vgpu::parse_options(spec);
    if (!options) throw std::runtime_error(options.error());
    kernel = std::make_unique<vgpu::Kernel>(*std::move(options));
    kfd = kernel->open_kfd(O_RDWR);
    render = kernel->open_render(128, O_RDWR);
  }

  template <class T>
  int call(unsigned long request, T& args) {
    int result = 0;
    do result = kernel->ioctl(kfd, request, &args);
    while (result == -EINTR && restart);
    return result;
  }

  uint32_t gpu_id(size_t index = 0) { return kernel->machine().gpus.at(index).gpu_id; }

  int acquire() {
    kfd_ioctl_acquire_vm_args args{.drm_fd = static_cast<uint32_t>(render), .gpu_id = gpu_id()};
    return call(AMDKFD_IOC_ACQUIRE_VM, args);
  }

  /// Reserves address space, as runtimes do.
  static void* reserve(size_t bytes) {
    return mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }

  struct Buffer {
    uint64_t va = 0, handle = 0, bytes = 0;
    std::byte* cpu = nullptr;
  };

  int alloc(uint64_t va, uint64_t bytes, uint32_t flags, kfd_ioctl_alloc_memory_of_gpu_args& out, uint64_t user = 0) {
    out = {.va_addr = va, .size = bytes, .handle = 0, .mmap_offset = user, .gpu_id = gpu_id(), .flags = flags};
    return call(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, out);
  }

  /// What the GPU's page table has there; size 0: nothing.
  vgpu::Mapping mapping(uint64_t va) { return kernel->test_process().devices[0]->space.find(va); }
  vgpu::SmiStreams& smi() { return kernel->test_process().devices[0]->smi; }

  int map(uint64_t handle) {
    uint32_t id = gpu_id();
    kfd_ioctl_map_memory_to_gpu_args args{handle, reinterpret_cast<uint64_t>(&id), 1, 0};
    return call(AMDKFD_IOC_MAP_MEMORY_TO_GPU, args);
  }
  int unmap(uint64_t handle) {
    uint32_t id = gpu_id();
    kfd_ioctl_unmap_memory_from_gpu_args args{handle, reinterpret_cast<uint64_t>(&id), 1, 0};
    return call(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, args);
  }
  int free(uint64_t handle) {
    kfd_ioctl_free_memory_of_gpu_args args{handle};
    return call(AMDKFD_IOC_FREE_MEMORY_OF_GPU, args);
  }

  /// Allocates, maps on CPU and GPU at one address.
  Buffer buffer(uint64_t bytes, uint32_t type) {
    Buffer made;
    made.bytes = bytes;
    void* va = reserve(bytes);
    kfd_ioctl_alloc_memory_of_gpu_args args;
    const uint32_t flags = type | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE | KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE |
                           KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE;
    if (alloc(reinterpret_cast<uint64_t>(va), bytes, flags, args) != 0) return made;
    void* cpu = nullptr;
    if (kernel->mmap(va, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, render, args.mmap_offset, &cpu) != 0)
      return made;
    if (map(args.handle) != 0) return made;
    made.va = args.va_addr;
    made.handle = args.handle;
    made.cpu = static_cast<std::byte*>(cpu);
    return made;
  }

  std::unique_ptr<vgpu::Kernel> kernel;
  int kfd = -1, render = -1;
  bool restart = true;
};
