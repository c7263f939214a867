// A HIP program for other people's runtimes: every section computes something, compares it with what the CPU computes,
// and says so. `stock_program LANES` where LANES is the width of a wave, 32 or 64. Exit status 1 when something is
// wrong.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

int failures = 0;

void expect(bool good, const char* section, const char* what) {
  if (good) return;
  std::printf("%s: %s\n", section, what);
  ++failures;
}

#define OK(call) expect((call) == hipSuccess, __func__, #call)

constexpr int kThreads = 256;
constexpr size_t kMegabyte = 1 << 20;

// Device memory of one section.
template <class T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    expect(hipMalloc(reinterpret_cast<void**>(&data_), bytes()) == hipSuccess, "Buffer", "hipMalloc");
  }
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) {
    expect(hipMemcpy(data_, host.data(), bytes(), hipMemcpyHostToDevice) == hipSuccess, "Buffer", "copy to device");
  }
  ~Buffer() { expect(hipFree(data_) == hipSuccess, "Buffer", "hipFree"); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::vector<T> read() const {
    std::vector<T> host(count_);
    expect(hipMemcpy(host.data(), data_, bytes(), hipMemcpyDeviceToHost) == hipSuccess, "Buffer", "copy to host");
    return host;
  }
  size_t bytes() const { return count_ * sizeof(T); }
  operator T*() const { return data_; }

 private:
  T* data_ = nullptr;
  size_t count_;
};

template <class T>
std::vector<T> counted(size_t count, T first = {}) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace

__global__ void add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

__global__ void transpose(const int* in, int* out, int width) {
  __shared__ int tile[16][17];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  const int tx = blockIdx.y * 16 + threadIdx.x, ty = blockIdx.x * 16 + threadIdx.y;
  out[ty * width + tx] = tile[threadIdx.x][threadIdx.y];
}

__global__ void sum_all(const int* in, int n, int* total, unsigned long long* wide, int* largest) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  atomicAdd(total, sum);
  atomicAdd(wide, static_cast<unsigned long long>(sum) << 20);
  atomicMax(largest, sum);
}

__global__ void polynomial(const double* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sqrt(x[i] * x[i] * 3.0 + 1.0) / (x[i] + 2.0);
}

__global__ void lanes(int* width, int* rotated) {
  const int lane = threadIdx.x;
  rotated[lane] = __shfl(lane * 10, (lane + 1) % warpSize);
  if (lane == 0) *width = warpSize;
}

