// The first program: add two vectors. Allocate, copy in, launch, copy out, check.
#include "../common/check.h"

#include <vector>

__global__ void vector_add(const float* a, const float* b, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}

int main() {
  constexpr int kCount = 10'000;
  constexpr int kBlock = 256;
  const size_t bytes = kCount * sizeof(float);

  std::vector<float> a(kCount), b(kCount), sum(kCount);
  for (int i = 0; i < kCount; ++i) {
    a[i] = 0.5f * i;
    b[i] = 1000.0f - 0.25f * i;
  }

  float *device_a, *device_b, *device_sum;
  HIP_CHECK(hipMalloc((void**)&device_a, bytes));
  HIP_CHECK(hipMalloc((void**)&device_b, bytes));
  HIP_CHECK(hipMalloc((void**)&device_sum, bytes));
  HIP_CHECK(hipMemcpy(device_a, a.data(), bytes, hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(device_b, b.data(), bytes, hipMemcpyHostToDevice));

  const int blocks = (kCount + kBlock - 1) / kBlock;
  std::printf("adding %d floats in %d blocks of %d threads\n", kCount, blocks, kBlock);
  vector_add<<<blocks, kBlock>>>(device_a, device_b, device_sum, kCount);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());

  HIP_CHECK(hipMemcpy(sum.data(), device_sum, bytes, hipMemcpyDeviceToHost));
  size_t wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += sum[i] != a[i] + b[i];
  std::printf("sum[0] = %g, sum[%d] = %g\n", sum[0], kCount - 1, sum[kCount - 1]);

  HIP_CHECK(hipFree(device_sum));
  HIP_CHECK(hipFree(device_b));
  HIP_CHECK(hipFree(device_a));
  return verdict(wrong);
}
