// The programs whose traces on stock ROCm are kept in stock/: the same calls in the same order. `programs LETTER
// [module]`. With GOLDEN_TRACE=FILE each call is noted in that file before it is made, between what the model writes.
#include <hip/hip_runtime.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

int failures = 0;

void note(const char* call) {
  const char* path = std::getenv("GOLDEN_TRACE");
  if (!path) return;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  const std::string line = std::string("call ") + call + "\n";
  if (write(fd, line.data(), line.size()) < 0) std::perror(path);
  close(fd);
}

void expect(bool good, const char* what, const char* why) {
  if (good) return;
  std::printf("%s: %s\n", what, why);
  ++failures;
}

// A call that is refused is part of the comparison; any other failure is a failure of the program.
bool run(const char* call, hipError_t result) {
  if (result == hipErrorNotSupported) {
    std::printf("refused: %s\n", call);
    return false;
  }
  expect(result == hipSuccess, call, hipGetErrorString(result));
  return result == hipSuccess;
}

#define CALL(expression) (note(#expression), run(#expression, expression))
#define LAUNCH(name, ...) (note("launch (" name ")"), __VA_ARGS__, run("launch", hipGetLastError()))

}  // namespace

__global__ void vadd(const float* a, const float* b, float* d, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d[i] = a[i] + b[i];
}

__global__ void inc(int* p) { ++p[threadIdx.x]; }

__global__ void scr(int* p, int n) {
  volatile int local[256];
  for (int i = 0; i < 256; ++i) local[i] = i * n;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += local[(threadIdx.x + i * 37) & 255];
  p[threadIdx.x] = sum;
}

__global__ void dlds(int* p, int n) {
  extern __shared__ int lds[];
  lds[threadIdx.x] = threadIdx.x * 2;
  __syncthreads();
  p[threadIdx.x] = lds[n - 1 - threadIdx.x];
}

