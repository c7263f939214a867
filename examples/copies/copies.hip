// Every way that bytes travel: pageable and pinned host memory, device to device, fills, pitched rows, variables.
#include "../common/check.h"

#include <cstdint>
#include <cstring>
#include <vector>

constexpr size_t kCount = 100'003;  // odd on purpose: nothing is a multiple of anything

__device__ uint32_t device_variable[16];

static uint32_t pattern(size_t i) { return static_cast<uint32_t>(i * 2654435761u + 12345u); }

static size_t differences(const uint32_t* got, size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) wrong += got[i] != pattern(i);
  return wrong;
}

static size_t there_and_back(uint32_t* host, const char* what) {
  uint32_t *first, *second;
  HIP_CHECK(hipMalloc(&first, kCount * sizeof(uint32_t)));
  HIP_CHECK(hipMalloc(&second, kCount * sizeof(uint32_t)));
  for (size_t i = 0; i < kCount; ++i) host[i] = pattern(i);
  HIP_CHECK(hipMemcpy(first, host, kCount * sizeof(uint32_t), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(second, first, kCount * sizeof(uint32_t), hipMemcpyDeviceToDevice));
  std::memset(host, 0, kCount * sizeof(uint32_t));
  HIP_CHECK(hipMemcpy(host, second, kCount * sizeof(uint32_t), hipMemcpyDeviceToHost));
  const size_t wrong = differences(host, kCount);
  std::printf("%-9s host -> device -> device -> host: %zu wrong\n", what, wrong);
  HIP_CHECK(hipFree(second));
  HIP_CHECK(hipFree(first));
  return wrong;
}

static size_t fills() {
  uint8_t* memory;
  HIP_CHECK(hipMalloc(&memory, 4096));
  HIP_CHECK(hipMemset(memory, 0xa5, 4096));
  HIP_CHECK(hipMemset(memory + 3, 0x11, 1001));
  HIP_CHECK(hipMemsetD32(memory + 2048, 0x01020304, 100));
  std::vector<uint8_t> host(4096);
  HIP_CHECK(hipMemcpy(host.data(), memory, host.size(), hipMemcpyDefault));
  size_t wrong = 0;
  for (size_t i = 0; i < host.size(); ++i) {
    const uint8_t expected = i >= 2048 && i < 2448 ? 4 - i % 4 : i >= 3 && i < 1004 ? 0x11 : 0xa5;
    wrong += host[i] != expected;
  }
  std::printf("fills of bytes and words: %zu wrong\n", wrong);
  HIP_CHECK(hipFree(memory));
  return wrong;
}

static size_t rows() {
  constexpr size_t kWidth = 301, kHeight = 17;  // bytes, rows
  void* memory;
  size_t pitch;
  HIP_CHECK(hipMallocPitch(&memory, &pitch, kWidth, kHeight));
  std::vector<uint8_t> in(kWidth * kHeight), out(kWidth * kHeight);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(pattern(i));
  HIP_CHECK(hipMemcpy2D(memory, pitch, in.data(), kWidth, kWidth, kHeight, hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy2D(out.data(), kWidth, memory, pitch, kWidth, kHeight, hipMemcpyDeviceToHost));
  const size_t wrong = in != out;
  std::printf("%zu rows of %zu bytes, %zu apart on the device: %zu wrong\n", kHeight, kWidth, pitch, wrong);
  HIP_CHECK(hipFree(memory));
  return wrong;
}

static size_t variable() {
  uint32_t in[16], out[16] = {};
  for (size_t i = 0; i < 16; ++i) in[i] = pattern(i);
  HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(device_variable), in, sizeof in));
  HIP_CHECK(hipMemcpyFromSymbol(out, HIP_SYMBOL(device_variable), sizeof out));
  const size_t wrong = differences(out, 16);
  std::printf("to a device variable and back: %zu wrong\n", wrong);
  return wrong;
}

int main() {
  std::vector<uint32_t> pageable(kCount);
  uint32_t* pinned;
  HIP_CHECK(hipHostMalloc(&pinned, kCount * sizeof(uint32_t)));
  size_t wrong = there_and_back(pageable.data(), "pageable") + there_and_back(pinned, "pinned");
  HIP_CHECK(hipHostFree(pinned));
  wrong += fills() + rows() + variable();
  wrong += hipMemcpy(nullptr, pageable.data(), 4, hipMemcpyHostToDevice) == hipSuccess;  // must be refused
  return verdict(wrong);
}
