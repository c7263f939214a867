#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.h"
#include "tests/unit/vkernel/client.h"

namespace {
constexpr uint32_t kVram = KFD_IOC_ALLOC_MEM_FLAGS_VRAM, kGtt = KFD_IOC_ALLOC_MEM_FLAGS_GTT;
constexpr uint32_t kUserptr = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, kWritable = KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE;
constexpr uint64_t kVa = 0x100000000;
}  // namespace

TEST_CASE("version and apertures") {
  Client client;
  kfd_ioctl_get_version_args version{};
  REQUIRE(client.call(AMDKFD_IOC_GET_VERSION, version) == 0);
  CHECK(version.major_version == 1);
  CHECK(version.minor_version == 14);

  kfd_process_device_apertures apertures[2] = {};
  kfd_ioctl_get_process_apertures_new_args args{reinterpret_cast<uint64_t>(apertures), 2, 0};
  REQUIRE(client.call(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, args) == 0);
  CHECK(args.num_of_nodes == 1);
  CHECK(apertures[0].gpu_id == client.gpu_id());
  CHECK(apertures[0].lds_base == 0x1000000000000);
  CHECK(apertures[0].scratch_base == 0x2000000000000);
  CHECK(apertures[0].gpuvm_limit == 0x7fffffffffff);

  args = {reinterpret_cast<uint64_t>(apertures), 3, 0};
  CHECK(client.call(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, args) == -EINVAL);
  args = {0, 0, 0};
  CHECK(client.call(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, args) == 0);
  CHECK(args.num_of_nodes == 1);
  args = {8, 1, 0};
  CHECK(client.call(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, args) == -EFAULT);
}

TEST_CASE("unknown requests, bad pointers, bad descriptors") {
  Client client;
  uint64_t words[8] = {};
  CHECK(client.call(_IOWR('K', 0x82, uint64_t[5]), words) == -ENOTTY);
  CHECK(client.call(_IOWR('K', 0x00, uint64_t), words) == -ENOTTY);
  CHECK(client.call(_IOWR('K', 0x7f, uint64_t), words) == -ENOTTY);
  CHECK(client.kernel->ioctl(client.kfd, AMDKFD_IOC_GET_VERSION, reinterpret_cast<void*>(16)) == -EFAULT);
  CHECK(client.kernel->ioctl(client.kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, nullptr) == -EFAULT);
  CHECK(client.kernel->ioctl(0, AMDKFD_IOC_GET_VERSION, words) == -EBADF);
  CHECK(client.kernel->close(0) == -EBADF);
  CHECK(client.kernel->open_render(129, 0) == -ENOENT);
  CHECK(client.kernel->machine().log.defaults().empty());
}

TEST_CASE("a request newer than the version reported is unknown") {
  Client client("gfx90a+kfd=1.12");
  uint64_t words[8] = {};
  CHECK(client.call(_IOWR('K', 0x25, uint64_t[2]), words) == -ENOTTY);
  Client newer("gfx90a+kfd=1.13");
  CHECK(newer.call(_IOWR('K', 0x25, uint64_t[2]), words) == 0);
}

TEST_CASE("ACQUIRE_VM binds one open file of the right GPU") {
  Client client("gfx90a,gfx1100");
  auto acquire = [&](int fd, uint32_t id) {
    kfd_ioctl_acquire_vm_args args{static_cast<uint32_t>(fd), id};
    return client.call(AMDKFD_IOC_ACQUIRE_VM, args);
  };
  CHECK(acquire(client.kfd, client.gpu_id(0)) == -EINVAL);
  CHECK(acquire(-1, client.gpu_id(0)) == -EINVAL);
  CHECK(acquire(client.render, 1) == -EINVAL);
  CHECK(acquire(client.render, client.gpu_id(1)) == -EINVAL);
  CHECK(acquire(client.render, client.gpu_id(0)) == 0);
  CHECK(acquire(client.render, client.gpu_id(0)) == 0);
  const int other = client.kernel->open_render(128, 0);
  CHECK(acquire(other, client.gpu_id(0)) == -EBUSY);
  const int copy = dup(client.render);
  client.kernel->adopt_duplicate(client.render, copy);
  CHECK(acquire(copy, client.gpu_id(0)) == 0);
}

