// What every sim and hw test shares: checked calls, a stream of launches, device arrays that free themselves.
//
// The same programs run on vgpu (suite sim) and on a real GPU (suite hw), so they assert only what both report.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/sim/kernels.h"

/// The call's result, with names in the failure text.
#define REQUIRE_HIP(call) REQUIRE(std::string(hipGetErrorName(call)) == "hipSuccess")
#define CHECK_HIP(call) CHECK(std::string(hipGetErrorName(call)) == "hipSuccess")
#define CHECK_HIP_ERROR(call, error) CHECK(std::string(hipGetErrorName(call)) == #error)

namespace sim {

/// hipLaunchKernel of a stub with these arguments.
template <class... Arguments>
hipError_t launch(const void* kernel, dim3 grid, dim3 block, size_t lds, hipStream_t stream, Arguments... arguments) {
  void* pointers[sizeof...(arguments) + 1] = {&arguments..., nullptr};
  return hipLaunchKernel(kernel, grid, block, pointers, lds, stream);
}

/// Device memory for `count` elements; freed at the end of the test (errors of that are another test's matter).
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    REQUIRE_HIP(hipMalloc(reinterpret_cast<void**>(&data_), bytes()));
  }
  DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {  // NOLINT: implicit on purpose
    REQUIRE_HIP(hipMemcpy(data_, values.data(), bytes(), hipMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { (void)hipFree(data_); }

  T* get() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> read() const {
    std::vector<T> out(count_);
    REQUIRE_HIP(hipMemcpy(out.data(), data_, bytes(), hipMemcpyDeviceToHost));
    return out;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

class StreamGuard {
 public:
  explicit StreamGuard(unsigned flags = hipStreamDefault) { REQUIRE_HIP(hipStreamCreateWithFlags(&stream_, flags)); }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  ~StreamGuard() { (void)hipStreamDestroy(stream_); }
  operator hipStream_t() const { return stream_; }  // NOLINT: implicit on purpose

 private:
  hipStream_t stream_ = nullptr;
};

class EventGuard {
 public:
  explicit EventGuard(unsigned flags = hipEventDefault) { REQUIRE_HIP(hipEventCreateWithFlags(&event_, flags)); }
  EventGuard(const EventGuard&) = delete;
  EventGuard& operator=(const EventGuard&) = delete;
  ~EventGuard() { (void)hipEventDestroy(event_); }
  operator hipEvent_t() const { return event_; }  // NOLINT: implicit on purpose

 private:
  hipEvent_t event_ = nullptr;
};

/// Pinned words that a kernel can wait for (kSpin).
class PinnedWords {
 public:
  explicit PinnedWords(size_t count) {
    REQUIRE_HIP(hipHostMalloc(reinterpret_cast<void**>(&words_), count * sizeof(uint32_t), hipHostMallocDefault));
    for (size_t i = 0; i < count; ++i) words_[i] = 0;
  }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;
  ~PinnedWords() { (void)hipHostFree(words_); }
  uint32_t* get() const { return words_; }
  void set(size_t i, uint32_t value) { __atomic_store_n(words_ + i, value, __ATOMIC_RELEASE); }

 private:
  uint32_t* words_ = nullptr;
};

inline std::vector<uint32_t> counting(size_t count, uint32_t first = 0) {
  std::vector<uint32_t> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

}  // namespace sim
