// The render node through the distribution's own libdrm header: information, buffers, GPU addresses, dma-bufs.
#include <amdgpu_drm.h>
#include <drm.h>
#include <fcntl.h>

#include "tests/catch.h"
#include "tests/unit/vkernel/client.h"

namespace {

struct RenderClient : Client {
  using Client::Client;
  template <class T>
  int drm(unsigned long request, T& args) {
    return kernel->ioctl(render, request, &args);
  }
  template <class T>
  int info(uint32_t query, T& out, uint32_t type = 0) {
    drm_amdgpu_info request{};
    request.return_pointer = reinterpret_cast<uint64_t>(&out);
    request.return_size = sizeof out;
    request.query = query;
    request.query_hw_ip.type = type;
    return drm(DRM_IOCTL_AMDGPU_INFO, request);
  }
  int create(uint64_t bytes, uint64_t domains, uint64_t flags, uint32_t& handle) {
    drm_amdgpu_gem_create args{};
    args.in = {bytes, 4096, domains, flags};
    const int error = drm(DRM_IOCTL_AMDGPU_GEM_CREATE, args);
    handle = args.out.handle;
    return error;
  }
  int va(uint32_t operation, uint32_t handle, uint64_t address, uint64_t bytes, uint64_t offset = 0,
         uint32_t flags = 6) {
    drm_amdgpu_gem_va args{.handle = handle,
                           ._pad = 0,
                           .operation = operation,
                           .flags = flags,
                           .va_address = address,
                           .offset_in_bo = offset,
                           .map_size = bytes};
    return drm(DRM_IOCTL_AMDGPU_GEM_VA, args);
  }
};

constexpr uint64_t kVa = 0x200000000;

}  // namespace

TEST_CASE("what libdrm asks when it opens a device") {
  RenderClient client("rx7900xtx+vram=1G");
  char name[16] = {};
  drm_version version{};
  version.name = name;
  version.name_len = sizeof name;
  REQUIRE(client.drm(DRM_IOCTL_VERSION, version) == 0);
  CHECK(version.version_major == 3);
  CHECK(std::string(name) == "amdgpu");
  uint32_t working = 0;
  CHECK(client.info(AMDGPU_INFO_ACCEL_WORKING, working) == 0);
  CHECK(working == 1);
  drm_amdgpu_info_device device{};
  REQUIRE(client.info(AMDGPU_INFO_DEV_INFO, device) == 0);
  // As a real card reported it.
  CHECK(device.device_id == 29772);
  CHECK(device.family == 145);
  CHECK(device.gpu_counter_freq == 100000);
  CHECK(device.cu_bitmap[2][1] == 255);
  uint32_t short_info = 0;
  CHECK(client.info(AMDGPU_INFO_DEV_INFO, short_info) == 0);
  CHECK(short_info == 29772);
  CHECK(client.info(AMDGPU_INFO_CRTC_FROM_ID, working) == -EINVAL);
  CHECK(client.kernel->machine().log.defaults().empty());
}

