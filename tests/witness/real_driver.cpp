// Runs inside a guest whose kernel has the real amdgpu driver and no GPU (boot_kfd): what our client code does there.
// Every check is one line; the exit status is the number of checks that failed.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <barehip/device.h>

#include "kfd/client.h"
#include "kfd/os_linux.h"
#include "kfd/topology.h"

namespace kfd = barehip::kfd;
namespace uapi = barehip::kfd::uapi;

namespace {

int failures = 0;

void check(bool good, const char* what, const std::string& seen) {
  std::printf("%s %s: %s\n", good ? "ok  " : "FAIL", what, seen.c_str());
  if (!good) ++failures;
}

const barehip_os_table& os() { return *kfd::os_linux(); }
int open_kfd() { return os().open(os().self, "/dev/kfd", O_RDWR); }

// The open path of the library: a driver without a GPU is "no device", whichever way the kernel says so.
void check_open() {
  auto system = barehip::System::open(os());
  check(!system && system.error().code == barehip::ErrorCode::kNoDevice, "System::open says that there is no GPU",
        system ? "it opened" : system.error().text);
}

void check_version(const kfd::Client& client) {
  uapi::get_version_args version{};
  const int rc = client.get_version(version);
  check(rc == 0 && version.major_version == 1 && version.minor_version >= 6, "GET_VERSION",
        std::to_string(version.major_version) + "." + std::to_string(version.minor_version));
}

void check_topology() {
  auto topology = kfd::read_topology(os());
  bool cpu_only = topology && !topology->nodes.empty();
  if (topology) {
    for (const auto& node : topology->nodes) cpu_only = cpu_only && node.gpu_id == 0;
  }
  check(cpu_only, "the topology has CPU nodes only",
        topology ? std::to_string(topology->nodes.size()) + " nodes" : topology.error().text);
}

uint32_t wait_one(const kfd::Client& client, uint32_t event_id, uint32_t timeout_ms, int* rc) {
  uapi::event_data data{};
  data.event_id = event_id;
  uapi::wait_events_args wait{};
  wait.events_ptr = reinterpret_cast<uint64_t>(&data);
  wait.num_events = 1;
  wait.timeout = timeout_ms;
  wait.wait_result = 99;
  *rc = client.wait_events(wait);
  return wait.wait_result;
}

void check_events(const kfd::Client& client) {
  uapi::create_event_args create{};
  create.event_type = uapi::kEventSignal;
  create.auto_reset = 1;
  int rc = client.create_event(create);
  check(rc == 0 && create.event_id == 1 && create.event_slot_index == 1, "the first signal event has id 1",
        "id " + std::to_string(create.event_id));

  void* page = nullptr;
  rc = os().mmap(os().self, nullptr, uapi::kEventPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, client.fd(),
                 create.event_page_offset, &page);
  check(rc == 0, "the event page maps at the offset that CREATE_EVENT gave", std::to_string(rc));
  if (rc == 0) {
    check(static_cast<uint64_t*>(page)[1] == ~uint64_t{0}, "an unsignalled slot holds all ones", "slot 1");
    os().munmap(os().self, page, uapi::kEventPageBytes);
  }

  check(wait_one(client, create.event_id, 20, &rc) == uapi::kWaitTimeout && rc == 0, "an unset event times out",
        std::to_string(rc));
  uapi::set_event_args set{};
  set.event_id = create.event_id;
  rc = client.set_event(set);
  check(rc == 0, "SET_EVENT", std::to_string(rc));
  check(wait_one(client, create.event_id, 1000, &rc) == uapi::kWaitComplete && rc == 0, "a set event completes",
        std::to_string(rc));
  check(wait_one(client, create.event_id, 0, &rc) == uapi::kWaitTimeout && rc == 0, "auto reset took it back",
        std::to_string(rc));
  uapi::destroy_event_args destroy{};
  destroy.event_id = create.event_id;
  rc = client.destroy_event(destroy);
  check(rc == 0, "DESTROY_EVENT", std::to_string(rc));
  (void)wait_one(client, create.event_id, 0, &rc);
  check(rc == -EINVAL, "waiting for a destroyed event", std::to_string(rc));
}

// A forked child's inherited descriptor is refused by the driver; the child's own opening works again.
void check_fork(const kfd::Client& client) {
  const pid_t child = fork();
  if (child == 0) {
    uapi::get_version_args version{};
    const bool inherited_refused = client.get_version(version) == -EBADF;
    const int fd = open_kfd();
    const bool own_works = fd >= 0 && kfd::Client(&os(), fd).get_version(version) == 0;
    _exit((inherited_refused ? 0 : 1) | (own_works ? 0 : 2));
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0,
        "fork: the child's inherited descriptor gives EBADF, its own works", std::to_string(status));
}

// A descriptor that survived exec would bring some kernels down when it is used beside a new one.
void check_exec(const char* self, int kfd_fd) {
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "--fd-is-closed", std::to_string(kfd_fd).c_str(), nullptr);
    _exit(99);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "exec: the descriptor is closed", std::to_string(status));
}

void check_permission() {
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
    auto system = barehip::System::open(os());
    const bool told = !system && system.error().code == barehip::ErrorCode::kNoPermission &&
                      system.error().text.find("render") != std::string::npos;
    std::printf("     %s\n", system ? "it opened" : system.error().text.c_str());
    std::fflush(stdout);
    _exit(told ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "without permission the text names the group render",
        std::to_string(status));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--fd-is-closed") == 0) {
    return fcntl(std::atoi(argv[2]), F_GETFD) == -1 && errno == EBADF ? 0 : 1;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  check_open();
  check_topology();
  const int fd = open_kfd();
  check(fd >= 0, "open /dev/kfd", std::to_string(fd));
  if (fd >= 0) {
    const kfd::Client client(&os(), fd);
    check_version(client);
    check_events(client);
    check_fork(client);
    check_exec(argv[0], fd);
    os().close(os().self, fd);
  }
  check_permission();
  std::printf("%d checks failed\n", failures);
  return failures;
}
