// Prints how long one `kernel<<<>>>(pointer)` takes its thread, in nanoseconds of processor time: the median of many
// batches, each followed by a wait outside the clock. Runs on any HIP runtime of soname 5.
#include <hip/hip_runtime.h>

#include <ctime>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

__global__ void increment(unsigned* cell) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *cell = *cell + 1;
}

double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

int main() {
  constexpr int kBatches = 41, kLaunches = 200;
  unsigned* cell = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&cell), sizeof *cell) != hipSuccess) return 1;
  std::vector<double> times;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double start = thread_ns();
    for (int i = 0; i < kLaunches; ++i) increment<<<1, 64>>>(cell);
    times.push_back((thread_ns() - start) / kLaunches);
    if (hipGetLastError() != hipSuccess || hipDeviceSynchronize() != hipSuccess) return 1;
  }
  std::sort(times.begin(), times.end());
  std::printf("%.0f\n", times[times.size() / 2]);
  return 0;
}