TEST_CASE("ALLOC_MEMORY_OF_GPU refuses what the driver refuses") {
  struct Row {
    const char* what;
    uint64_t size;
    uint32_t flags;
    uint64_t user;
    int error;
  };
  static char page[4096];
  const auto user = reinterpret_cast<uint64_t>(page);
  const Row rows[] = {
      {"no size", 0, kVram, 0, -EINVAL},
      {"no type", 4096, kWritable, 0, -EINVAL},
      {"user memory without address", 4096, kUserptr, 0, -EINVAL},
      {"user memory that is not there", 4096, kUserptr, 0x1000, -EFAULT},
      {"doorbells of another size", 4096, KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL, 0, -EINVAL},
      {"remap page of another size", 8192, KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP, 0, -EINVAL},
      {"more VRAM than there is", 257ull << 20, kVram, 0, -ENOMEM},
      {"more system memory than there is", 1ull << 50, kGtt, 0, -ENOMEM},
      {"VRAM", 4096, kVram, 0, 0},
      {"VRAM that the CPU sees", 4096, kVram | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC, 0, 0},
      {"GTT", 4096, kGtt, 0, 0},
      {"user memory", 4096, kUserptr, user, 0},
      {"doorbells", 8192, KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL, 0, 0},
      {"remap page", 4096, KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP, 0, 0},
  };
  Client client;
  kfd_ioctl_alloc_memory_of_gpu_args args;
  CHECK(client.alloc(kVa, 4096, kVram, args) == -ENODEV);
  REQUIRE(client.acquire() == 0);
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(client.alloc(kVa, row.size, row.flags, args, row.user) == row.error);
  }
}

TEST_CASE("handles name the GPU and the lowest free number") {
  Client client;
  REQUIRE(client.acquire() == 0);
  kfd_ioctl_alloc_memory_of_gpu_args first, second, third;
  REQUIRE(client.alloc(kVa, 4096, kVram, first) == 0);
  REQUIRE(client.alloc(kVa, 4096, kVram, second) == 0);
  CHECK(first.handle == uint64_t{client.gpu_id()} << 32);
  CHECK(second.handle == first.handle + 1);
  CHECK(client.free(first.handle) == 0);
  CHECK(client.free(first.handle) == -EINVAL);
  REQUIRE(client.alloc(kVa, 4096, kVram, third) == 0);
  CHECK(third.handle == first.handle);
}

TEST_CASE("MAP and UNMAP: errors, order, what stays") {
  Client client;
  REQUIRE(client.acquire() == 0);
  kfd_ioctl_alloc_memory_of_gpu_args args, other, unaligned, nowhere;
  REQUIRE(client.alloc(kVa, 8192, kVram, args) == 0);
  REQUIRE(client.alloc(kVa + 4096, 8192, kGtt, other) == 0);
  REQUIRE(client.alloc(kVa + 8, 4096, kGtt, unaligned) == 0);
  REQUIRE(client.alloc(0, 4096, kGtt, nowhere) == 0);
  uint32_t ids[2] = {client.gpu_id(), 77};
  const auto devices = reinterpret_cast<uint64_t>(ids);
  auto map = [&](uint64_t handle, uint64_t pointer, uint32_t count, uint32_t done) {
    kfd_ioctl_map_memory_to_gpu_args request{handle, pointer, count, done};
    const int error = client.call(AMDKFD_IOC_MAP_MEMORY_TO_GPU, request);
    return std::pair(error, request.n_success);
  };
  CHECK(map(args.handle, devices, 0, 0).first == -EINVAL);
  CHECK(map(args.handle, devices, 1, 2).first == -EINVAL);
  CHECK(map(args.handle, 8, 1, 0).first == -EFAULT);
  CHECK(map(args.handle + 100, devices, 1, 0).first == -ENOMEM);
  CHECK(map(args.handle, devices, 2, 0) == std::pair(-EINVAL, 1u));
  CHECK(map(args.handle, devices, 1, 0) == std::pair(0, 1u));  // already mapped
  CHECK(map(other.handle, devices, 1, 0).first == -EINVAL);    // overlaps
  CHECK(map(unaligned.handle, devices, 1, 0).first == -EINVAL);
  CHECK(map(nowhere.handle, devices, 1, 0).first == -EINVAL);
  CHECK(client.free(args.handle) == -EBUSY);
  CHECK(client.unmap(args.handle) == 0);
  CHECK(client.unmap(args.handle) == -EINVAL);
  CHECK(client.unmap(args.handle + 100) == -ENOMEM);
  CHECK(client.free(args.handle) == 0);
}

TEST_CASE("both sides see one memory, and freed memory comes back zeroed") {
  Client client;
  REQUIRE(client.acquire() == 0);
  for (const uint32_t type : {kVram | uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC}, kGtt}) {
    auto buffer = client.buffer(1 << 20, type);
    REQUIRE(buffer.cpu != nullptr);
    CHECK(buffer.cpu[5] == std::byte{0});
    std::memset(buffer.cpu, 0x5a, buffer.bytes);
    REQUIRE(client.unmap(buffer.handle) == 0);
    REQUIRE(client.free(buffer.handle) == 0);
    auto again = client.buffer(1 << 20, type);
    REQUIRE(again.cpu != nullptr);
    CHECK(again.cpu[5] == std::byte{0});
  }
}

