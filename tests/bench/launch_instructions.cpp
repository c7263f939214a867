// How many host instructions a launch takes: this program steps a child through launches, one instruction at a time.
//
// Counted is every instruction from before the launch to after it that does not lie in the program's own executable:
// all of our library, and what it calls in libc. The program's part (for <<<>>> some 40 instructions that clang makes
// of it, and one jump for each call into the library) is the same for every HIP runtime.
//
// Counting by ptrace needs no performance counters, which containers and virtual machines rarely have. Exits with 1
// when a median is above its row's budget; the budgets hold for optimised builds.
#include <hip/hip_runtime_api.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <vector>

#include "tests/bench/bench_kernels.h"

extern "C" const char __executable_start, _end;  // the linker's: where the program's own executable lies

namespace {

#ifdef __OPTIMIZE__
constexpr bool kOptimised = true;
#else
constexpr bool kOptimised = false;
#endif
// The budgets are those of g++ 12; other compilers may take a tenth more.
#ifdef __clang__
constexpr long kMorePercent = 10;
#else
constexpr long kMorePercent = 0;
#endif

constexpr int kWarm = 5, kLaunches = 25;

struct State {
  uint32_t* cell = nullptr;
  hipStream_t stream = nullptr;
  hipFunction_t function = nullptr;
};

bool chevrons_one(State& s) { return bench::launch_one(s.cell, nullptr), true; }
bool chevrons_one_stream(State& s) { return bench::launch_one(s.cell, s.stream), true; }
bool chevrons_five(State& s) { return bench::launch_five(s.cell, nullptr), true; }
bool chevrons_hidden(State& s) { return bench::launch_hidden(s.cell, nullptr), true; }

bool launch_kernel(State& s) {
  void* arguments[] = {&s.cell};
  return hipLaunchKernel(bench::kOne, dim3(1), dim3(64), arguments, 0, nullptr) == hipSuccess;
}

bool module_pointers(State& s) {
  void* arguments[] = {&s.cell};
  return hipModuleLaunchKernel(s.function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr) == hipSuccess;
}

bool module_buffer(State& s) {
  size_t bytes = sizeof s.cell;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &s.cell, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  return hipModuleLaunchKernel(s.function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra) == hipSuccess;
}

struct Row {
  const char* what;
  bool (*launch)(State&);
  long budget;  ///< instructions
};
constexpr Row kRows[] = {
    {"<<<>>>, one pointer", chevrons_one, 200},
    {"<<<>>>, one pointer, a stream of its own", chevrons_one_stream, 228},
    {"<<<>>>, five arguments", chevrons_five, 260},
    {"<<<>>>, one pointer and hidden arguments", chevrons_hidden, 242},
    {"hipLaunchKernel, one pointer", launch_kernel, 170},
    {"hipModuleLaunchKernel, one pointer by kernelParams", module_pointers, 198},
    {"hipModuleLaunchKernel, one pointer by extra", module_buffer, 216},
};

bool launch_row(const Row& row, State& state, int count, bool traced) {
  bool good = true;
  for (int i = 0; i < count; ++i) {
    if (traced) __asm__ volatile("int3");
    good = row.launch(state) && good;
    if (traced) __asm__ volatile("int3");
  }
  return good && hipGetLastError() == hipSuccess && hipDeviceSynchronize() == hipSuccess;
}

int child() {
  State state;
  if (hipMalloc(reinterpret_cast<void**>(&state.cell), 4) != hipSuccess || hipMemset(state.cell, 0, 4) != hipSuccess ||
      hipStreamCreateWithFlags(&state.stream, hipStreamNonBlocking) != hipSuccess ||
      hipGetFuncBySymbol(&state.function, bench::kOne) != hipSuccess)
    return 2;
  for (const Row& row : kRows)
    if (!launch_row(row, state, kWarm, false)) return 2;
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 3;
  for (const Row& row : kRows)
    if (!launch_row(row, state, kLaunches, true)) return 2;
  return 0;
}

/// Waits for a stop of the child and hands its own signals on. False: it ended.
bool wait_for_trap(pid_t pid, int& status) {
  while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
    if (WSTOPSIG(status) == SIGTRAP) return true;
    ptrace(PTRACE_CONT, pid, nullptr, WSTOPSIG(status));
  }
  return false;
}

/// The child is a fork, so its executable lies where ours does.
bool in_executable(uint64_t address) {
  return address >= reinterpret_cast<uint64_t>(&__executable_start) && address < reinterpret_cast<uint64_t>(&_end);
}

bool at_int3(pid_t pid, uint64_t address) {
  constexpr unsigned char kInt3 = 0xcc;
  return in_executable(address) && static_cast<unsigned char>(ptrace(PTRACE_PEEKTEXT, pid, address, nullptr)) == kInt3;
}

/// Steps from one int3 to the next, and counts what lies outside the executable.
long count_launch(pid_t pid, int& status) {
  constexpr long kRipOffset = 16 * 8;
  long count = 0;
  while (true) {
    const auto rip = static_cast<uint64_t>(ptrace(PTRACE_PEEKUSER, pid, kRipOffset, nullptr));
    if (at_int3(pid, rip)) return count;
    count += !in_executable(rip);
    if (ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) != 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
      return -1;
  }
}

/// One row's counts, sorted; fewer than kLaunches when the child ended.
std::vector<long> count_row(pid_t pid, int& status) {
  std::vector<long> counts;
  for (int i = 0; i < kLaunches && wait_for_trap(pid, status); ++i) {
    const long count = count_launch(pid, status);
    if (count < 0) break;
    counts.push_back(count);
    ptrace(PTRACE_CONT, pid, nullptr, nullptr);  // over the int3 at the end, which stops once more
    if (!wait_for_trap(pid, status)) break;
    ptrace(PTRACE_CONT, pid, nullptr, nullptr);
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

}  // namespace

int main() {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  bool good = true;
  std::printf("host instructions of one launch: median (least to most of %d), budget\n", kLaunches);
  for (const Row& row : kRows) {
    const std::vector<long> counts = count_row(pid, status);
    if (counts.size() != kLaunches) break;
    const long median = counts[kLaunches / 2];
    const bool within = median <= row.budget * (100 + kMorePercent) / 100 || !kOptimised;
    std::printf("%5ld (%ld to %ld), %ld  %s%s\n", median, counts.front(), counts.back(), row.budget, row.what,
                within ? "" : ": TOO MANY");
    good = good && within;
  }
  if (!WIFEXITED(status)) waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "the stepped program did not end well (status %#x)\n", status);
    return 2;
  }
  return good ? 0 : 1;
}
