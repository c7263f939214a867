// Copies and fills: every kind of memory at both ends, sizes and offsets around what the paths treat apart.
#include <cstring>

#include "tests/sim/hip_test.h"

using namespace sim;

namespace {

std::vector<uint8_t> noise(size_t count, uint32_t seed) {
  std::vector<uint8_t> out(count);
  for (auto& byte : out) byte = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  return out;
}

// Around the store path (16 KiB), a staging chunk (1 MiB), the whole ring (4 MiB), one SDMA packet (4 MiB).
const size_t kSizes[] = {1, 3, 4, 64, 4095, 16384, 16385, 1u << 20, (1u << 20) + 1, (4u << 20) + 4097, (9u << 20) + 5};

}  // namespace

TEST_CASE("pageable memory to the device and back") {
  for (size_t size : kSizes) {
    CAPTURE(size);
    const auto source = noise(size + 7, static_cast<uint32_t>(size));
    DeviceArray<uint8_t> device(size + 7);
    std::vector<uint8_t> back(size + 7, 0xa5);
    REQUIRE_HIP(hipMemcpy(device.get() + 3, source.data() + 5, size, hipMemcpyHostToDevice));
    REQUIRE_HIP(hipMemcpy(back.data() + 1, device.get() + 3, size, hipMemcpyDeviceToHost));
    CHECK(std::memcmp(back.data() + 1, source.data() + 5, size) == 0);
    CHECK(back[0] == 0xa5);
    CHECK(back[size + 1] == 0xa5);
  }
}

TEST_CASE("pinned memory, asynchronously, in one stream") {
  for (size_t size : kSizes) {
    CAPTURE(size);
    const auto source = noise(size, 99);
    void* pinned[2] = {};
    for (void*& p : pinned) REQUIRE_HIP(hipHostMalloc(&p, size, hipHostMallocDefault));
    std::memcpy(pinned[0], source.data(), size);
    DeviceArray<uint8_t> first(size), second(size);
    StreamGuard stream;
    REQUIRE_HIP(hipMemcpyAsync(first.get(), pinned[0], size, hipMemcpyHostToDevice, stream));
    REQUIRE_HIP(hipMemcpyAsync(second.get(), first.get(), size, hipMemcpyDeviceToDevice, stream));
    REQUIRE_HIP(hipMemcpyAsync(pinned[1], second.get(), size, hipMemcpyDefault, stream));
    REQUIRE_HIP(hipStreamSynchronize(stream));
    CHECK(std::memcmp(pinned[1], source.data(), size) == 0);
    for (void* p : pinned) CHECK_HIP(hipHostFree(p));
  }
}

TEST_CASE("host to host") {
  const auto source = noise(1000, 5);
  std::vector<uint8_t> target(1000);
  CHECK_HIP(hipMemcpy(target.data(), source.data(), 1000, hipMemcpyHostToHost));
  CHECK(target == source);
}

TEST_CASE("copies wait for the kernels before them, and kernels for the copies") {
  constexpr uint32_t kCount = 300000;
  StreamGuard stream(hipStreamNonBlocking);
  void* pinned = nullptr;
  REQUIRE_HIP(hipHostMalloc(&pinned, kCount * 4, hipHostMallocDefault));
  auto* words = static_cast<uint32_t*>(pinned);
  DeviceArray<uint32_t> a(kCount), b(kCount);
  for (uint32_t i = 0; i < kCount; ++i) words[i] = i;
  for (int round = 0; round < 3; ++round) {
    REQUIRE_HIP(hipMemcpyAsync(a.get(), words, a.bytes(), hipMemcpyHostToDevice, stream));
    REQUIRE_HIP(launch(kScale, (kCount + 255) / 256, 256, 0, stream, a.get(), 2u, 1u, uint32_t{kCount}));
    REQUIRE_HIP(hipMemcpyAsync(b.get(), a.get(), a.bytes(), hipMemcpyDeviceToDevice, stream));
    REQUIRE_HIP(launch(kScale, (kCount + 255) / 256, 256, 0, stream, b.get(), 1u, 5u, uint32_t{kCount}));
    REQUIRE_HIP(hipMemcpyAsync(words, b.get(), b.bytes(), hipMemcpyDeviceToHost, stream));
  }
  REQUIRE_HIP(hipStreamSynchronize(stream));
  size_t wrong = 0;
  for (uint32_t i = 0; i < kCount; ++i) wrong += words[i] != ((i * 2 + 6) * 2 + 6) * 2 + 6;
  CHECK(wrong == 0);
  CHECK_HIP(hipHostFree(pinned));
}

