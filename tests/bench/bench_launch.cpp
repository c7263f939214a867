// Rates of the launch path: publishing alone, with waiting, and the calls around it. Run with --benchmark_format=json
// for machines. On vgpu the numbers of "complete" rows are the model's speed; "publish" rows are barehip's own.
#include <benchmark/benchmark.h>
#include <hip/hip_runtime_api.h>

#include "tests/sim/kernels.h"

namespace {

/// Launches that fit the ring beside what is waited for outside the clock.
constexpr int kBatch = 1000;

uint32_t* device_cell() {
  static uint32_t* const kCell = [] {
    uint32_t* cell = nullptr;
    if (hipMalloc(reinterpret_cast<void**>(&cell), 4) != hipSuccess || hipMemset(cell, 0, 4) != hipSuccess)
      std::abort();
    return cell;
  }();
  return kCell;
}

void publish(benchmark::State& state) {
  uint32_t* cell = device_cell();
  void* arguments[] = {&cell};
  bool good = true;
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i)
      good = hipLaunchKernel(sim::kIncrement, dim3(1), dim3(64), arguments, 0, nullptr) == hipSuccess && good;
    state.PauseTiming();
    good = hipDeviceSynchronize() == hipSuccess && good;
    state.ResumeTiming();
  }
  if (!good) state.SkipWithError("a launch failed");
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK(publish);

void launch_and_wait(benchmark::State& state) {
  uint32_t* cell = device_cell();
  void* arguments[] = {&cell};
  bool good = true;
  for (auto _ : state)
    good = hipLaunchKernel(sim::kIncrement, dim3(1), dim3(64), arguments, 0, nullptr) == hipSuccess &&
           hipStreamSynchronize(nullptr) == hipSuccess && good;
  if (!good) state.SkipWithError("a launch failed");
}
BENCHMARK(launch_and_wait);

void record_event(benchmark::State& state) {
  hipEvent_t event = nullptr;
  bool good = hipEventCreate(&event) == hipSuccess;
  for (auto _ : state) {
    for (int i = 0; i < 100; ++i) good = hipEventRecord(event, nullptr) == hipSuccess && good;
    state.PauseTiming();
    good = hipEventSynchronize(event) == hipSuccess && good;
    state.ResumeTiming();
  }
  good = hipEventDestroy(event) == hipSuccess && good;
  if (!good) state.SkipWithError("a record failed");
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(record_event);

}  // namespace

BENCHMARK_MAIN();
