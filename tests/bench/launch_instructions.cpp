// How many host instructions a launch takes: this program steps a child through launches, one instruction at a time.
//
// Counting by ptrace needs no performance counters, which containers and virtual machines rarely have. Exits with 1
// when the median is above the budget given as the argument.
#include <hip/hip_runtime_api.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/sim/kernels.h"

namespace {

constexpr int kLaunches = 60;

bool launch_all(uint32_t* cell, bool traced) {
  void* arguments[] = {&cell};
  bool good = true;
  for (int i = 0; i < kLaunches; ++i) {
    if (traced) __asm__ volatile("int3");
    good = hipLaunchKernel(sim::kIncrement, dim3(1), dim3(64), arguments, 0, nullptr) == hipSuccess && good;
    if (traced) __asm__ volatile("int3");
  }
  return hipDeviceSynchronize() == hipSuccess && good;
}

int child() {
  uint32_t* cell = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&cell), 4) != hipSuccess) return 2;
  if (hipMemset(cell, 0, 4) != hipSuccess || !launch_all(cell, false)) return 2;
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 3;
  return launch_all(cell, true) ? 0 : 2;
}

/// Waits for a stop of the child and hands its own signals on. False: it ended.
bool wait_for_trap(pid_t pid, int& status) {
  while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
    if (WSTOPSIG(status) == SIGTRAP) return true;
    ptrace(PTRACE_CONT, pid, nullptr, WSTOPSIG(status));
  }
  return false;
}

unsigned char instruction_at(pid_t pid, uint64_t address) {
  return static_cast<unsigned char>(ptrace(PTRACE_PEEKTEXT, pid, address, nullptr));
}

/// Steps from one int3 to the next; the instructions between are one launch.
long count_launch(pid_t pid, int& status) {
  constexpr unsigned char kInt3 = 0xcc;
  constexpr long kRipOffset = 16 * 8;
  for (long steps = 0;; ++steps) {
    const auto rip = static_cast<uint64_t>(ptrace(PTRACE_PEEKUSER, pid, kRipOffset, nullptr));
    if (instruction_at(pid, rip) == kInt3) return steps;
    if (ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) != 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
      return -1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  std::vector<long> counts;
  int status = 0;
  while (wait_for_trap(pid, status)) {
    const long count = count_launch(pid, status);
    if (count < 0) break;
    counts.push_back(count);
    ptrace(PTRACE_CONT, pid, nullptr, nullptr);  // over the int3 at the end, which stops once more
    if (!wait_for_trap(pid, status)) break;
    ptrace(PTRACE_CONT, pid, nullptr, nullptr);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || counts.size() != kLaunches) {
    std::fprintf(stderr, "the stepped program did not end well (status %#x, %zu launches counted)\n", status,
                 counts.size());
    return 2;
  }
  std::sort(counts.begin(), counts.end());
  const long median = counts[counts.size() / 2];
  std::printf("host instructions of one launch with one argument: median %ld, least %ld, most %ld (of %d)\n", median,
              counts.front(), counts.back(), kLaunches);
  return argc > 1 && median > std::atol(argv[1]) ? 1 : 0;
}
