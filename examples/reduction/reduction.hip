// Many values to one: within a wave by shuffles, within a block through LDS, between blocks by atomics. The same code
// serves waves of 32 and of 64 lanes.
#include "../common/check.h"

#include <algorithm>
#include <vector>

__device__ unsigned wave_sum(unsigned value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) value += __shfl_down(value, distance);
  return value;  // lane 0 has the sum
}

__global__ void reduce(const unsigned* in, int count, unsigned* total, int* smallest, float* rough, unsigned* odd) {
  __shared__ unsigned per_wave[32];
  unsigned sum = 0;
  int least = 0x7fffffff;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    sum += in[i];
    least = min(least, static_cast<int>(in[i]));
    // One lane counts for the whole wave.
    const unsigned long long votes = __ballot(in[i] & 1);
    if (__lane_id() == static_cast<unsigned>(__ffsll(__activemask())) - 1) atomicAdd(odd, __popcll(votes));
  }
  atomicMin(smallest, least);

  sum = wave_sum(sum);
  const int wave = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
  if (lane == 0) per_wave[wave] = sum;
  __syncthreads();
  if (wave == 0) {
    const int waves = blockDim.x / warpSize;
    sum = wave_sum(lane < waves ? per_wave[lane] : 0);
    if (lane == 0) {
      atomicAdd(total, sum);
      atomicAdd(rough, static_cast<float>(sum));
    }
  }
}

struct Results {
  unsigned total;
  int smallest;
  float rough;
  unsigned odd;
};

int main() {
  constexpr int kCount = 20'000, kBlocks = 8, kThreads = 256;
  std::vector<unsigned> in(kCount);
  Results expected{0, 0x7fffffff, 0, 0};
  for (int i = 0; i < kCount; ++i) {
    in[i] = (i * 7919u) % 1009u + 3;
    expected.total += in[i];
    expected.smallest = std::min(expected.smallest, static_cast<int>(in[i]));
    expected.odd += in[i] & 1;
  }

  unsigned* device_in;
  Results* device_results;
  HIP_CHECK(hipMalloc(&device_in, kCount * sizeof(unsigned)));
  HIP_CHECK(hipMalloc(&device_results, sizeof(Results)));
  HIP_CHECK(hipMemcpy(device_in, in.data(), kCount * sizeof(unsigned), hipMemcpyHostToDevice));
  const Results start{0, 0x7fffffff, 0, 0};
  HIP_CHECK(hipMemcpy(device_results, &start, sizeof start, hipMemcpyHostToDevice));

  reduce<<<kBlocks, kThreads>>>(device_in, kCount, &device_results->total, &device_results->smallest,
                                &device_results->rough, &device_results->odd);
  HIP_CHECK(hipGetLastError());
  Results got;
  HIP_CHECK(hipMemcpy(&got, device_results, sizeof got, hipMemcpyDeviceToHost));
  std::printf("sum %u, smallest %d, odd %u, float sum %.0f (host: %u, %d, %u)\n", got.total, got.smallest, got.odd,
              got.rough, expected.total, expected.smallest, expected.odd);

  // Every partial sum is a whole number below 2^24, so the float sum is exact in any order.
  const size_t wrong = (got.total != expected.total) + (got.smallest != expected.smallest) + (got.odd != expected.odd) +
                       (got.rough != static_cast<float>(expected.total));
  HIP_CHECK(hipFree(device_results));
  HIP_CHECK(hipFree(device_in));
  return verdict(wrong);
}
