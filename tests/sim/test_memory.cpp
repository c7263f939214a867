// Allocation, freeing, pinning, and what a pointer is.
#include <sys/mman.h>

#include "tests/sim/hip_test.h"

using namespace sim;

TEST_CASE("device memory: aligned, distinct, counted, freed") {
  size_t free_before = 0, total = 0, free_after = 0;
  REQUIRE_HIP(hipMemGetInfo(&free_before, &total));
  CHECK(free_before <= total);
  void* a = nullptr;
  void* b = nullptr;
  REQUIRE_HIP(hipMalloc(&a, 1));
  REQUIRE_HIP(hipMalloc(&b, 8u << 20));
  CHECK(a != b);
  CHECK(reinterpret_cast<uintptr_t>(a) % 256 == 0);
  CHECK(reinterpret_cast<uintptr_t>(b) % 256 == 0);
  REQUIRE_HIP(hipMemGetInfo(&free_after, &total));
  CHECK(free_before - free_after >= 8u << 20);
  CHECK_HIP(hipFree(a));
  CHECK_HIP(hipFree(b));
  REQUIRE_HIP(hipMemGetInfo(&free_after, &total));
  CHECK(free_after == free_before);
}

TEST_CASE("zero bytes and null pointers are no errors") {
  void* pointer = &pointer;
  CHECK_HIP(hipMalloc(&pointer, 0));
  CHECK(pointer == nullptr);
  CHECK_HIP(hipFree(nullptr));
  CHECK_HIP(hipHostFree(nullptr));
  CHECK_HIP(hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault));
}

TEST_CASE("out of memory leaves the output alone and the device usable") {
  size_t free_bytes = 0, total = 0;
  REQUIRE_HIP(hipMemGetInfo(&free_bytes, &total));
  void* poison = reinterpret_cast<void*>(0xa5a5a5a5a5a5a5a5);
  void* pointer = poison;
  CHECK_HIP_ERROR(hipMalloc(&pointer, total + (1u << 20)), hipErrorOutOfMemory);
  CHECK(pointer == poison);
  CHECK_HIP_ERROR(hipMalloc(&pointer, ~size_t{0}), hipErrorOutOfMemory);
  CHECK(pointer == poison);
  DeviceArray<uint32_t> still(counting(100));
  CHECK(still.read() == counting(100));
}

TEST_CASE("freeing what is not the start of a live allocation is refused") {
  char on_stack[16];
  CHECK_HIP_ERROR(hipFree(on_stack), hipErrorInvalidValue);
  char* pointer = nullptr;
  REQUIRE_HIP(hipMalloc(reinterpret_cast<void**>(&pointer), 4096));
  CHECK_HIP_ERROR(hipFree(pointer + 64), hipErrorInvalidValue);
  CHECK_HIP_ERROR(hipHostFree(pointer), hipErrorInvalidValue);
  CHECK_HIP(hipFree(pointer));
  CHECK_HIP_ERROR(hipFree(pointer), hipErrorInvalidValue);
}

TEST_CASE("pinned memory is one address for host and kernels") {
  PinnedWords words(64);
  void* device_pointer = nullptr;
  REQUIRE_HIP(hipHostGetDevicePointer(&device_pointer, words.get(), 0));
  CHECK(device_pointer == words.get());
  for (uint32_t i = 0; i < 64; ++i) words.get()[i] = i;
  REQUIRE_HIP(launch(kScale, 1, 64, 0, nullptr, static_cast<uint32_t*>(device_pointer), 3u, 1u, 64u));
  REQUIRE_HIP(hipDeviceSynchronize());
  bool right = true;
  for (uint32_t i = 0; i < 64; ++i) right = right && words.get()[i] == 3 * i + 1;
  CHECK(right);
}

TEST_CASE("registered memory is used in place") {
  std::vector<uint32_t> buffer(10000, 7);
  uint32_t* inside = buffer.data() + 3;  // neither start nor end on a page
  REQUIRE_HIP(hipHostRegister(inside, 5000 * sizeof(uint32_t), hipHostRegisterDefault));
  CHECK_HIP_ERROR(hipHostRegister(inside + 10, 64, hipHostRegisterDefault), hipErrorHostMemoryAlreadyRegistered);
  void* device_pointer = nullptr;
  REQUIRE_HIP(hipHostGetDevicePointer(&device_pointer, inside, 0));
  REQUIRE_HIP(launch(kScale, 79, 64, 0, nullptr, static_cast<uint32_t*>(device_pointer), 2u, 1u, 5000u));
  REQUIRE_HIP(hipDeviceSynchronize());
  CHECK(std::accumulate(buffer.begin(), buffer.end(), uint64_t{0}) == 5000 * 15 + 5000 * 7);
  DeviceArray<uint32_t> copy(5000);
  REQUIRE_HIP(hipMemcpyAsync(copy.get(), inside, copy.bytes(), hipMemcpyHostToDevice, nullptr));
  CHECK(copy.read() == std::vector<uint32_t>(5000, 15));
  CHECK_HIP(hipHostUnregister(inside));
  CHECK_HIP_ERROR(hipHostUnregister(inside), hipErrorHostMemoryNotRegistered);
}

TEST_CASE("registering nothing, or what is not there, is refused") {
  CHECK_HIP_ERROR(hipHostRegister(nullptr, 4096, hipHostRegisterDefault), hipErrorInvalidValue);
  int value = 0;
  CHECK_HIP_ERROR(hipHostRegister(&value, 0, hipHostRegisterDefault), hipErrorInvalidValue);
  void* hole = mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(hole, 8192);
  CHECK(hipHostRegister(hole, 4096, hipHostRegisterDefault) != hipSuccess);
}

TEST_CASE("attributes of pointers") {
  DeviceArray<uint32_t> device(256);
  hipPointerAttribute_t attributes{};
  REQUIRE_HIP(hipPointerGetAttributes(&attributes, device.get() + 5));
  CHECK(attributes.type == hipMemoryTypeDevice);
  CHECK(attributes.devicePointer == device.get() + 5);
  CHECK(attributes.device == 0);
  PinnedWords pinned(4);
  REQUIRE_HIP(hipPointerGetAttributes(&attributes, pinned.get()));
  CHECK(attributes.type == hipMemoryTypeHost);
  CHECK(attributes.hostPointer == pinned.get());
}

TEST_CASE("pitched allocations start rows on 256 bytes") {
  void* pointer = nullptr;
  size_t pitch = 0;
  REQUIRE_HIP(hipMallocPitch(&pointer, &pitch, 300, 10));
  CHECK(pitch == 512);
  CHECK_HIP(hipFree(pointer));
}
