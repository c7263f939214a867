// LDS and barriers: a tile is read row by row, turned in LDS, and written row by row, so that both sides of the copy
// are contiguous. Once with the tile's size known to the compiler, once with dynamic LDS.
#include "../common/check.h"

#include <vector>

constexpr int kTile = 16;
constexpr int kPadded = kTile + 1;  // a column of the tile then lies in different LDS banks

__global__ void transpose_static(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][kPadded];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void transpose_dynamic(const float* in, float* out, int width, int height) {
  extern __shared__ float tile[];
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y * (blockDim.x + 1) + threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * blockDim.y + threadIdx.x;
  y = blockIdx.x * blockDim.x + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x * (blockDim.x + 1) + threadIdx.y];
}

static size_t check(const std::vector<float>& in, const float* device_out, int width, int height, const char* what) {
  std::vector<float> out(in.size());
  HIP_CHECK(hipMemcpy(out.data(), device_out, out.size() * sizeof(float), hipMemcpyDeviceToHost));
  size_t wrong = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) wrong += out[x * height + y] != in[y * width + x];
  std::printf("%d x %d with %s LDS: %zu wrong\n", width, height, what, wrong);
  return wrong;
}

int main() {
  constexpr int kWidth = 100, kHeight = 70;  // no multiples of the tile
  std::vector<float> in(kWidth * kHeight);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 1.0f + i;
  const size_t bytes = in.size() * sizeof(float);

  float *device_in, *device_out;
  HIP_CHECK(hipMalloc((void**)&device_in, bytes));
  HIP_CHECK(hipMalloc((void**)&device_out, bytes));
  HIP_CHECK(hipMemcpy(device_in, in.data(), bytes, hipMemcpyHostToDevice));

  const dim3 block(kTile, kTile);
  const dim3 grid((kWidth + kTile - 1) / kTile, (kHeight + kTile - 1) / kTile);
  HIP_CHECK(hipMemset(device_out, 0, bytes));
  transpose_static<<<grid, block>>>(device_in, device_out, kWidth, kHeight);
  HIP_CHECK(hipGetLastError());
  size_t wrong = check(in, device_out, kWidth, kHeight, "static");

  HIP_CHECK(hipMemset(device_out, 0, bytes));
  transpose_dynamic<<<grid, block, kTile * kPadded * sizeof(float)>>>(device_in, device_out, kWidth, kHeight);
  HIP_CHECK(hipGetLastError());
  wrong += check(in, device_out, kWidth, kHeight, "dynamic");

  HIP_CHECK(hipFree(device_out));
  HIP_CHECK(hipFree(device_in));
  return verdict(wrong);
}