TEST_CASE("heaps, rings, firmware, clocks") {
  RenderClient client("rx7900xtx+vram=1G");
  uint32_t handle = 0;
  REQUIRE(client.create(64 << 20, AMDGPU_GEM_DOMAIN_VRAM, 0, handle) == 0);
  drm_amdgpu_memory_info memory{};
  REQUIRE(client.info(AMDGPU_INFO_MEMORY, memory) == 0);
  CHECK(memory.vram.total_heap_size == 1u << 30);
  CHECK(memory.vram.heap_usage == 64u << 20);
  uint64_t usage = 0;
  CHECK(client.info(AMDGPU_INFO_VRAM_USAGE, usage) == 0);
  CHECK(usage == 64u << 20);
  drm_amdgpu_info_hw_ip ip{};
  REQUIRE(client.info(AMDGPU_INFO_HW_IP_INFO, ip, AMDGPU_HW_IP_COMPUTE) == 0);
  CHECK(ip.hw_ip_version_major == 11);
  CHECK(ip.available_rings != 0);
  REQUIRE(client.info(AMDGPU_INFO_HW_IP_INFO, ip, AMDGPU_HW_IP_VCE) == 0);
  CHECK(ip.available_rings == 0);
  CHECK(client.info(AMDGPU_INFO_HW_IP_INFO, ip, 99) == -EINVAL);
  drm_amdgpu_info_firmware firmware{};
  CHECK(client.info(AMDGPU_INFO_FW_VERSION, firmware, AMDGPU_INFO_FW_GFX_MEC) == 0);
  CHECK(firmware.ver == 2140);
  uint64_t first = 0, second = 0;
  CHECK(client.info(AMDGPU_INFO_TIMESTAMP, first) == 0);
  usleep(1000);
  CHECK(client.info(AMDGPU_INFO_TIMESTAMP, second) == 0);
  CHECK(second > first);
  uint32_t sensor = 0;
  CHECK(client.info(AMDGPU_INFO_SENSOR, sensor) == -ENOENT);
  drm_get_cap capability{DRM_CAP_PRIME, 0};
  CHECK(client.drm(DRM_IOCTL_GET_CAP, capability) == 0);
  CHECK(capability.value == 3);
  drm_unique unique{};
  CHECK(client.drm(DRM_IOCTL_GET_UNIQUE, unique) == -EACCES);
  uint64_t kfd_version = 0;
  CHECK(client.drm(AMDKFD_IOC_GET_VERSION, kfd_version) == -ENOTTY);
}

TEST_CASE("contexts") {
  RenderClient client;
  drm_amdgpu_ctx args{};
  args.in.op = AMDGPU_CTX_OP_ALLOC_CTX;
  REQUIRE(client.drm(DRM_IOCTL_AMDGPU_CTX, args) == 0);
  CHECK(args.out.alloc.ctx_id == 1);
  const auto ask = [&](uint32_t op, uint32_t id) {
    drm_amdgpu_ctx request{};
    request.in.op = op;
    request.in.ctx_id = id;
    return client.drm(DRM_IOCTL_AMDGPU_CTX, request);
  };
  CHECK(ask(AMDGPU_CTX_OP_QUERY_STATE2, 1) == 0);
  CHECK(ask(AMDGPU_CTX_OP_QUERY_STATE2, 2) == -EINVAL);
  CHECK(ask(AMDGPU_CTX_OP_FREE_CTX, 1) == 0);
  CHECK(ask(AMDGPU_CTX_OP_FREE_CTX, 1) == -EINVAL);
  CHECK(ask(77, 1) == -EINVAL);
}

