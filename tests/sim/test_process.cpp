// fork, exec, and exit with work still running.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/sim/hip_test.h"

using namespace sim;

namespace {

/// Exit code of a child that runs `body`; 200 when it died by a signal.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

}  // namespace

TEST_CASE("a forked child gets clean errors, and the parent goes on") {
  DeviceArray<uint32_t> cell(std::vector<uint32_t>{0});
  REQUIRE_HIP(launch(kIncrement, 1, 1, 0, nullptr, cell.get()));
  CHECK(in_child([&] {
          void* pointer = nullptr;
          int count = 0;
          if (hipMalloc(&pointer, 64) == hipSuccess) return 1;
          if (launch(kIncrement, 1, 1, 0, nullptr, cell.get()) == hipSuccess) return 2;
          if (hipDeviceSynchronize() == hipSuccess) return 3;
          if (hipFree(cell.get()) == hipSuccess) return 4;
          if (hipGetDeviceCount(&count) == hipSuccess) return 5;
          return 0;
        }) == 0);
  REQUIRE_HIP(launch(kIncrement, 1, 1, 0, nullptr, cell.get()));
  CHECK(cell.read()[0] == 2);
}

TEST_CASE("a program that this one starts opens the GPU anew") {
  REQUIRE_HIP(hipDeviceSynchronize());
  if (std::getenv("BAREHIP_TEST_INNER")) {
    DeviceArray<uint32_t> cell(std::vector<uint32_t>{41});
    REQUIRE_HIP(launch(kIncrement, 1, 1, 0, nullptr, cell.get()));
    CHECK(cell.read()[0] == 42);
    return;
  }
  CHECK(in_child([] {
          setenv("BAREHIP_TEST_INNER", "1", 1);
          execl("/proc/self/exe", "test", "a program that this one starts opens the GPU anew", nullptr);
          return 99;
        }) == 0);
}

TEST_CASE("a program may exit while a kernel runs") {
  if (std::getenv("BAREHIP_TEST_INNER")) {
    static uint32_t* flag = nullptr;
    REQUIRE_HIP(hipHostMalloc(reinterpret_cast<void**>(&flag), 4, hipHostMallocDefault));
    *flag = 0;
    REQUIRE_HIP(launch(kSpin, 1, 1, 0, nullptr, flag));
    std::exit(0);
  }
  CHECK(in_child([] {
          setenv("BAREHIP_TEST_INNER", "1", 1);
          alarm(60);
          execl("/proc/self/exe", "test", "a program may exit while a kernel runs", nullptr);
          return 99;
        }) == 0);
}