// The private array is indexed by what is only known at run time, so it lies in scratch memory.
__global__ void private_array(int* out, int n) {
  volatile int local[200];
  for (int i = 0; i < 200; ++i) local[i] = i * (n + static_cast<int>(threadIdx.x));
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += local[(threadIdx.x * 7 + i * 31) % 200];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void increment(int* p) { ++p[blockIdx.x * blockDim.x + threadIdx.x]; }

namespace {

void vectors() {
  for (const int n : {1, 1000, 100000}) {
    const auto a = counted<float>(n), b = counted<float>(n, 0.5f);
    Buffer<float> da(a), db(b), sum(n);
    add<<<(n + kThreads - 1) / kThreads, kThreads>>>(da, db, sum, n);
    OK(hipGetLastError());
    const auto out = sum.read();
    bool good = true;
    for (int i = 0; i < n; ++i) good &= out[i] == a[i] + b[i];
    expect(good, __func__, "wrong sum");
  }
}

void tiles() {
  constexpr int kWidth = 128;
  const auto in = counted<int>(kWidth * kWidth);
  Buffer<int> din(in), out(in.size());
  transpose<<<dim3(kWidth / 16, kWidth / 16), dim3(16, 16)>>>(din, out, kWidth);
  OK(hipDeviceSynchronize());
  const auto turned = out.read();
  bool good = true;
  for (int i = 0; i < kWidth * kWidth; ++i) good &= turned[i] == (i % kWidth) * kWidth + i / kWidth;
  expect(good, __func__, "wrong transpose");
}

void atomics() {
  constexpr int kCount = 10000;
  Buffer<int> in(counted<int>(kCount)), total(std::vector<int>{0}), largest(std::vector<int>{-1});
  Buffer<unsigned long long> wide(std::vector<unsigned long long>{0});
  sum_all<<<4, kThreads>>>(in, kCount, total, wide, largest);
  const int sum = kCount * (kCount - 1) / 2;
  expect(total.read()[0] == sum, __func__, "wrong sum");
  expect(wide.read()[0] == static_cast<unsigned long long>(sum) << 20, __func__, "wrong 64-bit sum");
  int most = 0;
  for (int thread = 0; thread < 4 * kThreads; ++thread) {
    int mine = 0;
    for (int i = thread; i < kCount; i += 4 * kThreads) mine += i;
    most = mine > most ? mine : most;
  }
  expect(largest.read()[0] == most, __func__, "wrong maximum");
}

void doubles() {
  const auto x = counted<double>(500, 0.25);
  Buffer<double> dx(x), dy(x.size());
  polynomial<<<2, kThreads>>>(dx, dy, static_cast<int>(x.size()));
  const auto y = dy.read();
  bool good = true;
  for (size_t i = 0; i < x.size(); ++i) {
    good &= std::abs(y[i] - std::sqrt(x[i] * x[i] * 3.0 + 1.0) / (x[i] + 2.0)) < 1e-13;
  }
  expect(good, __func__, "wrong value");
}

void waves(int expected) {
  Buffer<int> width(1), rotated(expected);
  lanes<<<1, expected>>>(width, rotated);
  expect(width.read()[0] == expected, __func__, "wrong wave size");
  const auto out = rotated.read();
  bool good = true;
  for (int lane = 0; lane < expected; ++lane) good &= out[lane] == (lane + 1) % expected * 10;
  expect(good, __func__, "wrong shuffle");
}

void scratch() {
  constexpr int kCount = 4 * kThreads;
  Buffer<int> out(kCount);
  for (const int n : {3, 50}) {
    private_array<<<kCount / kThreads, kThreads>>>(out, n);
    const auto got = out.read();
    bool good = true;
    for (int i = 0; i < kCount; ++i) {
      const int thread = i % kThreads;
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += (thread * 7 + k * 31) % 200 * (n + thread);
      good &= got[i] == sum;
    }
    expect(good, __func__, "wrong sum");
  }
}

void copies() {
  for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{70000}, 9 * kMegabyte}) {
    std::vector<unsigned char> host(bytes), back(bytes);
    for (size_t i = 0; i < bytes; ++i) host[i] = static_cast<unsigned char>(i * 7 + i / 251);
    Buffer<unsigned char> one(host), two(bytes);
    OK(hipMemcpy(two, one, bytes, hipMemcpyDeviceToDevice));
    expect(two.read() == host, __func__, "not what was copied");
    OK(hipMemset(two, 0x5a, bytes));
    expect(two.read() == std::vector<unsigned char>(bytes, 0x5a), __func__, "hipMemset");
  }
  constexpr size_t kPitch = 256, kRow = 100, kRows = 20;
  const auto host = counted<unsigned char>(kRow * kRows);
  std::vector<unsigned char> back(host.size());
  Buffer<unsigned char> pitched(kPitch * kRows);
  OK(hipMemcpy2D(pitched, kPitch, host.data(), kRow, kRow, kRows, hipMemcpyHostToDevice));
  OK(hipMemcpy2D(back.data(), kRow, pitched, kPitch, kRow, kRows, hipMemcpyDeviceToHost));
  expect(back == host, __func__, "hipMemcpy2D");
}