namespace {

constexpr size_t M = 1 << 20;

void count_devices() {
  int n = 0;
  CALL(hipGetDeviceCount(&n));
  expect(n == 1, "hipGetDeviceCount", "not one device");
}

void program_b() {
  float *a, *b, *d, h[1024];
  for (int i = 0; i < 1024; ++i) h[i] = float(i);
  CALL(hipMalloc((void**)&a, 4096));
  CALL(hipMalloc((void**)&b, 4096));
  CALL(hipMalloc((void**)&d, 4096));
  CALL(hipMemcpy(a, h, 4096, hipMemcpyHostToDevice));
  CALL(hipMemcpy(b, h, 4096, hipMemcpyHostToDevice));
  LAUNCH("vadd<<<4,256>>>(a,b,d,1024)", vadd<<<4, 256>>>(a, b, d, 1024));
  CALL(hipMemcpy(h, d, 4096, hipMemcpyDeviceToHost));
  expect(h[1023] == 2046.0f, "vadd", "wrong sum");
  LAUNCH("vadd<<<4,256>>>(a,b,d,1024)", vadd<<<4, 256>>>(a, b, d, 1024));
  CALL(hipDeviceSynchronize());
  CALL(hipFree(a));
  CALL(hipFree(b));
  CALL(hipFree(d));
}

void program_c() {
  int* p;
  hipStream_t s1, s2;
  hipEvent_t e1, e2, e3;
  float ms = -1;
  CALL(hipMalloc((void**)&p, 4096));
  CALL(hipStreamCreate(&s1));
  CALL(hipStreamCreate(&s2));
  CALL(hipEventCreate(&e1));
  CALL(hipEventCreate(&e2));
  CALL(hipEventCreateWithFlags(&e3, hipEventDisableTiming));
  CALL(hipEventRecord(e1, s1));
  LAUNCH("inc<<<1,64,0,s1>>>(p)", inc<<<1, 64, 0, s1>>>(p));
  CALL(hipEventRecord(e2, s1));
  CALL(hipStreamWaitEvent(s2, e2, 0));
  LAUNCH("inc<<<1,64,0,s2>>>(p)", inc<<<1, 64, 0, s2>>>(p));
  CALL(hipEventRecord(e3, s2));
  CALL(hipEventSynchronize(e2));
  CALL(hipStreamSynchronize(s2));
  CALL(hipEventElapsedTime(&ms, e1, e2));
  expect(ms >= 0, "hipEventElapsedTime", "negative time");
  CALL(hipEventQuery(e3));
  CALL(hipEventDestroy(e1));
  CALL(hipEventDestroy(e2));
  CALL(hipEventDestroy(e3));
  CALL(hipStreamDestroy(s1));
  CALL(hipStreamDestroy(s2));
  CALL(hipFree(p));
}

void program_d() {
  char *d, *hp, *d8, *d9;
  void* dp;
  hipStream_t s;
  std::vector<char> registered(M), pg(8 << 20, 3);
  void* rp = registered.data();
  CALL(hipMalloc((void**)&d, M));
  CALL(hipStreamCreate(&s));
  CALL(hipMemset(d, 0x5a, M));
  CALL(hipMemset(d, 0, 4096));
  CALL(hipMemsetAsync(d + 1, 7, 100, s));
  CALL(hipHostMalloc((void**)&hp, M, 0));
  CALL(hipMemcpyAsync(d, hp, M, hipMemcpyHostToDevice, s));
  CALL(hipMemcpyAsync(hp, d, M, hipMemcpyDeviceToHost, s));
  CALL(hipStreamSynchronize(s));
  const bool is_registered = CALL(hipHostRegister(rp, M, 0));
  if (is_registered) CALL(hipHostGetDevicePointer(&dp, rp, 0));
  CALL(hipMemcpyAsync(d, rp, M, hipMemcpyHostToDevice, s));
  CALL(hipStreamSynchronize(s));
  if (is_registered) CALL(hipHostUnregister(rp));
  CALL(hipMalloc((void**)&d8, 8 << 20));
  CALL(hipMalloc((void**)&d9, 8 << 20));
  CALL(hipMemcpy(d8, pg.data(), 8 << 20, hipMemcpyHostToDevice));
  CALL(hipMemcpy(pg.data(), d8, 8 << 20, hipMemcpyDeviceToHost));
  CALL(hipMemcpy(d9, d8, 8 << 20, hipMemcpyDeviceToDevice));
  CALL(hipDeviceSynchronize());
  expect(pg.front() == 3 && pg.back() == 3, "hipMemcpy", "8 MiB did not come back");
  CALL(hipHostFree(hp));
  CALL(hipFree(d));
  CALL(hipFree(d8));
  CALL(hipFree(d9));
  CALL(hipStreamDestroy(s));
}

void program_e() {
  int* p;
  CALL(hipMalloc((void**)&p, 4096));
  LAUNCH("scr<<<2,64>>>(p,3)", scr<<<2, 64>>>(p, 3));
  CALL(hipDeviceSynchronize());
  LAUNCH("dlds<<<1,64,4096>>>(p,64)", dlds<<<1, 64, 4096>>>(p, 64));
  CALL(hipDeviceSynchronize());
  LAUNCH("scr<<<64,256>>>(p,3)", scr<<<64, 256>>>(p, 3));
  CALL(hipDeviceSynchronize());
  CALL(hipFree(p));
}

void program_f(const char* module_path) {
  std::ifstream file(module_path, std::ios::binary);
  const std::string buf{std::istreambuf_iterator<char>(file), {}};
  expect(!buf.empty(), module_path, "cannot be read");
  if (buf.empty()) return;
  int *p, value = 5;
  hipModule_t m;
  hipFunction_t fn;
  CALL(hipMalloc((void**)&p, 4096));
  if (!CALL(hipModuleLoadData(&m, buf.data()))) return;
  CALL(hipModuleGetFunction(&fn, m, "modk"));
  struct {
    int* p;
    int value;
  } packed{p, value};
  size_t bytes = sizeof packed;
  void* cfg[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  void* args[] = {&p, &value};
  CALL(hipModuleLaunchKernel(fn, 2, 1, 1, 64, 1, 1, 0, 0, 0, cfg));
  CALL(hipDeviceSynchronize());
  CALL(hipModuleLaunchKernel(fn, 2, 3, 1, 8, 8, 1, 128, 0, args, 0));
  CALL(hipDeviceSynchronize());
  int* gp = nullptr;
  size_t gs = 0;
  CALL(hipModuleGetGlobal((hipDeviceptr_t*)&gp, &gs, m, "modg"));
  expect(gs == 64, "hipModuleGetGlobal", "wrong size");
  CALL(hipModuleUnload(m));
  CALL(hipFree(p));
}

}  // namespace

int main(int argc, char** argv) {
  const char letter = argc > 1 ? argv[1][0] : '?';
  count_devices();
  switch (letter) {
    case 'a': break;
    case 'b': program_b(); break;
    case 'c': program_c(); break;
    case 'd': program_d(); break;
    case 'e': program_e(); break;
    case 'f': program_f(argc > 2 ? argv[2] : ""); break;
    default: std::printf("usage: programs a|b|c|d|e|f [module]\n"); return 2;
  }
  return failures ? 1 : 0;
}