TEST_CASE("GEM buffers: create, map, metadata, close") {
  RenderClient client;
  uint32_t handle = 0, hidden = 0;
  CHECK(client.create(4096, 0x40, 0, handle) == -EINVAL);
  CHECK(client.create(4096, AMDGPU_GEM_DOMAIN_VRAM, 1ull << 40, handle) == -EINVAL);
  CHECK(client.create(4096, 1ull << 30, 0, handle) == -EINVAL);
  CHECK(client.create(0, AMDGPU_GEM_DOMAIN_GTT, 0, handle) == -EINVAL);
  REQUIRE(client.create(5000, AMDGPU_GEM_DOMAIN_GTT, 0, handle) == 0);
  REQUIRE(client.create(4096, AMDGPU_GEM_DOMAIN_VRAM, AMDGPU_GEM_CREATE_NO_CPU_ACCESS, hidden) == 0);
  CHECK(handle == 1);
  CHECK(hidden == 2);

  drm_amdgpu_gem_mmap map{};
  map.in.handle = handle;
  REQUIRE(client.drm(DRM_IOCTL_AMDGPU_GEM_MMAP, map) == 0);
  void* cpu = nullptr;
  REQUIRE(client.kernel->mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, client.render, map.out.addr_ptr,
                              &cpu) == 0);
  static_cast<char*>(cpu)[8191] = 7;
  CHECK(client.kernel->mmap(nullptr, 12288, PROT_READ, MAP_SHARED, client.render, map.out.addr_ptr, &cpu) == -EINVAL);
  const int other = client.kernel->open_render(128, 0);
  CHECK(client.kernel->mmap(nullptr, 8192, PROT_READ, MAP_SHARED, other, map.out.addr_ptr, &cpu) == -EINVAL);
  drm_amdgpu_gem_mmap refused{};
  refused.in.handle = hidden;
  CHECK(client.drm(DRM_IOCTL_AMDGPU_GEM_MMAP, refused) == -EPERM);
  refused = {};
  refused.in.handle = 99;
  CHECK(client.drm(DRM_IOCTL_AMDGPU_GEM_MMAP, refused) == -ENOENT);

  drm_amdgpu_gem_metadata metadata{};
  metadata.handle = handle;
  metadata.op = AMDGPU_GEM_METADATA_OP_SET_METADATA;
  metadata.data.tiling_info = 5;
  metadata.data.data_size_bytes = 8;
  metadata.data.data[1] = 42;
  REQUIRE(client.drm(DRM_IOCTL_AMDGPU_GEM_METADATA, metadata) == 0);
  metadata = {};
  metadata.handle = handle;
  metadata.op = AMDGPU_GEM_METADATA_OP_GET_METADATA;
  REQUIRE(client.drm(DRM_IOCTL_AMDGPU_GEM_METADATA, metadata) == 0);
  CHECK(metadata.data.tiling_info == 5);
  CHECK(metadata.data.data_size_bytes == 8);
  CHECK(metadata.data.data[1] == 42);
  metadata.op = AMDGPU_GEM_METADATA_OP_SET_METADATA;
  metadata.data.data_size_bytes = 257;
  CHECK(client.drm(DRM_IOCTL_AMDGPU_GEM_METADATA, metadata) == -EINVAL);

  drm_amdgpu_gem_create_in made{};
  drm_amdgpu_gem_op op{
      .handle = handle, .op = AMDGPU_GEM_OP_GET_GEM_CREATE_INFO, .value = reinterpret_cast<uint64_t>(&made)};
  REQUIRE(client.drm(DRM_IOCTL_AMDGPU_GEM_OP, op) == 0);
  CHECK(made.bo_size == 8192);
  CHECK(made.domains == AMDGPU_GEM_DOMAIN_GTT);

  struct drm_gem_close close_args{handle, 0};
  CHECK(client.drm(DRM_IOCTL_GEM_CLOSE, close_args) == 0);
  CHECK(client.drm(DRM_IOCTL_GEM_CLOSE, close_args) == -EINVAL);
}

