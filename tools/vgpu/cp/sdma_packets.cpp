#include "tools/vgpu/cp/sdma_packets.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "tools/vgpu/cp/cache_actions.h"

namespace vgpu {
namespace {

namespace sdma = barehip::pm4::sdma;

constexpr uint64_t kBytesPerCall = 1u << 20;

SdmaOutcome done(const MemResult<void>& result) {
  if (!result) return result.error();
  return SdmaDone{};
}

SdmaRefusal refuse(const char* packet, const std::string& why) { return {std::string("SDMA ") + packet + ": " + why}; }

/// Runs `piece(offset, bytes)` for the next part of `total`.
template <class F>
SdmaOutcome move_some(uint64_t total, uint64_t& moved, F piece) {
  const uint64_t part = std::min(total - moved, kBytesPerCall);
  if (auto result = piece(moved, part); !result) return result.error();
  moved += part;
  if (moved < total) return SdmaAgain{.moved = true};
  return SdmaDone{};
}

// ---- atomics ----

/// Operation numbers are the texture cache's (vega10_enum.h, TC_OP). Bit 5 chooses 64 bits; with bit 6 the old value is
/// not returned, which makes no difference to an engine that drops it.
template <class T>
struct AtomicOperation {
  uint8_t number;
  T (*apply)(T memory, T source, T compare);
};

template <class T>
using Signed = std::make_signed_t<T>;

constexpr uint8_t kCompareSwap = 0x08;

template <class T>
constexpr auto kAtomics = std::to_array<AtomicOperation<T>>({
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
MemResult<T> update(GpuMemory& memory, uint64_t va, const std::function<T(T)>& next) {
  if constexpr (sizeof(T) == 8)
    return memory.update64(va, next);
  else
    return memory.update32(va, next);
}

template <class T>
SdmaOutcome run_atomic(GpuContext& gpu, const sdma::Atomic& p) {
  constexpr uint8_t kNumberBits = 0x1f;
  const uint8_t number = p.operation & kNumberBits;
  const auto* op = std::ranges::find(kAtomics<T>, number, &AtomicOperation<T>::number);
  if (op == kAtomics<T>.end()) return refuse("ATOMIC", "operation " + std::to_string(p.operation));
  const auto source = static_cast<T>(p.src);
  const auto compare = static_cast<T>(p.compare);
  const auto old = update<T>(gpu.memory, p.address, [=](T memory) { return op->apply(memory, source, compare); });
  if (!old) return old.error();
  if (p.loop && number == kCompareSwap && *old != compare) return SdmaAgain{};
  return SdmaDone{};
}

// ---- conditions ----

std::optional<bool> compare(sdma::Compare function, uint32_t value, uint32_t reference) {
  switch (function) {
    case sdma::Compare::kAlways: return true;
    case sdma::Compare::kLess: return value < reference;
    case sdma::Compare::kLessEqual: return value <= reference;
    case sdma::Compare::kEqual: return value == reference;
    case sdma::Compare::kNotEqual: return value != reference;
    case sdma::Compare::kGreaterEqual: return value >= reference;
    case sdma::Compare::kGreater: return value > reference;
  }
  return std::nullopt;
}

// ---- packets ----

struct Runner {
  GpuContext& gpu;
  uint64_t& moved;

  SdmaOutcome operator()(const sdma::Nop&) const { return SdmaDone{}; }

  SdmaOutcome operator()(const sdma::CopyLinear& p) const {
    if (p.encrypt || p.tmz) return refuse(p.kName, "encrypted memory");
    if (p.src_swap || p.dst_swap) return refuse(p.kName, "byte swapping");
    if (!p.backwards) {
      return move_some(p.bytes, moved,
                       [&](uint64_t at, uint64_t n) { return gpu.memory.copy(p.dst + at, p.src + at, n); });
    }
    return move_some(p.bytes, moved, [&](uint64_t at, uint64_t n) {
      const uint64_t from = p.bytes - at - n;
      return gpu.memory.copy(p.dst + from, p.src + from, n);
    });
  }

  SdmaOutcome operator()(const sdma::CopyBroadcast& p) const {
    if (p.encrypt || p.tmz) return refuse(p.kName, "encrypted memory");
    return move_some(p.bytes, moved, [&](uint64_t at, uint64_t n) {
      auto first = gpu.memory.copy(p.dst + at, p.src + at, n);
      return first ? gpu.memory.copy(p.dst2 + at, p.src + at, n) : first;
    });
  }

  SdmaOutcome operator()(const sdma::WriteLinear& p) const {
    if (p.encrypt || p.tmz) return refuse(p.kName, "encrypted memory");
    return done(gpu.memory.write(p.dst, p.data.data(), p.data.size_bytes()));
  }

  SdmaOutcome operator()(const sdma::ConstFill& p) const {
    const unsigned unit = 1u << static_cast<unsigned>(p.unit);
    if (unit > 4) return refuse(p.kName, "a unit of 8 bytes");
    if (p.dst % unit != 0) return refuse(p.kName, "a destination that is not aligned to its unit");
    return move_some(sdma::fill_bytes(p), moved,
                     [&](uint64_t at, uint64_t n) { return gpu.memory.fill(p.dst + at, p.value, unit, n); });
  }

  SdmaOutcome operator()(const sdma::Fence& p) const { return done(gpu.memory.store<uint32_t>(p.address, p.data)); }

  SdmaOutcome operator()(const sdma::Trap& p) const {
    gpu.outbox.post([id = p.context](InterruptSink& sink) { sink.on_sdma_trap(id); });
    return SdmaDone{};
  }

  // The retry count is not used: it counts reads at the engine's pace, which the model does not have.
  SdmaOutcome operator()(const sdma::PollRegmem& p) const {
    if (sdma::is_hdp_flush(p)) return SdmaDone{};
    if (!p.memory) return refuse(p.kName, "a register, other than to flush HDP");
    const auto value = gpu.memory.load<uint32_t>(p.address & ~3ull);
    if (!value) return value.error();
    const auto met = compare(p.compare, *value & p.mask, p.value);
    if (!met) return refuse(p.kName, "function 7");
    if (!*met) return SdmaAgain{};
    return SdmaDone{};
  }

  SdmaOutcome operator()(const sdma::CondExe& p) const {
    const auto value = gpu.memory.load<uint32_t>(p.address);
    if (!value) return value.error();
    return SdmaDone{.skip_dwords = *value == p.reference ? 0u : p.count};
  }

  SdmaOutcome operator()(const sdma::Atomic& p) const {
    if (p.tmz) return refuse(p.kName, "encrypted memory");
    constexpr uint8_t kWide = 0x20;
    if (gpu.config.hostile.no_pcie_atomics) {
      const auto mapping = gpu.memory.mapping(p.address, Access::kWrite);
      if (!mapping) return mapping.error();
      if (mapping->system) return refuse(p.kName, "host memory, and this slot has no PCIe atomics");
    }
    return p.operation & kWide ? run_atomic<uint64_t>(gpu, p) : run_atomic<uint32_t>(gpu, p);
  }

  SdmaOutcome operator()(const sdma::TimestampGlobal& p) const {
    return done(gpu.memory.store<uint64_t>(p.address, gpu.clock()));
  }

  SdmaOutcome operator()(const sdma::GcrReq& p) const {
    apply_cache_actions(gpu, actions_from_gcr(p.control));
    return SdmaDone{};
  }

  SdmaOutcome operator()(const sdma::Indirect& p) const {
    if (p.vmid != 0) return refuse(p.kName, "another VMID");
    return SdmaCall{p.address, p.count};
  }
};

}  // namespace

SdmaOutcome run_sdma_packet(GpuContext& gpu, const sdma::Packet& packet, uint64_t& moved_bytes) {
  return std::visit(Runner{gpu, moved_bytes}, packet);
}

}  // namespace vgpu
