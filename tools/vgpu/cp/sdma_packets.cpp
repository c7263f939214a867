#include "tools/vgpu/cp/sdma_packets.h"

#include <algorithm>
#include <optional>

#include "tools/vgpu/cp/cache_actions.h"
#include "tools/vgpu/cp/tc_atomic.h"
#include "tools/vgpu/cp/text.h"

namespace vgpu {
namespace {

namespace sdma = barehip::pm4::sdma;

constexpr uint64_t kBytesPerCall = 1u << 20;

SdmaOutcome done(const MemResult<void>& result) {
  if (!result) return result.error();
  return SdmaDone{};
}

SdmaRefusal refuse(const char* packet, const std::string& why) { return {std::string(packet) + ": " + why}; }

/// Runs `piece(offset, bytes)` for the next part of `total`.
template <class F>
SdmaOutcome move_some(uint64_t total, uint64_t& moved, F piece) {
  const uint64_t part = std::min(total - moved, kBytesPerCall);
  if (auto result = piece(moved, part); !result) return result.error();
  moved += part;
  if (moved < total) return SdmaAgain{.moved = true};
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

  /// Row by row; `moved` counts rows.
  SdmaOutcome operator()(const sdma::CopySubWindow& p) const {
    constexpr uint8_t kWidestElement = 4;
    if (p.tmz) return refuse(p.kName, "encrypted memory");
    if (p.src_swap || p.dst_swap) return refuse(p.kName, "byte swapping");
    if (p.element_log2 > kWidestElement) return refuse(p.kName, "an element of more than 16 bytes");
    const uint64_t rows = uint64_t{p.height} * p.depth, row_bytes = uint64_t{p.width} << p.element_log2;
    const uint64_t most = std::max<uint64_t>(kBytesPerCall / row_bytes, 1);
    for (uint64_t n = 0; n < most && moved < rows; ++n, ++moved) {
      const uint64_t y = moved % p.height, z = moved / p.height;
      const uint64_t from = (p.src_z + z) * p.src_slice_pitch + (p.src_y + y) * p.src_pitch + p.src_x;
      const uint64_t to = (p.dst_z + z) * p.dst_slice_pitch + (p.dst_y + y) * p.dst_pitch + p.dst_x;
      auto copied = gpu.memory.copy(p.dst + (to << p.element_log2), p.src + (from << p.element_log2), row_bytes);
      if (!copied) return copied.error();
    }
    if (moved < rows) return SdmaAgain{.moved = true};
    return SdmaDone{};
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
    if (!atomic_known(p.operation)) return refuse(p.kName, "operation " + std::to_string(p.operation));
    if (atomic_wide(p.operation) && p.address % 8 != 0) return refuse(p.kName, "64 bits at " + hex(p.address));
    if (gpu.config.hostile.no_pcie_atomics) {
      const auto mapping = gpu.memory.mapping(p.address, Access::kWrite);
      if (!mapping) return mapping.error();
      if (mapping->system) return refuse(p.kName, "host memory, and this slot has no PCIe atomics");
    }
    const auto old =
        run_atomic(gpu.memory, {.operation = p.operation, .va = p.address, .source = p.src, .compare = p.compare});
    if (!old) return old.error();
    const uint64_t wanted = atomic_wide(p.operation) ? p.compare : static_cast<uint32_t>(p.compare);
    if (p.loop && atomic_is_compare_swap(p.operation) && *old != wanted) return SdmaAgain{};
    return SdmaDone{};
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
