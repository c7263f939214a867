// Programs that go wrong when the runtime leaves out one of its cares, each under the hostile switch that shows it.
// Right on real hardware too.
#include "tests/sim/care/cases.h"

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

/// Reads one word and tells the host so, without the end of a kernel or any call of the API.
__global__ void touch(const unsigned* word, unsigned* out, unsigned* flag) {
  *out = *word;
  __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

/// Waits for the host. Its loads acquire nothing: the next packet has to.
__global__ void spin(unsigned* flag) {
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) == 0) __builtin_amdgcn_s_sleep(1);
}

/// Reads its arguments late: they have to be there until the end.
__global__ void late_sum(Payload payload, unsigned* out, unsigned rounds) {
  unsigned x = threadIdx.x;
  for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  unsigned sum = 0;
  for (unsigned i = x & 1u; i < 512 + (x & 1u); ++i) sum += payload.words[i & 511];
  if (threadIdx.x == 0) *out = sum;
}

/// Kernels of one stream depend on each other.
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

/// A cache line of which a kernel uses one half while the host writes the other one: by a small copy (stores), and by a
/// large one (an engine) whose stream is held up behind its copy.
size_t outside_writes(bool large) {
  constexpr size_t kWords = 32768;  // 128 KiB: more than the host copies by itself
  const size_t count = large ? kWords : 8;
  unsigned *data, *out, *flags, *host;
  HIP_CHECK(hipMalloc(&data, (kWords + 8) * sizeof(unsigned)));
  HIP_CHECK(hipMalloc(&out, (kWords + 8) * sizeof(unsigned)));
  HIP_CHECK(hipHostMalloc((void**)&host, kWords * sizeof(unsigned)));
  HIP_CHECK(hipHostMalloc((void**)&flags, 2 * sizeof(unsigned)));
  hipStream_t toucher, copier, reader;
  HIP_CHECK(hipStreamCreateWithFlags(&toucher, hipStreamNonBlocking));
  HIP_CHECK(hipStreamCreateWithFlags(&copier, hipStreamNonBlocking));
  HIP_CHECK(hipStreamCreateWithFlags(&reader, hipStreamNonBlocking));
  size_t wrong = 0;
  for (unsigned round = 1; round < 8; ++round) {
    for (size_t i = 0; i < count; ++i) host[i] = round * 100000 + i;
    __atomic_store_n(flags, 0u, __ATOMIC_RELEASE);
    touch<<<1, 1, 0, toucher>>>(data, out + kWords, flags);
    while (__atomic_load_n(flags, __ATOMIC_ACQUIRE) == 0) {
    }
    std::vector<unsigned> pageable(host, host + count);
    HIP_CHECK(hipMemcpyAsync(data + 8, large ? host : pageable.data(), count * sizeof(unsigned), hipMemcpyHostToDevice,
                             copier));
    HIP_CHECK(hipStreamSynchronize(copier));
    copy<<<1, 8, 0, reader>>>(data + 8, out);
    HIP_CHECK(hipStreamSynchronize(reader));
    std::vector<unsigned> result(8);
    HIP_CHECK(hipMemcpy(result.data(), out, result.size() * sizeof(unsigned), hipMemcpyDeviceToHost));
    for (unsigned i = 0; i < 8; ++i) wrong += result[i] != host[i];
  }
  for (hipStream_t stream : {toucher, copier, reader}) HIP_CHECK(hipStreamDestroy(stream));
  HIP_CHECK(hipHostFree(flags));
  HIP_CHECK(hipHostFree(host));
  HIP_CHECK(hipFree(out));
  HIP_CHECK(hipFree(data));
  return wrong;
}

/// A copy behind others in the engine, and a kernel of its stream behind it; meanwhile another kernel reads the same
/// line.
size_t kernel_behind_copy() {
  constexpr size_t kWords = 262144, kBytes = kWords * sizeof(unsigned);
  constexpr int kCopiesBefore = 40;
  unsigned *data, *other, *out, *flag, *host;
  HIP_CHECK(hipMalloc(&data, kBytes));
  HIP_CHECK(hipMalloc(&other, kBytes));
  HIP_CHECK(hipMalloc(&out, 16 * sizeof(unsigned)));
  HIP_CHECK(hipHostMalloc((void**)&host, kBytes));
  HIP_CHECK(hipHostMalloc((void**)&flag, sizeof(unsigned)));
  hipStream_t toucher, copier, filler;
  for (hipStream_t* stream : {&toucher, &copier, &filler})
    HIP_CHECK(hipStreamCreateWithFlags(stream, hipStreamNonBlocking));
  size_t wrong = 0;
  for (unsigned round = 1; round < 12; ++round) {
    for (unsigned i = 0; i < 8; ++i) host[i] = round * 100000 + i;
    __atomic_store_n(flag, 0u, __ATOMIC_RELEASE);
    for (int i = 0; i < kCopiesBefore; ++i)
      HIP_CHECK(hipMemcpyAsync(other, host, kBytes, hipMemcpyHostToDevice, filler));
    HIP_CHECK(hipMemcpyAsync(data + 8, host, 8 * sizeof(unsigned), hipMemcpyHostToDevice, copier));
    copy<<<1, 8, 0, copier>>>(data + 8, out);
    touch<<<1, 1, 0, toucher>>>(data, out + 8, flag);
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
    }
    HIP_CHECK(hipStreamSynchronize(copier));
    std::vector<unsigned> result(8);
    HIP_CHECK(hipMemcpyAsync(result.data(), out, result.size() * sizeof(unsigned), hipMemcpyDeviceToHost, copier));
    HIP_CHECK(hipStreamSynchronize(copier));
    HIP_CHECK(hipStreamSynchronize(filler));
    for (unsigned i = 0; i < 8; ++i) wrong += result[i] != host[i];
  }
  for (hipStream_t stream : {toucher, copier, filler}) HIP_CHECK(hipStreamDestroy(stream));
  HIP_CHECK(hipHostFree(flag));
  HIP_CHECK(hipHostFree(host));
  for (unsigned* memory : {data, other, out}) HIP_CHECK(hipFree(memory));
  return wrong;
}

