// Streams: slices of an array go in, through a kernel and out in four streams side by side; then one stream waits for
// all the others by events and adds up what they left.
#include "../common/check.h"

#include <vector>

constexpr int kStreams = 4;
constexpr int kSlice = 4096;
constexpr int kThreads = 128;

__global__ void square(const int* in, int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] * in[i];
}

__global__ void sum_of_slices(const int* slices, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int s = 0; s < kStreams; ++s) sum += slices[s * kSlice + i];
  sums[i] = sum;
}

int main() {
  constexpr int kCount = kStreams * kSlice;
  int *host_in, *host_out, *device_in, *device_out, *device_sums;
  HIP_CHECK(hipHostMalloc(&host_in, kCount * sizeof(int)));
  HIP_CHECK(hipHostMalloc(&host_out, kCount * sizeof(int)));
  HIP_CHECK(hipMalloc(&device_in, kCount * sizeof(int)));
  HIP_CHECK(hipMalloc(&device_out, kCount * sizeof(int)));
  HIP_CHECK(hipMalloc(&device_sums, kSlice * sizeof(int)));
  for (int i = 0; i < kCount; ++i) host_in[i] = i % 1000 - 500;

  hipStream_t streams[kStreams], last;
  hipEvent_t done[kStreams];
  for (int s = 0; s < kStreams; ++s) {
    HIP_CHECK(hipStreamCreateWithFlags(&streams[s], hipStreamNonBlocking));
    HIP_CHECK(hipEventCreateWithFlags(&done[s], hipEventDisableTiming));
  }
  HIP_CHECK(hipStreamCreateWithFlags(&last, hipStreamNonBlocking));

  const size_t bytes = kSlice * sizeof(int);
  for (int s = 0; s < kStreams; ++s) {
    const int at = s * kSlice;
    HIP_CHECK(hipMemcpyAsync(device_in + at, host_in + at, bytes, hipMemcpyHostToDevice, streams[s]));
    square<<<kSlice / kThreads, kThreads, 0, streams[s]>>>(device_in + at, device_out + at, kSlice);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipEventRecord(done[s], streams[s]));
    HIP_CHECK(hipMemcpyAsync(host_out + at, device_out + at, bytes, hipMemcpyDeviceToHost, streams[s]));
    HIP_CHECK(hipStreamWaitEvent(last, done[s], 0));
  }
  sum_of_slices<<<kSlice / kThreads, kThreads, 0, last>>>(device_out, device_sums);
  HIP_CHECK(hipGetLastError());
  std::vector<int> sums(kSlice);
  HIP_CHECK(hipMemcpyAsync(sums.data(), device_sums, bytes, hipMemcpyDeviceToHost, last));
  HIP_CHECK(hipStreamSynchronize(last));
  for (hipStream_t stream : streams) HIP_CHECK(hipStreamSynchronize(stream));
  std::printf("%d streams squared %d numbers each; a fifth added them\n", kStreams, kSlice);

  size_t wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += host_out[i] != host_in[i] * host_in[i];
  for (int i = 0; i < kSlice; ++i) {
    int sum = 0;
    for (int s = 0; s < kStreams; ++s) sum += host_in[s * kSlice + i] * host_in[s * kSlice + i];
    wrong += sums[i] != sum;
  }

  for (int s = 0; s < kStreams; ++s) {
    HIP_CHECK(hipEventDestroy(done[s]));
    HIP_CHECK(hipStreamDestroy(streams[s]));
  }
  HIP_CHECK(hipStreamDestroy(last));
  for (int* memory : {device_in, device_out, device_sums}) HIP_CHECK(hipFree(memory));
  HIP_CHECK(hipHostFree(host_out));
  HIP_CHECK(hipHostFree(host_in));
  return verdict(wrong);
}
