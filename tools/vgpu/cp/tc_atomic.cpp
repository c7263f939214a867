#include "tools/vgpu/cp/tc_atomic.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace vgpu {
namespace {

constexpr uint8_t kNumberBits = 0x1f, kWide = 0x20, kCompareSwap = 0x08;

template <class T>
struct Operation {
  uint8_t number;
  T (*apply)(T memory, T source, T compare);
};

template <class T>
using Signed = std::make_signed_t<T>;

template <class T>
constexpr auto kOperations = std::to_array<Operation<T>>({
    {0x07, [](T, T s, T) { return s; }},
    {kCompareSwap, [](T m, T s, T c) { return m == c ? s : m; }},
    {0x0f, [](T m, T s, T) { return static_cast<T>(m + s); }},
    {0x10, [](T m, T s, T) { return static_cast<T>(m - s); }},
    {0x11, [](T m, T s, T) { return static_cast<T>(std::min(static_cast<Signed<T>>(m), static_cast<Signed<T>>(s))); }},
    {0x12, [](T m, T s, T) { return std::min(m, s); }},
    {0x13, [](T m, T s, T) { return static_cast<T>(std::max(static_cast<Signed<T>>(m), static_cast<Signed<T>>(s))); }},
    {0x14, [](T m, T s, T) { return std::max(m, s); }},
    {0x15, [](T m, T s, T) { return static_cast<T>(m & s); }},
    {0x16, [](T m, T s, T) { return static_cast<T>(m | s); }},
    {0x17, [](T m, T s, T) { return static_cast<T>(m ^ s); }},
    {0x18, [](T m, T s, T) { return m >= s ? T{0} : static_cast<T>(m + 1); }},
    {0x19, [](T m, T s, T) { return m == 0 || m > s ? s : static_cast<T>(m - 1); }},
});

template <class T>
T apply(const AtomicRequest& request, T memory) {
  const uint8_t number = request.operation & kNumberBits;
  const auto* op = std::ranges::find(kOperations<T>, number, &Operation<T>::number);
  return op->apply(memory, static_cast<T>(request.source), static_cast<T>(request.compare));
}

}  // namespace

bool atomic_known(uint8_t operation) {
  const uint8_t number = operation & kNumberBits;
  return std::ranges::find(kOperations<uint32_t>, number, &Operation<uint32_t>::number) != kOperations<uint32_t>.end();
}

bool atomic_wide(uint8_t operation) { return (operation & kWide) != 0; }

bool atomic_is_compare_swap(uint8_t operation) { return (operation & kNumberBits) == kCompareSwap; }

MemResult<uint64_t> run_atomic(GpuMemory& memory, const AtomicRequest& request) {
  if (atomic_wide(request.operation)) {
    return memory.update64(request.va, [&](uint64_t value) { return apply<uint64_t>(request, value); });
  }
  return memory.update32(request.va, [&](uint32_t value) { return apply<uint32_t>(request, value); });
}

}  // namespace vgpu