/// More launches in flight than argument memory holds: the first kernel waits until it is nearly full.
size_t arguments() {
  constexpr unsigned kLaunches = 3000, kNearlyFull = 2000;
  unsigned *out, *flag;
  HIP_CHECK(hipHostMalloc((void**)&flag, sizeof(unsigned)));
  *flag = 0;
  spin<<<1, 1>>>(flag);
  HIP_CHECK(hipMalloc(&out, kLaunches * sizeof(unsigned)));
  Payload payload{};
  for (unsigned n = 0; n < kLaunches; ++n) {
    for (unsigned i = 0; i < 512; ++i) payload.words[i] = n * 7 + i;
    if (n == kNearlyFull) __atomic_store_n(flag, 1u, __ATOMIC_RELEASE);
    if (g_before_launch) g_before_launch();
    late_sum<<<1, 64>>>(payload, out + n, 60);
  }
  std::vector<unsigned> host(kLaunches);
  HIP_CHECK(hipMemcpy(host.data(), out, kLaunches * sizeof(unsigned), hipMemcpyDeviceToHost));
  size_t wrong = 0;
  for (unsigned n = 0; n < kLaunches; ++n) wrong += host[n] != 512 * n * 7 + 511 * 512 / 2;
  HIP_CHECK(hipHostFree(flag));
  HIP_CHECK(hipFree(out));
  return wrong;
}

/// Each ring of a doorbell counts: one that is lost must not hang the program. Meanwhile a packet waits, so that the
/// queues are looked at all the time.
size_t doorbells() {
  unsigned *data, *flag;
  HIP_CHECK(hipMalloc(&data, kItems * sizeof(unsigned)));
  HIP_CHECK(hipMemset(data, 0, kItems * sizeof(unsigned)));
  HIP_CHECK(hipHostMalloc((void**)&flag, sizeof(unsigned)));
  *flag = 0;
  hipStream_t spinner, waiter, worker;
  hipEvent_t event;
  HIP_CHECK(hipStreamCreateWithFlags(&spinner, hipStreamNonBlocking));
  HIP_CHECK(hipStreamCreateWithFlags(&waiter, hipStreamNonBlocking));
  HIP_CHECK(hipStreamCreateWithFlags(&worker, hipStreamNonBlocking));
  HIP_CHECK(hipEventCreate(&event));
  HIP_CHECK(hipDeviceSynchronize());
  spin<<<1, 1, 0, spinner>>>(flag);
  HIP_CHECK(hipEventRecord(event, spinner));
  HIP_CHECK(hipStreamWaitEvent(waiter, event, 0));
  std::vector<unsigned> host(kItems);
  size_t wrong = 0;
  for (unsigned round = 1; round <= 100; ++round) {
    plus_one<<<kItems / kBlock, kBlock, 0, worker>>>(data);
    HIP_CHECK(hipStreamSynchronize(worker));
    if (round % 20) continue;
    HIP_CHECK(hipMemcpyAsync(host.data(), data, kItems * sizeof(unsigned), hipMemcpyDeviceToHost, worker));
    HIP_CHECK(hipStreamSynchronize(worker));
    for (unsigned value : host) wrong += value != round;
  }
  __atomic_store_n(flag, 1u, __ATOMIC_RELEASE);
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipEventDestroy(event));
  for (hipStream_t stream : {spinner, waiter, worker}) HIP_CHECK(hipStreamDestroy(stream));
  HIP_CHECK(hipHostFree(flag));
  HIP_CHECK(hipFree(data));
  return wrong;
}

/// Code is loaded where other code lay before.
size_t code(std::span<char* const> modules) {
  const int count = static_cast<int>(modules.size());
  unsigned* out;
  HIP_CHECK(hipMalloc(&out, sizeof(unsigned)));
  size_t wrong = count < 2;
  for (int round = 0; round < 6; ++round) {
    hipModule_t module;
    hipFunction_t function;
    HIP_CHECK(hipModuleLoad(&module, modules[static_cast<size_t>(round % count)]));
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

int run_care_case(std::string_view name, std::span<char* const> modules, size_t& wrong) {
  if (name == "order")
    wrong = order();
  else if (name == "fences")
    wrong = fences(false) + fences(true);
  else if (name == "coarse_host")
    wrong = coarse_host();
  else if (name == "outside_writes")
    wrong = outside_writes(false) + outside_writes(true);
  else if (name == "kernel_behind_copy")
    wrong = kernel_behind_copy();
  else if (name == "arguments")
    wrong = arguments();
  else if (name == "doorbells")
    wrong = doorbells();
  else if (name == "code")
    wrong = code(modules);
  else
    return -1;
  return 0;
}
