// Programs that go wrong when the runtime leaves out one of its cares, each under the hostile switch that shows it.
// Usage: care order|fences|coarse_host|arguments|doorbells|code [module...]. Right on real hardware too.
#include "examples/common/check.h"

#include <cstring>
#include <vector>

namespace {

constexpr unsigned kItems = 1024, kBlock = 256;

__global__ void times_three(unsigned* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 3; }
__global__ void plus_one(unsigned* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void copy(const unsigned* from, unsigned* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

struct Payload {
  unsigned words[512];
};

/// Reads its arguments late: they have to be there until the end.
__global__ void late_sum(Payload payload, unsigned* out, unsigned rounds) {
  unsigned x = threadIdx.x;
  for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  unsigned sum = 0;
  for (unsigned i = x & 1u; i < 512 + (x & 1u); ++i) sum += payload.words[i & 511];
  if (threadIdx.x == 0) *out = sum;
}

/// Kernels of one stream depend on each other in pairs.
size_t order() {
  unsigned* data;
  HIP_CHECK(hipMalloc(&data, kItems * sizeof(unsigned)));
  HIP_CHECK(hipMemset(data, 0, kItems * sizeof(unsigned)));
  unsigned expected = 0;
  for (int round = 0; round < 40; ++round) {
    plus_one<<<kItems / kBlock, kBlock>>>(data);
    times_three<<<kItems / kBlock, kBlock>>>(data);
    expected = (expected + 1) * 3;
  }
  std::vector<unsigned> host(kItems);
  HIP_CHECK(hipMemcpy(host.data(), data, kItems * sizeof(unsigned), hipMemcpyDeviceToHost));
  size_t wrong = 0;
  for (unsigned value : host) wrong += value != expected;
  HIP_CHECK(hipFree(data));
  return wrong;
}

/// The same device buffers are filled and read over and over: by copies from and to the host, and by a kernel between.
size_t fences(bool pinned) {
  constexpr size_t kBytes = kItems * sizeof(unsigned);
  unsigned *from, *to;
  HIP_CHECK(hipMalloc(&from, kBytes));
  HIP_CHECK(hipMalloc(&to, kBytes));
  std::vector<unsigned> pageable(2 * kItems);
  unsigned* host = pageable.data();
  if (pinned) HIP_CHECK(hipHostMalloc((void**)&host, 2 * kBytes));
  size_t wrong = 0;
  for (unsigned round = 1; round < 12; ++round) {
    for (unsigned i = 0; i < kItems; ++i) host[i] = round * 100000 + i;
    std::memset(host + kItems, 0, kBytes);
    HIP_CHECK(hipMemcpy(from, host, kBytes, hipMemcpyHostToDevice));
    copy<<<kItems / kBlock, kBlock>>>(from, to);
    HIP_CHECK(hipMemcpy(host + kItems, to, kBytes, hipMemcpyDeviceToHost));
    wrong += std::memcmp(host, host + kItems, kBytes) != 0;
  }
  if (pinned) HIP_CHECK(hipHostFree(host));
  HIP_CHECK(hipFree(from));
  HIP_CHECK(hipFree(to));
  return wrong;
}

/// Host memory that the GPU may cache: the host's stores reach the next kernel after a synchronization, and back.
size_t coarse_host() {
  constexpr size_t kBytes = kItems * sizeof(unsigned);
  unsigned *from, *to;
  HIP_CHECK(hipHostMalloc((void**)&from, kBytes, hipHostMallocNonCoherent));
  HIP_CHECK(hipHostMalloc((void**)&to, kBytes, hipHostMallocNonCoherent));
  size_t wrong = 0;
  for (unsigned round = 1; round < 12; ++round) {
    for (unsigned i = 0; i < kItems; ++i) from[i] = round * 100000 + i;
    copy<<<kItems / kBlock, kBlock>>>(from, to);
    HIP_CHECK(hipDeviceSynchronize());
    wrong += std::memcmp(from, to, kBytes) != 0;
  }
  HIP_CHECK(hipHostFree(from));
  HIP_CHECK(hipHostFree(to));
  return wrong;
}

/// More launches in flight than argument memory holds.
size_t arguments() {
  constexpr unsigned kLaunches = 3000;
  unsigned* out;
  HIP_CHECK(hipMalloc(&out, kLaunches * sizeof(unsigned)));
  Payload payload{};
  for (unsigned n = 0; n < kLaunches; ++n) {
    for (unsigned i = 0; i < 512; ++i) payload.words[i] = n * 7 + i;
    late_sum<<<1, 64>>>(payload, out + n, 60);
  }
  std::vector<unsigned> host(kLaunches);
  HIP_CHECK(hipMemcpy(host.data(), out, kLaunches * sizeof(unsigned), hipMemcpyDeviceToHost));
  size_t wrong = 0;
  for (unsigned n = 0; n < kLaunches; ++n) wrong += host[n] != 512 * n * 7 + 511 * 512 / 2;
  HIP_CHECK(hipFree(out));
  return wrong;
}

/// Each ring of a doorbell counts: one that is lost must not hang the program.
size_t doorbells() {
  unsigned* data;
  HIP_CHECK(hipMalloc(&data, kItems * sizeof(unsigned)));
  HIP_CHECK(hipMemset(data, 0, kItems * sizeof(unsigned)));
  std::vector<unsigned> host(kItems);
  size_t wrong = 0;
  for (unsigned round = 1; round <= 60; ++round) {
    plus_one<<<kItems / kBlock, kBlock>>>(data);
    HIP_CHECK(hipDeviceSynchronize());
    if (round % 10) continue;
    HIP_CHECK(hipMemcpy(host.data(), data, kItems * sizeof(unsigned), hipMemcpyDeviceToHost));
    for (unsigned value : host) wrong += value != round;
  }
  HIP_CHECK(hipFree(data));
  return wrong;
}

/// Code is loaded where other code lay before.
size_t code(char** modules, int count) {
  unsigned* out;
  HIP_CHECK(hipMalloc(&out, sizeof(unsigned)));
  size_t wrong = count < 2;
  for (int round = 0; round < 6; ++round) {
    hipModule_t module;
    hipFunction_t function;
    HIP_CHECK(hipModuleLoad(&module, modules[round % count]));
    HIP_CHECK(hipModuleGetFunction(&function, module, "which"));
    void* parameters[] = {&out};
    HIP_CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
    unsigned value = 0;
    HIP_CHECK(hipMemcpy(&value, out, sizeof value, hipMemcpyDeviceToHost));
    wrong += value != static_cast<unsigned>(round % count + 1);
    HIP_CHECK(hipModuleUnload(module));
  }
  HIP_CHECK(hipFree(out));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!std::strcmp(what, "order")) return verdict(order());
  if (!std::strcmp(what, "fences")) return verdict(fences(false) + fences(true));
  if (!std::strcmp(what, "coarse_host")) return verdict(coarse_host());
  if (!std::strcmp(what, "arguments")) return verdict(arguments());
  if (!std::strcmp(what, "doorbells")) return verdict(doorbells());
  if (!std::strcmp(what, "code")) return verdict(code(argv + 2, argc - 2));
  std::fprintf(stderr, "care: no case '%s'\n", what);
  return 2;
}