TEST_CASE("GEM_VA: the driver's checks, and the page table of the file") {
  RenderClient client("gfx90a+vram=256M+kfd=1.15");
  REQUIRE(client.acquire() == 0);
  uint32_t handle = 0;
  REQUIRE(client.create(16384, AMDGPU_GEM_DOMAIN_VRAM, 0, handle) == 0);
  constexpr uint32_t kMap = AMDGPU_VA_OP_MAP, kUnmap = AMDGPU_VA_OP_UNMAP, kClear = AMDGPU_VA_OP_CLEAR;
  CHECK(client.va(kMap, handle, 0x1000, 4096) == -EINVAL);          // the reserved bottom
  CHECK(client.va(kMap, handle, 0x900000000000, 4096) == -EINVAL);  // the hole
  CHECK(client.va(kMap, handle, kVa + 8, 4096) == -EINVAL);
  CHECK(client.va(kMap, handle, kVa, 0) == -EINVAL);
  CHECK(client.va(kMap, handle, kVa, 32768) == -EINVAL);  // more than the buffer
  CHECK(client.va(kMap, handle, kVa, 4096, 16384) == -EINVAL);
  CHECK(client.va(kMap, handle, kVa, 4096, 0, 1u << 20) == -EINVAL);
  CHECK(client.va(9, handle, kVa, 4096) == -EINVAL);
  CHECK(client.va(kMap, 77, kVa, 4096) == -ENOENT);
  REQUIRE(client.va(kMap, handle, kVa, 8192, 4096) == 0);
  CHECK(client.va(kMap, handle, kVa + 4096, 4096) == -EINVAL);  // overlaps
  CHECK(client.mapping(kVa).size == 8192);
  CHECK(client.mapping(kVa).writable);
  CHECK_FALSE(client.mapping(kVa).executable);
  CHECK(client.va(kUnmap, handle, kVa + 4096, 4096) == -ENOENT);
  CHECK(client.va(kUnmap, handle, kVa, 8192) == 0);
  CHECK(client.mapping(kVa).size == 0);
  REQUIRE(client.va(kMap, handle, kVa, 16384, 0, 2) == 0);
  CHECK_FALSE(client.mapping(kVa).writable);
  REQUIRE(client.va(AMDGPU_VA_OP_REPLACE, handle, kVa, 16384) == 0);
  CHECK(client.mapping(kVa).writable);
  CHECK(client.va(kClear, 0, kVa, 16384) == 0);
  CHECK(client.mapping(kVa).size == 0);
  // A file that is nobody's compute address space has one of its own.
  client.render = client.kernel->open_render(128, 0);
  REQUIRE(client.create(4096, AMDGPU_GEM_DOMAIN_GTT, 0, handle) == 0);
  CHECK(client.va(kMap, handle, kVa, 4096) == 0);
  CHECK(client.mapping(kVa).size == 0);
}

TEST_CASE("memory made by KFD without an address is mapped by the render node") {
  RenderClient client("gfx90a+vram=256M+kfd=1.15");
  REQUIRE(client.acquire() == 0);
  kfd_ioctl_alloc_memory_of_gpu_args memory;
  REQUIRE(client.alloc(0, 8192, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, memory) == 0);
  struct {
    uint64_t handle;
    uint32_t flags, fd;
  } out{memory.handle, O_CLOEXEC, 0};
  REQUIRE(client.call(_IOWR('K', 0x24, uint64_t[2]), out) == 0);
  drm_prime_handle prime{.handle = 0, .flags = 0, .fd = static_cast<int>(out.fd)};
  REQUIRE(client.drm(DRM_IOCTL_PRIME_FD_TO_HANDLE, prime) == 0);
  drm_prime_handle again = prime;
  again.handle = 0;
  REQUIRE(client.drm(DRM_IOCTL_PRIME_FD_TO_HANDLE, again) == 0);
  CHECK(again.handle == prime.handle);
  REQUIRE(client.va(AMDGPU_VA_OP_MAP, prime.handle, kVa, 8192) == 0);
  CHECK(client.mapping(kVa).size == 8192);
  drm_prime_handle back{.handle = prime.handle, .flags = DRM_CLOEXEC | DRM_RDWR, .fd = -1};
  REQUIRE(client.drm(DRM_IOCTL_PRIME_HANDLE_TO_FD, back) == 0);
  CHECK((fcntl(back.fd, F_GETFD) & FD_CLOEXEC) != 0);
  back.flags = 1;
  CHECK(client.drm(DRM_IOCTL_PRIME_HANDLE_TO_FD, back) == -EINVAL);
  prime.fd = client.kfd;
  CHECK(client.drm(DRM_IOCTL_PRIME_FD_TO_HANDLE, prime) == -EINVAL);
  prime.fd = -1;
  CHECK(client.drm(DRM_IOCTL_PRIME_FD_TO_HANDLE, prime) == -EBADF);
  struct drm_gem_close close_args{again.handle, 0};
  REQUIRE(client.drm(DRM_IOCTL_GEM_CLOSE, close_args) == 0);
  CHECK(client.mapping(kVa).size == 0);
}