TEST_CASE("fills of every element size and alignment") {
  DeviceArray<uint8_t> device(5000);
  for (size_t offset : {0, 1, 2, 3, 5})
    for (size_t count : {0, 1, 2, 3, 4, 7, 1000, 4096}) {
      CAPTURE(offset, count);
      REQUIRE_HIP(hipMemset(device.get(), 0x11, 5000));
      REQUIRE_HIP(hipMemset(device.get() + offset, 0xc3, count));
      std::vector<uint8_t> expected(5000, 0x11);
      std::memset(expected.data() + offset, 0xc3, count);
      CHECK(device.read() == expected);
    }
  DeviceArray<uint16_t> halves(1001);
  REQUIRE_HIP(hipMemsetD16(halves.get(), 0xbeef, 1001));
  CHECK(halves.read() == std::vector<uint16_t>(1001, 0xbeef));
  REQUIRE_HIP(hipMemsetD16(halves.get() + 1, 0x1234, 2));
  CHECK(halves.read()[0] == 0xbeef);
  CHECK(halves.read()[2] == 0x1234);
  CHECK(halves.read()[3] == 0xbeef);
  DeviceArray<uint32_t> words(1001);
  REQUIRE_HIP(hipMemsetD32(words.get(), static_cast<int>(0x89abcdef), 1001));
  CHECK(words.read() == std::vector<uint32_t>(1001, 0x89abcdef));
}

TEST_CASE("large fills are split") {
  DeviceArray<uint32_t> words((6u << 20) / 4);
  REQUIRE_HIP(hipMemsetAsync(words.get(), 0x5a, words.bytes(), nullptr));
  CHECK(words.read() == std::vector<uint32_t>((6u << 20) / 4, 0x5a5a5a5a));
}

TEST_CASE("rows with pitches") {
  constexpr size_t kWidth = 300, kHeight = 40, kHostPitch = 311;
  const auto source = noise(kHostPitch * kHeight, 17);
  void* device = nullptr;
  size_t pitch = 0;
  REQUIRE_HIP(hipMallocPitch(&device, &pitch, kWidth, kHeight));
  REQUIRE_HIP(hipMemcpy2D(device, pitch, source.data(), kHostPitch, kWidth, kHeight, hipMemcpyHostToDevice));
  std::vector<uint8_t> back(kWidth * kHeight);
  REQUIRE_HIP(hipMemcpy2D(back.data(), kWidth, device, pitch, kWidth, kHeight, hipMemcpyDeviceToHost));
  size_t wrong = 0;
  for (size_t y = 0; y < kHeight; ++y)
    wrong += std::memcmp(back.data() + y * kWidth, source.data() + y * kHostPitch, kWidth) != 0;
  CHECK(wrong == 0);
  CHECK_HIP_ERROR(hipMemcpy2D(device, kWidth - 1, source.data(), kHostPitch, kWidth, kHeight, hipMemcpyHostToDevice),
                  hipErrorInvalidValue);
  REQUIRE_HIP(hipMemset2D(device, pitch, 0x77, 10, kHeight));
  REQUIRE_HIP(hipMemcpy2D(back.data(), kWidth, device, pitch, kWidth, kHeight, hipMemcpyDeviceToHost));
  CHECK(back[9] == 0x77);
  CHECK(back[10] == source[10]);
  CHECK_HIP(hipFree(device));
}

TEST_CASE("bad copies are refused and touch nothing") {
  DeviceArray<uint8_t> device(std::vector<uint8_t>(64, 1));
  std::vector<uint8_t> host(64, 2);
  CHECK_HIP_ERROR(hipMemcpy(device.get(), host.data(), 65, hipMemcpyHostToDevice), hipErrorInvalidValue);
  CHECK_HIP_ERROR(hipMemcpy(nullptr, host.data(), 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  CHECK_HIP_ERROR(hipMemcpy(device.get(), nullptr, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  CHECK_HIP_ERROR(hipMemcpy(device.get(), host.data(), 4, static_cast<hipMemcpyKind>(9)),
                  hipErrorInvalidMemcpyDirection);
  CHECK_HIP_ERROR(hipMemset(nullptr, 0, 4), hipErrorInvalidValue);
  CHECK_HIP_ERROR(hipMemset(device.get() + 60, 0, 5), hipErrorInvalidValue);
  CHECK(device.read() == std::vector<uint8_t>(64, 1));
}
