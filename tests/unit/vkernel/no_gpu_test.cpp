// What real kernels answered on a machine without a GPU (Linux 6.1.176: KFD 1.11, Linux 6.12.117: KFD 1.17), asked of
// the model. Each row was measured with those kernels in a virtual machine.
#include <fcntl.h>
#include <poll.h>

#include "tests/catch.h"
#include "tests/unit/vkernel/client.h"

namespace {

constexpr int kNotSupported = 524;
constexpr uint64_t kKernelAddress = 0xffff888000000000;
constexpr uint32_t kNoGpu = 0xdead;
alignas(4096) std::byte page[8192];

uint64_t pair(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }
uint64_t at(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

struct Row {
  const char* what;
  unsigned number;
  std::vector<uint64_t> words;  ///< of the request's struct
  int old_error, new_error;     ///< of 1.11 and 1.17
};

uint64_t ring() { return at(page); }

// CREATE_QUEUE that is refused for its GPU alone, with one word changed.
std::vector<uint64_t> queue(size_t index, uint64_t value) {
  std::vector<uint64_t> words = {
      ring(), at(page + 8), at(page + 16), 0, pair(4096, kNoGpu), pair(2, 100), pair(7, 0), 0, 0, 0, 0};
  words[index] = value;
  return words;
}

std::vector<uint64_t> update(uint64_t ring_base, uint32_t bytes, uint32_t percentage, uint32_t priority) {
  return {ring_base, pair(0, bytes), pair(percentage, priority)};
}

std::vector<Row> rows() {
  static uint32_t ids[] = {kNoGpu};
  static const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const uint64_t list = at(ids), place = at(page);
  const auto alloc = [&](uint64_t va, uint64_t bytes, uint64_t user, uint32_t gpu, uint32_t flags) {
    return std::vector<uint64_t>{va, bytes, 0, user, pair(gpu, flags)};
  };
  const auto svm = [](uint64_t start, uint64_t bytes, uint32_t op, uint32_t type) {
    return std::vector<uint64_t>{start, bytes, pair(op, 1), pair(type, 0)};
  };
  const uint32_t ok = 1u << 31 | 1u << 1;
  // clang-format off
  return {
      {"number 0", 0x00, {0, 0}, -ENOTTY, -ENOTTY},
      {"number 0x27", 0x27, {0, 0}, -ENOTTY, -ENOTTY},
      {"number 0x7f", 0x7f, {0, 0}, -ENOTTY, -ENOTTY},
      {"CREATE_QUEUE all zero", 0x02, std::vector<uint64_t>(11), -EINVAL, -EINVAL},
      {"CREATE_QUEUE no such GPU", 0x02, queue(7, 0), -EINVAL, -EINVAL},
      {"CREATE_QUEUE percentage 101", 0x02, queue(5, pair(2, 101)), -EINVAL, -EINVAL},
      {"CREATE_QUEUE priority 16", 0x02, queue(6, pair(16, 0)), -EINVAL, -EINVAL},
      {"CREATE_QUEUE ring in the kernel", 0x02, queue(0, kKernelAddress), -EFAULT, -EFAULT},
      {"CREATE_QUEUE ring misaligned", 0x02, queue(0, ring() + 1), -EINVAL, -EINVAL},
      {"CREATE_QUEUE ring size 1000", 0x02, queue(4, pair(1000, kNoGpu)), -EINVAL, -EINVAL},
      {"CREATE_QUEUE read pointer in the kernel", 0x02, queue(2, kKernelAddress), -EFAULT, -EFAULT},
      {"CREATE_QUEUE write pointer in the kernel", 0x02, queue(1, kKernelAddress), -EFAULT, -EFAULT},
      {"CREATE_QUEUE end-of-pipe buffer in the kernel", 0x02, queue(7, kKernelAddress), -EFAULT, -EFAULT},
      {"CREATE_QUEUE save area in the kernel", 0x02, queue(9, kKernelAddress), -EFAULT, -EFAULT},
      {"CREATE_QUEUE type 99", 0x02, queue(5, pair(99, 100)), -kNotSupported, -kNotSupported},
      {"CREATE_QUEUE type SDMA by engine", 0x02, queue(5, pair(4, 100)), -kNotSupported, -EINVAL},
      {"DESTROY_QUEUE none", 0x03, {0}, -EINVAL, -EINVAL},
      {"SET_MEMORY_POLICY no such GPU", 0x04, {0, 0, pair(kNoGpu, 0), 0}, -EINVAL, -EINVAL},
      {"SET_MEMORY_POLICY policy 2", 0x04, {0, 0, pair(kNoGpu, 2), 0}, -EINVAL, -EINVAL},
      {"GET_CLOCK_COUNTERS no such GPU", 0x05, {0, 0, 0, 0, kNoGpu}, 0, 0},
      {"GET_PROCESS_APERTURES", 0x06, std::vector<uint64_t>(50), 0, 0},
      {"UPDATE_QUEUE none", 0x07, update(ring(), 4096, 100, 7), -EFAULT, -EFAULT},
      {"UPDATE_QUEUE percentage 101", 0x07, update(ring(), 4096, 101, 7), -EINVAL, -EINVAL},
      {"UPDATE_QUEUE priority 16", 0x07, update(ring(), 4096, 100, 16), -EINVAL, -EINVAL},
      {"UPDATE_QUEUE ring size 1000", 0x07, update(ring(), 1000, 100, 7), -EINVAL, -EINVAL},
      {"UPDATE_QUEUE ring in the kernel", 0x07, update(kKernelAddress, 4096, 100, 7), -EFAULT, -EFAULT},
      {"CREATE_EVENT page of a handle that is none", 0x08, {uint64_t{kNoGpu} << 32, pair(0, 0), pair(1, 0), 0}, -EINVAL, -EINVAL},
      {"DESTROY_EVENT none", 0x09, {0x7777}, -EINVAL, -EINVAL},
      {"SET_EVENT none", 0x0a, {0xffffffff}, -EINVAL, -EINVAL},
      {"RESET_EVENT none", 0x0b, {0x7777}, -EINVAL, -EINVAL},
      {"WAIT_EVENTS none", 0x0c, {0, pair(0, 0), pair(0, 0)}, 0, 0},
      {"WAIT_EVENTS without an array", 0x0c, {0, pair(1, 0), 0}, -EFAULT, -EFAULT},
      {"WAIT_EVENTS 0x100000", 0x0c, {place, pair(0x100000, 0), 0}, -ENOMEM, -ENOMEM},
      {"DBG_REGISTER", 0x0d, {kNoGpu}, -EPERM, -EPERM},
      {"DBG_WAVE_CONTROL", 0x10, {0, 0}, -EPERM, -EPERM},
      {"SET_SCRATCH_BACKING_VA no such GPU", 0x11, {0, kNoGpu}, -EINVAL, -EINVAL},
      {"GET_TILE_CONFIG no such GPU", 0x12, {0, 0, 0, kNoGpu, 0}, -EINVAL, -EINVAL},
      {"SET_TRAP_HANDLER no such GPU", 0x13, {0, 0, kNoGpu}, -EINVAL, -EINVAL},
      {"GET_PROCESS_APERTURES_NEW 0", 0x14, {0, 0}, 0, 0},
      {"GET_PROCESS_APERTURES_NEW 8", 0x14, {place, 8}, 0, -EINVAL},
      {"GET_PROCESS_APERTURES_NEW 0xffffffff", 0x14, {place, 0xffffffff}, -ENOMEM, -EINVAL},
      {"GET_PROCESS_APERTURES_NEW 1", 0x14, {kKernelAddress, 1}, 0, 0},
      {"ACQUIRE_VM", 0x15, {pair(static_cast<uint32_t>(null), kNoGpu)}, -EINVAL, -EINVAL},
      {"ALLOC_MEMORY_OF_GPU no such GPU", 0x16, alloc(0x100000000, 4096, 0, kNoGpu, ok), -EINVAL, -EINVAL},
      {"ALLOC_MEMORY_OF_GPU size 0", 0x16, alloc(0x100000000, 0, 0, kNoGpu, ok), -EINVAL, -EINVAL},
      {"FREE_MEMORY_OF_GPU", 0x17, {uint64_t{kNoGpu} << 32 | 1}, -EINVAL, -EINVAL},
      {"MAP_MEMORY_TO_GPU", 0x18, {0, list, pair(1, 0)}, -EINVAL, -EINVAL},
      {"MAP_MEMORY_TO_GPU to none", 0x18, {0, list, pair(0, 0)}, -EINVAL, -EINVAL},
      {"MAP_MEMORY_TO_GPU more done than there are", 0x18, {0, list, pair(1, 2)}, -EINVAL, -EINVAL},
      {"MAP_MEMORY_TO_GPU without a list", 0x18, {0, 0, pair(1, 0)}, -EFAULT, -EFAULT},
      {"MAP_MEMORY_TO_GPU 0xffffffff", 0x18, {0, list, pair(0xffffffff, 0)}, -ENOMEM, -ENOMEM},
      {"UNMAP_MEMORY_FROM_GPU", 0x19, {0, list, pair(1, 0)}, -EINVAL, -EINVAL},
      {"UNMAP_MEMORY_FROM_GPU 0xffffffff", 0x19, {0, list, pair(0xffffffff, 0)}, -ENOMEM, -ENOMEM},
      {"SET_CU_MASK no queue", 0x1a, {pair(0, 32), place}, -EFAULT, -EFAULT},
      {"SET_CU_MASK 0 bits", 0x1a, {pair(0, 0), place}, -EINVAL, -EINVAL},
      {"SET_CU_MASK 33 bits", 0x1a, {pair(0, 33), place}, -EINVAL, -EINVAL},
      {"SET_CU_MASK without a mask", 0x1a, {pair(0, 32), 0}, -EFAULT, -EFAULT},
      {"GET_QUEUE_WAVE_STATE", 0x1b, {place, 0, 0}, -EFAULT, -EFAULT},
      {"GET_DMABUF_INFO", 0x1c, {0, 0, 0, pair(0, 0xffffffff)}, -EINVAL, -EINVAL},
      {"IMPORT_DMABUF of what is none", 0x1d, {0, 0, pair(kNoGpu, static_cast<uint32_t>(null))}, -EINVAL, -EINVAL},
      {"ALLOC_QUEUE_GWS", 0x1e, {pair(0, 1), 0}, -EINVAL, -EINVAL},
      {"SMI_EVENTS", 0x1f, {kNoGpu}, -EINVAL, -EINVAL},
      {"SVM get", 0x20, svm(place, 4096, 1, 5), -EPERM, -EPERM},
      {"SVM set", 0x20, svm(place, 4096, 0, 5), -EPERM, -EPERM},
      {"SVM size 0", 0x20, svm(place, 0, 1, 5), -EPERM, -EPERM},
      {"SVM two attributes in the space of one", 0x20, {place, 4096, pair(1, 2), pair(5, 0)}, -EINVAL, -EINVAL},
      {"SET_XNACK_MODE ask", 0x21, {0xffffffff}, -EPERM, -EPERM},
      {"SET_XNACK_MODE 1", 0x21, {1}, -EPERM, -EPERM},
      {"AVAILABLE_MEMORY", 0x23, {0, kNoGpu}, -EINVAL, -EINVAL},
      {"EXPORT_DMABUF", 0x24, {0, 0}, -ENOTTY, -EINVAL},
      {"RUNTIME_ENABLE 0", 0x25, {0, 0}, -ENOTTY, 0},
      {"RUNTIME_ENABLE 1", 0x25, {place, 1}, -ENOTTY, 0},
      {"RUNTIME_ENABLE 1 again", 0x25, {place, 1}, -ENOTTY, -EBUSY},
      {"RUNTIME_ENABLE 0 again", 0x25, {0, 0}, -ENOTTY, 0},
      {"DBG_TRAP nobody", 0x26, {pair(0, 0), 0, 0, 0}, -ENOTTY, -ESRCH},
      {"DBG_TRAP who is not there", 0x26, {pair(999999, 0), 0, 0, 0}, -ENOTTY, -ESRCH},
      {"DBG_TRAP a process without KFD", 0x26, {pair(1, 0), 0, 0, 0}, -ENOTTY, -ESRCH},
      {"DBG_TRAP before enabling", 0x26, {pair(static_cast<uint32_t>(getpid()), 14), 0, 0, 0}, -ENOTTY, -EINVAL},
      {"DBG_TRAP enable oneself", 0x26, {pair(static_cast<uint32_t>(getpid()), 0), 0, 0, pair(0, static_cast<uint32_t>(null))}, -ENOTTY, 0},
      {"DBG_TRAP disable", 0x26, {pair(static_cast<uint32_t>(getpid()), 1), 0, 0, 0}, -ENOTTY, 0},
      {"DBG_TRAP operation 99", 0x26, {pair(static_cast<uint32_t>(getpid()), 99), 0, 0, 0}, -ENOTTY, -EINVAL},
  };
  // clang-format on
}

unsigned long request(unsigned number, size_t bytes) { return _IOC(_IOC_READ | _IOC_WRITE, 'K', number, bytes); }

}  // namespace

TEST_CASE("errnos of Linux 6.1 and 6.12") {
  for (const bool newer : {false, true}) {
    Client client(newer ? "none+kfd=1.17" : "none+kfd=1.11");
    for (const Row& row : rows()) {
      INFO((newer ? "1.17 " : "1.11 ") << row.what);
      std::vector<uint64_t> words = row.words;
      const int error = client.kernel->ioctl(client.kfd, request(row.number, words.size() * 8), words.data());
      CHECK(error == (newer ? row.new_error : row.old_error));
    }
    CHECK(client.kernel->machine().log.defaults().empty());
  }
}

TEST_CASE("no argument struct") {
  Client older("none+kfd=1.11"), newer("none+kfd=1.17");
  const bool may_checkpoint = geteuid() == 0;  // the capability, on machines where root has it
  for (unsigned number = 1; number <= 0x26; ++number) {
    INFO(number);
    constexpr unsigned kCriu = 0x22;
    if (number == kCriu && !may_checkpoint) continue;
    CHECK(older.kernel->ioctl(older.kfd, request(number, 8), nullptr) == (number >= 0x24 ? -ENOTTY : -EFAULT));
    CHECK(newer.kernel->ioctl(newer.kfd, request(number, 8), nullptr) == -EFAULT);
  }
}

TEST_CASE("sizes, directions and letters of the command do not matter") {
  Client client("none+kfd=1.17");
  uint32_t words[4] = {0xaaaaaaaa, 0xaaaaaaaa, 0xaaaaaaaa, 0xaaaaaaaa};
  CHECK(client.kernel->ioctl(client.kfd, _IO('K', 1), words) == 0);
  CHECK(words[0] == 0xaaaaaaaa);
  CHECK(client.kernel->ioctl(client.kfd, _IOC(_IOC_READ, 'K', 1, 4), words) == 0);
  CHECK(words[0] == 1);
  CHECK(words[1] == 0xaaaaaaaa);
  CHECK(client.kernel->ioctl(client.kfd, _IOC(_IOC_WRITE, 'X', 1, 8), words) == 0);
  CHECK(words[1] == 17);
}

TEST_CASE("before 1.11 an unknown request is an invalid argument") {
  Client client("none+kfd=1.8");
  uint64_t words[8] = {};
  CHECK(client.kernel->ioctl(client.kfd, request(0x7f, 64), words) == -EINVAL);
  CHECK(client.kernel->ioctl(client.kfd, request(0x23, 16), words) == -EINVAL);
}

TEST_CASE("mappings of /dev/kfd on a machine without a GPU") {
  Client client("none+kfd=1.17");
  void* out = nullptr;
  const auto map = [&](int fd, uint64_t offset, size_t bytes, int prot, int flags) {
    return client.kernel->mmap(nullptr, bytes, prot, flags, fd, offset, &out);
  };
  constexpr uint64_t kEvents = 2ull << 62, kDoorbells = 3ull << 62, kReserved = 1ull << 62;
  constexpr size_t kPage = 32768;
  const auto all = PROT_READ | PROT_WRITE;
  CHECK(map(client.kfd, kEvents, kPage, all, MAP_SHARED) == -EINVAL);  // before any event
  kfd_ioctl_create_event_args event{};
  REQUIRE(client.call(AMDKFD_IOC_CREATE_EVENT, event) == 0);
  CHECK(map(client.kfd, 0, 4096, all, MAP_SHARED) == -ENODEV);
  CHECK(map(client.kfd, kReserved, 4096, all, MAP_SHARED) == -ENODEV);
  CHECK(map(client.kfd, kDoorbells, 8192, all, MAP_SHARED) == -ENODEV);
  CHECK(map(client.kfd, kEvents, 65536, all, MAP_SHARED) == -EINVAL);
  CHECK(map(client.kfd, kEvents, 0, all, MAP_SHARED) == -EINVAL);
  CHECK(map(client.kfd, kEvents, kPage, all | PROT_EXEC, MAP_SHARED) == 0);
  CHECK(map(client.kfd, kEvents, kPage, all, MAP_PRIVATE) == 0);
  CHECK(map(client.kfd, kEvents | uint64_t{0xdead} << 46, kPage, PROT_READ, MAP_SHARED) == 0);
  CHECK(*static_cast<uint64_t*>(out) == ~0ull);
  const int read_only = client.kernel->open_kfd(O_RDONLY);
  CHECK(map(read_only, kEvents, kPage, all, MAP_SHARED) == -EACCES);
  CHECK(map(read_only, kEvents, kPage, PROT_READ, MAP_SHARED) == 0);
  CHECK(client.kernel->open_kfd(O_RDONLY | O_DIRECTORY) == -ENOTDIR);
  pollfd poll_kfd{client.kfd, POLLIN | POLLOUT, 0};
  CHECK(poll(&poll_kfd, 1, 0) == 1);
  CHECK(poll_kfd.revents == (POLLIN | POLLOUT));
}

TEST_CASE("ages of events decide from 1.14 on") {
  for (const bool newer : {false, true}) {
    Client client(newer ? "none+kfd=1.17" : "none+kfd=1.11");
    kfd_ioctl_create_event_args event{};
    REQUIRE(client.call(AMDKFD_IOC_CREATE_EVENT, event) == 0);
    uint64_t data[6] = {2, 0, 0, 0, 0, event.event_id};  // an age that the event does not have
    kfd_ioctl_wait_events_args wait{
        .events_ptr = at(data), .num_events = 1, .wait_for_all = 0, .timeout = 0, .wait_result = 9};
    REQUIRE(client.call(AMDKFD_IOC_WAIT_EVENTS, wait) == 0);
    CHECK(wait.wait_result == (newer ? 0 : 1));
    CHECK(data[0] == (newer ? 1 : 2));
  }
}
