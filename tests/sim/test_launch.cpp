// Launches: shapes, arguments, LDS, private memory, and what is refused.
#include <algorithm>

#include "tests/sim/hip_test.h"

using namespace sim;

namespace {
size_t wrong_coordinates(const std::vector<uint32_t>& out, uint32_t threads) {
  size_t wrong = 0;
  for (size_t i = 0; i < out.size(); ++i)
    wrong += out[i] != (static_cast<uint32_t>(i / threads) << 16 | static_cast<uint32_t>(i % threads));
  return wrong;
}
}  // namespace

TEST_CASE("vector add") {
  constexpr int kCount = 5001;
  std::vector<float> a(kCount), b(kCount);
  for (int i = 0; i < kCount; ++i) a[i] = 0.5f * static_cast<float>(i), b[i] = 3.0f - static_cast<float>(i);
  DeviceArray<float> da(a), db(b), sum(kCount);
  REQUIRE_HIP(launch(kVectorAdd, (kCount + 255) / 256, 256, 0, nullptr, da.get(), db.get(), sum.get(), int{kCount}));
  REQUIRE_HIP(hipGetLastError());
  const auto out = sum.read();
  size_t wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += out[i] != a[i] + b[i];
  CHECK(wrong == 0);
}

TEST_CASE("every work-item of every block runs once, in one to three dimensions") {
  struct {
    dim3 grid, block;
  } const shapes[] = {{1, 1},
                      {7, 64},
                      {3, 100},
                      {dim3(4, 3), dim3(8, 8)},
                      {2, 1024},
                      {dim3(2, 2, 2), dim3(5, 3, 2)},
                      {dim3(1, 5), dim3(1, 33)},
                      {dim3(1, 1, 9), dim3(2, 2, 16)}};
  for (const auto& [grid, block] : shapes) {
    CAPTURE(grid.x, grid.y, grid.z, block.x, block.y, block.z);
    const uint32_t threads = block.x * block.y * block.z;
    DeviceArray<uint32_t> out(std::vector<uint32_t>(size_t{grid.x} * grid.y * grid.z * threads, ~0u));
    REQUIRE_HIP(launch(kCoordinates, grid, block, 0, nullptr, out.get()));
    CHECK(wrong_coordinates(out.read(), threads) == 0);
  }
}

