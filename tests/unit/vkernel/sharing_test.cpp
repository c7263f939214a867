// What several clients share: VRAM and its accounting, dma-bufs, shared virtual memory with the CPU.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.h"
#include "tests/unit/vkernel/client.h"

namespace {

constexpr uint32_t kVram = KFD_IOC_ALLOC_MEM_FLAGS_VRAM, kGtt = KFD_IOC_ALLOC_MEM_FLAGS_GTT;
constexpr uint64_t kVa = 0x100000000;
constexpr unsigned long kExport = _IOWR('K', 0x24, uint64_t[2]);

uint64_t available(Client& client) {
  kfd_ioctl_get_available_memory_args args{.available = 0, .gpu_id = client.gpu_id(), .pad = 0};
  REQUIRE(client.call(AMDKFD_IOC_AVAILABLE_MEMORY, args) == 0);
  return args.available;
}

int export_buffer(Client& client, uint64_t handle, uint32_t flags = O_CLOEXEC) {
  struct {
    uint64_t handle;
    uint32_t flags, fd;
  } args{handle, flags, 0};
  const int error = client.call(kExport, args);
  return error != 0 ? error : static_cast<int>(args.fd);
}

int import_buffer(Client& client, int fd, uint64_t va, uint64_t& handle) {
  kfd_ioctl_import_dmabuf_args args{
      .va_addr = va, .handle = 0, .gpu_id = client.gpu_id(), .dmabuf_fd = static_cast<uint32_t>(fd)};
  const int error = client.call(AMDKFD_IOC_IMPORT_DMABUF, args);
  handle = args.handle;
  return error;
}

void send_fd(int socket, int fd) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{&byte, 1};
  msghdr message{.msg_name = nullptr,
                 .msg_namelen = 0,
                 .msg_iov = &part,
                 .msg_iovlen = 1,
                 .msg_control = control,
                 .msg_controllen = sizeof control,
                 .msg_flags = 0};
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  (void)!sendmsg(socket, &message, 0);
}

int receive_fd(int socket) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{&byte, 1};
  msghdr message{.msg_name = nullptr,
                 .msg_namelen = 0,
                 .msg_iov = &part,
                 .msg_iovlen = 1,
                 .msg_control = control,
                 .msg_controllen = sizeof control,
                 .msg_flags = 0};
  if (recvmsg(socket, &message, 0) != 1 || CMSG_FIRSTHDR(&message) == nullptr) return -1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

struct Child {
  pid_t pid = 0;
  int socket = -1;  ///< to the child
  ~Child() { end(); }
  void end() {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = 0;
  }
};

/// A process on the same machine: it runs `work` with its end of a socket, then waits to be killed.
template <class Work>
Child other_process(Client& client, Work work) {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    client.kfd = client.kernel->open_kfd(O_RDWR);
    client.render = client.kernel->open_render(128, 0);
    if (client.acquire() != 0) _exit(1);
    work(ends[1]);
    while (true) pause();
  }
  close(ends[1]);
  return {pid, ends[0]};
}

}  // namespace

TEST_CASE("processes share VRAM, and what a dead one held comes back") {
  Client client;
  REQUIRE(client.acquire() == 0);
  CHECK(available(client) == 256u << 20);
  Child other = other_process(client, [&](int socket) {
    kfd_ioctl_alloc_memory_of_gpu_args args;
    const char done = client.alloc(kVa, 100u << 20, kVram, args) == 0 ? 'y' : 'n';
    (void)!write(socket, &done, 1);
  });
  char done = 0;
  REQUIRE(read(other.socket, &done, 1) == 1);
  REQUIRE(done == 'y');
  CHECK(available(client) == 156u << 20);
  kfd_ioctl_alloc_memory_of_gpu_args args;
  CHECK(client.alloc(kVa, 200u << 20, kVram, args) == -ENOMEM);
  other.end();
  CHECK(client.alloc(kVa, 200u << 20, kVram, args) == 0);
  CHECK(available(client) == 56u << 20);
}

