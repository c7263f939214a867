// The COMPUTE_* registers of a queue as PM4 programs them, and the dispatch that they describe.
//
// Offsets are those of SET_SH_REG. What each register and field is: the register lists of amdgpu (gc_9_0, gc_9_4_2,
// gc_11_0_0). A register that is not in the table, or whose value asks for what the model does not do, is refused by
// name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "tools/vgpu/cp/gpu_context.h"

namespace vgpu {

/// Who runs a dispatch that PM4 started, for reports.
struct Pm4Origin {
  uint32_t queue_id = 0;
  uint32_t doorbell_id = 0;
  uint64_t dispatch_index = 0;  ///< of the AQL packet whose command buffer it is; else the queue's count
};

class ComputeRegisters {
 public:
  /// How the model treats a register of the table.
  enum class Use : uint8_t {
    kDispatch,  ///< a dispatch is made of it
    kNoEffect,  ///< kept; steers what the model does not have (placement, limits, counters, debug marks)
    kZeroOnly,  ///< any other value asks for what the model does not do
    kDriver,    ///< the driver's alone
  };
  struct Row {
    uint16_t offset;
    uint16_t count;  ///< registers in a row
    const char* name;
    Use use;
    uint8_t targets;  ///< kGfx9...
  };
  static constexpr uint8_t kGfx9 = 1, kUnified = 2, kGfx11 = 4;  ///< gfx900..908; gfx90a and gfx94x; gfx11
  static std::span<const Row> table();

  /// As the driver sets up a new queue: every compute unit enabled, all else 0.
  explicit ComputeRegisters(const GpuContext& gpu);

  /// Nothing, or why the register cannot be written so.
  std::optional<std::string> write(uint32_t offset, uint32_t value);
  void set_cus(const CuMask& cus);
  uint32_t operator[](uint16_t offset) const { return values_[offset - kFirst]; }

  /// The dispatch of `dims` (work-groups, or work-items when the initiator says so), or why it cannot be run.
  std::variant<Dispatch, std::string> dispatch(const GpuContext& gpu, const std::array<uint32_t, 3>& dims,
                                               uint32_t initiator, const Pm4Origin& origin) const;

 private:
  static constexpr uint16_t kFirst = 0x200, kLast = 0x27f;
  uint64_t pair(uint16_t low) const;

  uint8_t target_;
  std::array<uint32_t, kLast - kFirst + 1> values_{};
};

}  // namespace vgpu