TEST_CASE("mapping rules of the render node") {
  Client client;
  REQUIRE(client.acquire() == 0);
  kfd_ioctl_alloc_memory_of_gpu_args vram, user;
  static char page[4096];
  REQUIRE(client.alloc(kVa, 8192, kVram, vram) == 0);
  REQUIRE(client.alloc(kVa, 4096, kUserptr, user, reinterpret_cast<uint64_t>(page)) == 0);
  void* out = nullptr;
  auto map = [&](int fd, size_t bytes, int prot, int flags, uint64_t offset) {
    return client.kernel->mmap(nullptr, bytes, prot, flags, fd, offset, &out);
  };
  CHECK(map(client.render, 4096, PROT_NONE, MAP_SHARED, vram.mmap_offset + 4096) == -EINVAL);
  CHECK(map(client.render, 12288, PROT_NONE, MAP_SHARED, vram.mmap_offset) == -EINVAL);
  CHECK(map(client.render, 8192, PROT_READ, MAP_PRIVATE, vram.mmap_offset) == -EINVAL);
  CHECK(map(client.render, 4096, PROT_READ, MAP_SHARED, user.mmap_offset) == -EPERM);
  const int other = client.kernel->open_render(128, 0);
  CHECK(map(other, 8192, PROT_READ, MAP_SHARED, vram.mmap_offset) == -EACCES);
  CHECK(out == nullptr);
  CHECK(map(client.render, 8192, PROT_NONE, MAP_PRIVATE, vram.mmap_offset) == 0);
  CHECK(map(client.render, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, vram.mmap_offset) == 0);
}

TEST_CASE("free VRAM is told in whole 2 MiB") {
  Client client;
  REQUIRE(client.acquire() == 0);
  auto available = [&] {
    kfd_ioctl_get_available_memory_args args{.available = 0, .gpu_id = client.gpu_id(), .pad = 0};
    REQUIRE(client.call(AMDKFD_IOC_AVAILABLE_MEMORY, args) == 0);
    return args.available;
  };
  CHECK(available() == 256u << 20);
  kfd_ioctl_alloc_memory_of_gpu_args args;
  REQUIRE(client.alloc(kVa, 4096, kVram, args) == 0);
  CHECK(available() == 254u << 20);
  REQUIRE(client.alloc(kVa, 255u << 20, kVram, args) == 0);
  CHECK(available() == 0);
  CHECK(client.alloc(kVa, 1u << 20, kVram, args) == -ENOMEM);
}

TEST_CASE("a forked child cannot use its parent's descriptor, and can open its own") {
  Client client;
  REQUIRE(client.acquire() == 0);
  const pid_t child = fork();
  if (child == 0) {
    kfd_ioctl_get_version_args version{};
    if (client.call(AMDKFD_IOC_GET_VERSION, version) != -EBADF) _exit(1);
    client.kfd = client.kernel->open_kfd(O_RDWR);
    client.render = client.kernel->open_render(128, 0);
    if (client.call(AMDKFD_IOC_GET_VERSION, version) != 0) _exit(2);
    if (client.acquire() != 0) _exit(3);
    _exit(client.buffer(4096, kGtt).cpu == nullptr ? 4 : 0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("small BAR: public VRAM is refused and other VRAM cannot be touched") {
  Client client("gfx90a+vram=256M+hostile=1:small_bar");
  REQUIRE(client.acquire() == 0);
  kfd_ioctl_alloc_memory_of_gpu_args args;
  CHECK(client.alloc(kVa, 4096, kVram | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC, args) == -EINVAL);
  REQUIRE(client.alloc(kVa, 4096, kVram, args) == 0);
  void* out = nullptr;
  REQUIRE(client.kernel->mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, client.render, args.mmap_offset,
                              &out) == 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGBUS, SIG_DFL);
    *static_cast<volatile char*>(out) = 1;
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGBUS);
}

TEST_CASE("no MMIO remap page") {
  Client client("gfx90a+hostile=1:no_mmio_remap");
  REQUIRE(client.acquire() == 0);
  kfd_ioctl_alloc_memory_of_gpu_args args;
  CHECK(client.alloc(kVa, 4096, KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP, args) == -ENOMEM);
}

TEST_CASE("the MMIO remap page is mapped through /dev/kfd") {
  Client client;
  REQUIRE(client.acquire() == 0);
  kfd_ioctl_alloc_memory_of_gpu_args args;
  REQUIRE(client.alloc(kVa, 4096, KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP, args) == 0);
  void* out = nullptr;
  CHECK(client.kernel->mmap(nullptr, 8192, PROT_WRITE, MAP_SHARED, client.kfd, args.mmap_offset, &out) == -EINVAL);
  REQUIRE(client.kernel->mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, client.kfd, args.mmap_offset, &out) == 0);
  *static_cast<volatile uint32_t*>(out) = 1;
}