TEST_CASE("a dma-buf carries memory to another process and outlives who made it") {
  for (const uint32_t type : {kVram | uint32_t{KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC}, kGtt}) {
    Client client;
    REQUIRE(client.acquire() == 0);
    const uint64_t before = available(client);
    Child other = other_process(client, [&](int socket) {
      auto buffer = client.buffer(4u << 20, type);
      std::memset(buffer.cpu, 0x5a, buffer.bytes);
      send_fd(socket, export_buffer(client, buffer.handle));
    });
    const int fd = receive_fd(other.socket);
    REQUIRE(fd >= 0);
    other.end();

    kfd_ioctl_get_dmabuf_info_args info{};
    info.dmabuf_fd = static_cast<uint32_t>(fd);
    REQUIRE(client.call(AMDKFD_IOC_GET_DMABUF_INFO, info) == 0);
    CHECK(info.size == 4u << 20);
    CHECK(info.gpu_id == client.gpu_id());
    CHECK((info.flags & (kVram | kGtt)) == (type & (kVram | kGtt)));
    CHECK(((info.flags & KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC) != 0) == ((type & kVram) != 0));
    CHECK(lseek(fd, 0, SEEK_END) == 4 << 20);

    uint64_t handle = 0;
    REQUIRE(import_buffer(client, fd, kVa, handle) == 0);
    REQUIRE(client.map(handle) == 0);
    close(fd);
    const vgpu::Mapping mapping = client.kernel->machine().gpus.empty() ? vgpu::Mapping{} : client.mapping(kVa);
    REQUIRE(mapping.size == 4u << 20);
    CHECK(mapping.host[(4u << 20) - 1] == std::byte{0x5a});
    if ((type & kVram) != 0) CHECK(available(client) == before - (4u << 20));
    CHECK(client.unmap(handle) == 0);
    CHECK(client.free(handle) == 0);
    CHECK(available(client) == before);
  }
}