TEST_CASE("dynamic LDS, up to all of it") {
  int most = 0;
  REQUIRE_HIP(hipDeviceGetAttribute(&most, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
  for (uint32_t words : {64u, 1000u, static_cast<uint32_t>(most) / 4}) {
    CAPTURE(words);
    DeviceArray<uint32_t> out(words * 2);
    REQUIRE_HIP(launch(kDynamicLds, 2, 128, words * 4, nullptr, out.get(), words));
    auto expected = counting(words * 2);
    std::reverse(expected.begin(), expected.begin() + words);
    std::reverse(expected.begin() + words, expected.end());
    CHECK(out.read() == expected);
  }
}

TEST_CASE("static LDS") {
  DeviceArray<uint32_t> out(256);
  REQUIRE_HIP(launch(kStaticLds, 1, 256, 0, nullptr, out.get()));
  auto expected = counting(256, 8191 - 255);
  std::reverse(expected.begin(), expected.end());
  CHECK(out.read() == expected);
}

namespace {
template <int kWords>
uint32_t private_walk(uint32_t seed, uint32_t rounds) {
  std::vector<uint32_t> local = counting(kWords, seed);
  uint32_t at = seed % kWords;
  for (uint32_t i = 0; i < rounds; ++i) {
    local[at] += local[(at + 7) % kWords];
    at = (at + local[at]) % kWords;
  }
  return local[at];
}
}  // namespace

TEST_CASE("private memory, from none to little to much and back") {
  constexpr uint32_t kThreads = 64 * 24;
  for (bool big : {false, true, false}) {
    CAPTURE(big);
    DeviceArray<uint32_t> out(kThreads);
    REQUIRE_HIP(launch(big ? kBigScratch : kScratch, 24, 64, 0, nullptr, out.get(), 50u));
    const auto result = out.read();
    size_t wrong = 0;
    for (uint32_t i = 0; i < kThreads; ++i)
      wrong += result[i] != (big ? private_walk<2048>(i, 50) : private_walk<64>(i, 50));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arguments of odd sizes, and more than fit a usual slot") {
  DeviceArray<uint64_t> out(4);
  REQUIRE_HIP(launch(kMixedArguments, 1, 1, 0, nullptr, uint8_t{200}, uint64_t{1} << 40, uint16_t{60000},
                     Triple{1, 2, 3}, out.get()));
  CHECK(out.read() == std::vector<uint64_t>{200, uint64_t{1} << 40, 60000, 321});
  Block block;
  for (uint32_t i = 0; i < 150; ++i) block.words[i] = i + 1;
  REQUIRE_HIP(launch(kManyArguments, 4, 64, 0, nullptr, block, out.get()));
  CHECK(out.read() == std::vector<uint64_t>(4, 0));
}

TEST_CASE("each launch has its own arguments, also while earlier ones wait") {
  PinnedWords flag(1);
  constexpr uint32_t kLaunches = 300;
  DeviceArray<uint32_t> out(kLaunches);
  REQUIRE_HIP(launch(kSpin, 1, 1, 0, nullptr, flag.get()));
  for (uint32_t i = 0; i < kLaunches; ++i)
    REQUIRE(launch(kStore, 1, 1, 0, nullptr, out.get() + i, i * 3) == hipSuccess);
  flag.set(0, 1);
  const auto result = out.read();
  size_t wrong = 0;
  for (uint32_t i = 0; i < kLaunches; ++i) wrong += result[i] != i * 3;
  CHECK(wrong == 0);
}

TEST_CASE("device variables keep their values between launches") {
  uint32_t start = 0;
  REQUIRE_HIP(hipMemcpyFromSymbol(&start, kCounterSymbol, 4, 0, hipMemcpyDeviceToHost));
  const auto table = counting(kTableWords, 77);
  REQUIRE_HIP(hipMemcpyToSymbol(kTableSymbol, table.data(), kTableWords * 4, 0, hipMemcpyHostToDevice));
  for (int i = 0; i < 3; ++i) REQUIRE_HIP(hipLaunchKernel(kNoArguments, 1, 64, nullptr, 0, nullptr));
  DeviceArray<uint32_t> out(1 + kTableWords);
  REQUIRE_HIP(launch(kReadVariables, 1, 1, 0, nullptr, out.get()));
  auto expected = table;
  expected.insert(expected.begin(), start + 3);
  CHECK(out.read() == expected);
  void* address = nullptr;
  size_t bytes = 0;
  REQUIRE_HIP(hipGetSymbolAddress(&address, kTableSymbol));
  REQUIRE_HIP(hipGetSymbolSize(&bytes, kTableSymbol));
  CHECK(bytes == kTableWords * 4);
  CHECK_HIP_ERROR(hipGetSymbolAddress(&address, &bytes), hipErrorInvalidSymbol);
}

TEST_CASE("launches beyond a limit are refused, and nothing runs") {
  DeviceArray<uint32_t> out(std::vector<uint32_t>(1024, 9));
  uint32_t* to = out.get();
  CHECK_HIP_ERROR(launch(kCoordinates, 1, 1025, 0, nullptr, to), hipErrorInvalidConfiguration);
  CHECK_HIP_ERROR(launch(kCoordinates, 1, dim3(32, 33), 0, nullptr, to), hipErrorInvalidConfiguration);
  CHECK_HIP_ERROR(launch(kCoordinates, 1, 0, 0, nullptr, to), hipErrorInvalidConfiguration);
  CHECK_HIP_ERROR(launch(kCoordinates, dim3(1, 0, 1), 1, 0, nullptr, to), hipErrorInvalidConfiguration);
  CHECK_HIP_ERROR(launch(kCoordinates, 0x80000000u, 2, 0, nullptr, to), hipErrorInvalidConfiguration);
  CHECK_HIP_ERROR(launch(kBounded, 1, 65, 0, nullptr, to), hipErrorInvalidConfiguration);
  CHECK_HIP_ERROR(launch(kDynamicLds, 1, 64, 65537, nullptr, to, 64u), hipErrorInvalidConfiguration);
  CHECK_HIP_ERROR(launch(kStaticLds, 1, 64, 32769, nullptr, to), hipErrorInvalidConfiguration);
  CHECK_HIP_ERROR(launch(kDynamicLds, 1, 64, ~size_t{0}, nullptr, to, 64u), hipErrorInvalidConfiguration);
  REQUIRE_HIP(hipDeviceSynchronize());
  CHECK(out.read() == std::vector<uint32_t>(1024, 9));
}

TEST_CASE("launching what is no kernel, or without its arguments, is refused") {
  int local = 0;
  CHECK_HIP_ERROR(hipLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr), hipErrorInvalidDeviceFunction);
  CHECK_HIP_ERROR(hipLaunchKernel(&local, 1, 1, nullptr, 0, nullptr), hipErrorInvalidDeviceFunction);
  CHECK_HIP_ERROR(hipLaunchKernel(kStore, 1, 1, nullptr, 0, nullptr), hipErrorInvalidValue);
  void* pointers[2] = {nullptr, &local};
  CHECK_HIP_ERROR(hipLaunchKernel(kStore, 1, 1, pointers, 0, nullptr), hipErrorInvalidValue);
  CHECK_HIP_ERROR(hipLaunchKernel(kNoArguments, 1, 1, nullptr, 0, reinterpret_cast<hipStream_t>(&local)),
                  hipErrorInvalidHandle);
  CHECK_HIP(hipDeviceSynchronize());
}

TEST_CASE("attributes of a kernel") {
  hipFuncAttributes attributes{};
  REQUIRE_HIP(hipFuncGetAttributes(&attributes, kStaticLds));
  CHECK(attributes.sharedSizeBytes == 32768);
  REQUIRE_HIP(hipFuncGetAttributes(&attributes, kBounded));
  CHECK(attributes.maxThreadsPerBlock == 64);
  REQUIRE_HIP(hipFuncGetAttributes(&attributes, kBigScratch));
  CHECK(attributes.localSizeBytes >= 8192);
  CHECK_HIP_ERROR(hipFuncGetAttributes(&attributes, nullptr), hipErrorInvalidDeviceFunction);
}
