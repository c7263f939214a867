// Every system call of a small program made to fail in turn: the program gets an error or its result, never a crash, a
// hang or a half-written output. Each turn is a process of its own, as a failed opening is remembered.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "tests/sim/counted_os.h"
#include "tests/sim/hip_test.h"

using namespace sim;
using barehip::kfd::FailingOs;
using barehip::kfd::OsCall;

namespace {

// What releases something is not made to fail: the driver does not, and nobody could do anything about it.
constexpr uint32_t kFailable = FailingOs::mask(OsCall::kOpen) | FailingOs::mask(OsCall::kIoctl) |
                               FailingOs::mask(OsCall::kMmap) | FailingOs::mask(OsCall::kReadFile) |
                               FailingOs::mask(OsCall::kListDir) | FailingOs::mask(OsCall::kStat) |
                               FailingOs::mask(OsCall::kGpuInfo);

constexpr uintptr_t kPoison = 0xa5a5a5a5a5a5a5a5;

enum Outcome : int {
  kNothingFailed = 10,  ///< the program ended before its turn to fail came
  kSurvived,            ///< a call failed, and the result was right all the same
  kRefused,             ///< a HIP call returned an error
  kWrong,               ///< success with a wrong result, or an output written by a call that failed
};

struct Program {
  uint32_t* data = reinterpret_cast<uint32_t*>(kPoison);
  hipStream_t stream = reinterpret_cast<hipStream_t>(kPoison);
  hipEvent_t event = reinterpret_cast<hipEvent_t>(kPoison);
  bool wrong = false;

  template <class T>
  bool made(hipError_t error, const T& output) {
    if (error != hipSuccess && reinterpret_cast<uintptr_t>(output) != kPoison) wrong = true;
    return error == hipSuccess;
  }

  /// Open, create, launch, destroy.
  bool run() {
    uint32_t value = 40;
    bool good = made(hipMalloc(reinterpret_cast<void**>(&data), 4096), data) &&
                made(hipStreamCreate(&stream), stream) && made(hipEventCreate(&event), event) &&
                hipMemcpyAsync(data, &value, 4, hipMemcpyHostToDevice, stream) == hipSuccess &&
                launch(kScale, 1, 64, 0, stream, data, 1u, 2u, 1u) == hipSuccess &&
                launch(kScratch, 1, 64, 0, stream, data + 64, 3u) == hipSuccess &&
                hipEventRecord(event, stream) == hipSuccess && hipEventSynchronize(event) == hipSuccess &&
                hipMemcpy(&value, data, 4, hipMemcpyDeviceToHost) == hipSuccess;
    if (good && value != 42) wrong = true;
    if (reinterpret_cast<uintptr_t>(event) != kPoison) good = hipEventDestroy(event) == hipSuccess && good;
    if (reinterpret_cast<uintptr_t>(stream) != kPoison) good = hipStreamDestroy(stream) == hipSuccess && good;
    if (reinterpret_cast<uintptr_t>(data) != kPoison) good = hipFree(data) == hipSuccess && good;
    return good;
  }
};

int child(uint64_t n, int error) {
  alarm(120);
  counted_os().fail_nth(n, error, kFailable);
  Program program;
  const bool good = program.run();
  if (program.wrong) return kWrong;
  if (!counted_os().failed()) return good ? kNothingFailed : kWrong;
  return good ? kSurvived : kRefused;
}

}  // namespace

TEST_CASE("a program whose n-th system call fails ends in an error or a right result") {
  const int error = GENERATE(ENOMEM, EINVAL);
  int refused = 0;
  for (uint64_t n = 1;; ++n) {
    REQUIRE(n < 2000);
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) _exit(child(n, error));
    int status = 0;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    INFO("call " << n << " fails with " << error << ", status " << status);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) >= kNothingFailed);
    REQUIRE(WEXITSTATUS(status) != kWrong);
    if (WEXITSTATUS(status) == kNothingFailed) break;
    refused += WEXITSTATUS(status) == kRefused;
  }
  CHECK(refused >= 20);
}