TEST_CASE("what is no buffer of this machine is no dma-buf") {
  Client client;
  REQUIRE(client.acquire() == 0);
  static char page[4096];
  uint64_t handle = 0;
  CHECK(import_buffer(client, -1, kVa, handle) == -EBADF);
  CHECK(import_buffer(client, client.kfd, kVa, handle) == -EINVAL);
  kfd_ioctl_alloc_memory_of_gpu_args user, doorbells;
  REQUIRE(client.alloc(kVa, 4096, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, user, reinterpret_cast<uint64_t>(page)) == 0);
  REQUIRE(client.alloc(kVa, 8192, KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL, doorbells) == 0);
  CHECK(export_buffer(client, user.handle) == -EPERM);
  CHECK(export_buffer(client, doorbells.handle) == -EINVAL);
  CHECK(export_buffer(client, user.handle + 77) == -EINVAL);

  auto buffer = client.buffer(8192, kGtt);
  const int kept = export_buffer(client, buffer.handle), passed = export_buffer(client, buffer.handle, 0);
  CHECK((fcntl(kept, F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((fcntl(passed, F_GETFD) & FD_CLOEXEC) == 0);
  // The descriptor keeps the pages when the buffer itself is gone.
  buffer.cpu[0] = std::byte{0x17};
  REQUIRE(client.unmap(buffer.handle) == 0);
  REQUIRE(client.free(buffer.handle) == 0);
  REQUIRE(import_buffer(client, kept, kVa, handle) == 0);
  REQUIRE(client.map(handle) == 0);
  CHECK(client.mapping(kVa).host[0] == std::byte{0x17});
  close(kept);
  close(passed);
}

// ---- shared virtual memory -------------------------------------------------------------------------------------

namespace {

struct SvmClient : Client {
  SvmClient() : Client("gfx90a+vram=256M+svm=on") {
    if (acquire() != 0) throw std::runtime_error("acquire");
    // The page behind it cannot be touched.
    memory = static_cast<char*>(reserve(kBytes + 4096));
    mprotect(memory, kBytes, PROT_READ | PROT_WRITE);
  }
  ~SvmClient() {
    kernel->forget_range(memory, kBytes);
    munmap(memory, kBytes + 4096);
  }
  struct Attribute {
    uint32_t type, value;
  };
  int svm(uint32_t op, uint64_t start, uint64_t bytes, std::vector<Attribute>& attributes) {
    std::vector<uint64_t> words = {start, bytes, op | uint64_t{attributes.size()} << 32};
    for (const Attribute& each : attributes) words.push_back(each.type | uint64_t{each.value} << 32);
    const int error = kernel->ioctl(kfd, _IOC(_IOC_READ | _IOC_WRITE, 'K', 0x20, words.size() * 8), words.data());
    for (size_t i = 0; i < attributes.size(); ++i)
      attributes[i] = {static_cast<uint32_t>(words[3 + i]), static_cast<uint32_t>(words[3 + i] >> 32)};
    return error;
  }
  int set(uint64_t offset, uint64_t bytes, std::vector<Attribute> attributes) {
    return svm(0, at(offset), bytes, attributes);
  }
  uint64_t at(uint64_t offset) const { return reinterpret_cast<uint64_t>(memory) + offset; }

  static constexpr size_t kBytes = 1 << 20;
  char* memory = nullptr;
};

}  // namespace

TEST_CASE("SVM: what may be asked for") {
  SvmClient client;
  const uint32_t gpu = client.gpu_id();
  CHECK(client.set(8, 4096, {{5, 1}}) == -EINVAL);
  CHECK(client.set(0, 100, {{5, 1}}) == -EINVAL);
  CHECK(client.set(0, 0, {{5, 1}}) == -EINVAL);
  CHECK(client.set(0, 4096, {{8, 1}}) == -EINVAL);
  CHECK(client.set(0, 4096, {{2, 77}}) == -EINVAL);
  CHECK(client.set(0, 4096, {{0, 77}}) == -EINVAL);
  CHECK(client.set(0, 4096, {{1, 0xffffffff}}) == -EINVAL);
  CHECK(client.set(0, 4096, {{0, 0xffffffff}, {1, 0}, {7, 200}}) == 0);
  CHECK(client.set(SvmClient::kBytes, 4096, {{2, gpu}}) == -EFAULT);
  std::vector<SvmClient::Attribute> op{{5, 0}};
  CHECK(client.svm(2, client.at(0), 4096, op) == -EINVAL);
  std::vector<SvmClient::Attribute> nowhere{{5, 0}};
  CHECK(client.svm(1, 0x10000, 4096, nowhere) == -EFAULT);

  auto buffer = client.buffer(8192, kGtt);
  std::vector<SvmClient::Attribute> over{{5, 1}};
  CHECK(client.svm(0, buffer.va, 4096, over) == -EADDRINUSE);
  kfd_ioctl_alloc_memory_of_gpu_args args;
  CHECK(client.alloc(client.at(0), 4096, kVram, args) == -EADDRINUSE);
  CHECK(client.alloc(kVa, 4096, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, args, client.at(0)) == -EADDRINUSE);
}

TEST_CASE("SVM: access maps user memory at its own address, and ranges split") {
  SvmClient client;
  const uint32_t gpu = client.gpu_id();
  REQUIRE(client.set(0, 65536, {{3, gpu}}) == 0);
  CHECK(client.mapping(client.at(0)).size == 65536);
  CHECK(client.mapping(client.at(0)).host == reinterpret_cast<std::byte*>(client.memory));
  CHECK(client.mapping(client.at(0)).writable);
  CHECK_FALSE(client.mapping(client.at(0)).executable);
  REQUIRE(client.set(16384, 16384, {{4, gpu}}) == 0);
  CHECK(client.mapping(client.at(0)).size == 16384);
  CHECK(client.mapping(client.at(16384)).size == 0);
  CHECK(client.mapping(client.at(32768)).size == 32768);
  REQUIRE(client.set(32768, 4096, {{5, 8 | 0x10}}) == 0);
  CHECK_FALSE(client.mapping(client.at(32768)).writable);
  CHECK(client.mapping(client.at(32768)).executable);
  CHECK(client.mapping(client.at(36864)).writable);
  client.kernel->forget_range(client.memory, 8192);  // as munmap does
  CHECK(client.mapping(client.at(0)).size == 0);
  CHECK(client.mapping(client.at(8192)).size == 8192);
}

TEST_CASE("SVM: GET tells what the ranges agree on") {
  SvmClient client;
  const uint32_t gpu = client.gpu_id();
  const auto get = [&](uint64_t offset, uint64_t bytes) {
    std::vector<SvmClient::Attribute> all{{0, 0}, {1, 0}, {2, gpu}, {5, 0}, {6, 0}, {7, 0}};
    REQUIRE(client.svm(1, client.at(offset), bytes, all) == 0);
    return all;
  };
  auto fresh = get(0, 4096);
  CHECK(fresh[0].value == 0xffffffff);
  CHECK(fresh[2].type == 4);
  CHECK(fresh[3].value == 3);
  CHECK(fresh[4].value == ~3u);
  CHECK(fresh[5].value == 9);
  REQUIRE(client.set(0, 8192, {{0, 0}, {1, gpu}, {2, gpu}, {7, 4}, {6, 2}}) == 0);
  REQUIRE(client.set(8192, 8192, {{0, gpu}, {1, gpu}, {3, gpu}, {7, 6}, {5, 0x20}}) == 0);
  auto one = get(0, 8192);
  CHECK(one[0].value == 0);
  CHECK(one[2].type == 2);
  CHECK(one[3].value == 1);
  auto both = get(0, 16384);
  CHECK(both[0].value == 0xffffffff);
  CHECK(both[1].value == gpu);
  CHECK(both[2].type == 4);
  CHECK(both[3].value == 1);
  CHECK(both[4].value == ~0x23u);
  CHECK(both[5].value == 4);
}

TEST_CASE("XNACK: off on a chip that could, and never on one that cannot") {
  for (const char* spec : {"gfx90a+svm=on", "gfx1100+svm=on"}) {
    Client client(spec);
    const auto ask = [&](int32_t mode) {
      const int error = client.call(AMDKFD_IOC_SET_XNACK_MODE, mode);
      return std::pair(error, mode);
    };
    CHECK(ask(-1) == std::pair(0, 0));
    CHECK(ask(0).first == 0);
    CHECK(ask(1).first == -EPERM);
    CHECK(client.kernel->machine().log.defaults().size() == (spec[3] == '9' ? 1 : 0));
  }
}

TEST_CASE("SMI events: a mask goes in, lines come out, and an empty stream does not block") {
  Client client;
  kfd_ioctl_smi_events_args args{.gpuid = client.gpu_id(), .anon_fd = 0};
  REQUIRE(client.call(AMDKFD_IOC_SMI_EVENTS, args) == 0);
  const int fd = static_cast<int>(args.anon_fd);
  char line[64] = {};
  CHECK(read(fd, line, sizeof line) == -1);
  CHECK(errno == EAGAIN);
  const uint64_t mask = 1;  // VM faults
  REQUIRE(write(fd, &mask, sizeof mask) == sizeof mask);
  vgpu::SmiStreams& streams = client.smi();
  streams.raise(vgpu::SmiEvent::kGpuPreReset, "1");
  streams.raise(vgpu::SmiEvent::kVmFault, "4d2:program");
  REQUIRE(read(fd, line, sizeof line - 1) > 0);
  CHECK(std::string(line) == "1 4d2:program\n");
  close(fd);
}
