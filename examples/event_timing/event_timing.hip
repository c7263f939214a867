// Timing on the GPU's own clock: events before, between and after two kernels, the second with four times the work.
#include "../common/check.h"

__global__ void spin(unsigned* out, int rounds) {
  unsigned x = threadIdx.x + 1;
  for (int i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;  // each round needs the one before
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static unsigned expected(unsigned thread, int rounds) {
  unsigned x = thread + 1;
  for (int i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  return x;
}

int main() {
  constexpr int kBlocks = 4, kThreads = 64, kRounds = 500;
  unsigned* out;
  HIP_CHECK(hipMalloc(&out, kBlocks * kThreads * sizeof(unsigned)));

  hipStream_t stream;
  hipEvent_t start, middle, stop, never;
  HIP_CHECK(hipStreamCreate(&stream));
  for (hipEvent_t* event : {&start, &middle, &stop, &never}) HIP_CHECK(hipEventCreate(event));

  // The first launch of a program also loads its code, which is not what we want to time.
  spin<<<kBlocks, kThreads, 0, stream>>>(out, 1);
  HIP_CHECK(hipStreamSynchronize(stream));

  HIP_CHECK(hipEventRecord(start, stream));
  spin<<<kBlocks, kThreads, 0, stream>>>(out, kRounds);
  HIP_CHECK(hipEventRecord(middle, stream));
  spin<<<kBlocks, kThreads, 0, stream>>>(out, 4 * kRounds);
  HIP_CHECK(hipEventRecord(stop, stream));
  HIP_CHECK(hipEventSynchronize(stop));

  float first = -1, second = -1, both = -1;
  HIP_CHECK(hipEventElapsedTime(&first, start, middle));
  HIP_CHECK(hipEventElapsedTime(&second, middle, stop));
  HIP_CHECK(hipEventElapsedTime(&both, start, stop));
  std::printf("%d rounds: %.3f ms, %d rounds: %.3f ms, together: %.3f ms\n", kRounds, first, 4 * kRounds, second, both);

  size_t wrong = 0;
  wrong += !(first > 0 && second > 0);
  const float difference = both - (first + second);
  wrong += difference > 0.001f || difference < -0.001f;  // the three times are of one clock
  wrong += hipEventQuery(start) != hipSuccess;
  float unknown = 0;
  wrong += hipEventElapsedTime(&unknown, never, stop) != hipErrorInvalidHandle;  // it was never recorded

  unsigned host[kBlocks * kThreads];
  HIP_CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  for (int i = 0; i < kBlocks * kThreads; ++i) wrong += host[i] != expected(i % kThreads, 4 * kRounds);

  for (hipEvent_t event : {start, middle, stop, never}) HIP_CHECK(hipEventDestroy(event));
  HIP_CHECK(hipStreamDestroy(stream));
  HIP_CHECK(hipFree(out));
  return verdict(wrong);
}