void streams() {
  constexpr int kCount = 4;
  hipStream_t stream[kCount];
  hipEvent_t done[kCount], begin, end;
  int* pinned = nullptr;
  const auto zero = std::vector<int>(kThreads, 0);
  Buffer<int> data(zero);
  OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), kThreads * sizeof(int), 0));
  OK(hipEventCreate(&begin));
  OK(hipEventCreate(&end));
  for (int i = 0; i < kCount; ++i) OK(hipStreamCreate(&stream[i]));
  for (auto& each : done) OK(hipEventCreateWithFlags(&each, hipEventDisableTiming));
  OK(hipEventRecord(begin, stream[0]));
  // A chain through all the streams, five times round.
  for (int i = 0; i < 5 * kCount; ++i) {
    if (i > 0) OK(hipStreamWaitEvent(stream[i % kCount], done[(i - 1) % kCount], 0));
    increment<<<1, kThreads, 0, stream[i % kCount]>>>(data);
    OK(hipEventRecord(done[i % kCount], stream[i % kCount]));
  }
  OK(hipMemcpyAsync(pinned, data, data.bytes(), hipMemcpyDeviceToHost, stream[kCount - 1]));
  OK(hipEventRecord(end, stream[kCount - 1]));
  OK(hipEventSynchronize(end));
  bool good = true;
  for (int i = 0; i < kThreads; ++i) good &= pinned[i] == 5 * kCount;
  expect(good, __func__, "not every kernel ran, one after the other");
  float milliseconds = -1;
  OK(hipEventElapsedTime(&milliseconds, begin, end));
  expect(milliseconds > 0, __func__, "no time passed");
  for (auto& each : done) OK(hipEventDestroy(each));
  for (auto& each : stream) OK(hipStreamDestroy(each));
  OK(hipEventDestroy(begin));
  OK(hipEventDestroy(end));
  OK(hipHostFree(pinned));
}

// Memory that both sides use at one address: managed, and pinned.
void shared_memory() {
  int *managed = nullptr, *pinned = nullptr, *seen = nullptr;
  OK(hipMallocManaged(reinterpret_cast<void**>(&managed), kThreads * sizeof(int), hipMemAttachGlobal));
  OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), kThreads * sizeof(int), hipHostMallocMapped));
  OK(hipHostGetDevicePointer(reinterpret_cast<void**>(&seen), pinned, 0));
  if (failures != 0) return;
  for (int i = 0; i < kThreads; ++i) managed[i] = pinned[i] = i;
  increment<<<1, kThreads>>>(managed);
  increment<<<1, kThreads>>>(seen);
  OK(hipDeviceSynchronize());
  bool good = true;
  for (int i = 0; i < kThreads; ++i) good &= managed[i] == i + 1 && pinned[i] == i + 1;
  expect(good, __func__, "the kernel's stores are not seen");
  OK(hipFree(managed));
  OK(hipHostFree(pinned));
}

void registered_memory() {
  std::vector<int> host(kThreads * 16, 41);
  int* seen = nullptr;
  OK(hipHostRegister(host.data(), host.size() * sizeof(int), hipHostRegisterMapped));
  OK(hipHostGetDevicePointer(reinterpret_cast<void**>(&seen), host.data(), 0));
  if (failures != 0) return;
  increment<<<16, kThreads>>>(seen);
  OK(hipDeviceSynchronize());
  expect(host == std::vector<int>(host.size(), 42), __func__, "the kernel's stores are not seen");
  OK(hipHostUnregister(host.data()));
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (argc != 2 || hipGetDeviceCount(&devices) != hipSuccess || devices == 0) {
    std::printf("stock_program LANES; it needs a GPU (%d)\n", devices);
    return 2;
  }
  char name[128] = "";
  size_t vram = 0;
  OK(hipDeviceGetName(name, sizeof name, 0));
  OK(hipDeviceTotalMem(&vram, 0));
  std::printf("%s, %zu MiB\n", name, vram / kMegabyte);
  vectors();
  tiles();
  atomics();
  doubles();
  waves(std::atoi(argv[1]));
  scratch();
  copies();
  streams();
  shared_memory();
  registered_memory();
  std::printf(failures ? "%d wrong\n" : "all correct\n", failures);
  return failures ? 1 : 0;
}
