// What the packet processors of a target can do, as bits. Code that builds or decodes packets asks for a bit, never
// for a generation; tests take bits away one by one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace barehip::pm4 {

enum class Cap : uint8_t {
  // AQL
  kAqlPm4Ib,         ///< vendor packet that runs a PM4 indirect buffer
  kAqlBarrierValue,  ///< vendor packet that waits for a signal value under a mask
  // PM4
  kGcr,             ///< cache control by GCR_CNTL (ACQUIRE_MEM of 8 dwords); else by CP_COHER_CNTL
  kWaitRegMem64,    ///< WAIT_REG_MEM64
  kDispatchWave32,  ///< the dispatch initiator chooses 32-lane waves
  // SDMA
  kSdmaCount30,        ///< byte counts of copies have 30 bits; else 22
  kSdmaFill30,         ///< byte counts of fills have 30 bits; else 22
  kSdmaGcrReq,         ///< GCR_REQ, and caches that need it around a copy
  kSdmaMtype,          ///< FENCE names a memory type
  kSdmaCachePolicy,    ///< COPY_LINEAR names cache policies
  kSdmaBackwardsCopy,  ///< COPY_LINEAR may run from the last byte to the first
  kCount
};

class CapSet {
 public:
  constexpr CapSet() = default;
  constexpr CapSet(std::initializer_list<Cap> caps) {
    for (Cap cap : caps) bits_ |= bit(cap);
  }
  [[nodiscard]] constexpr bool has(Cap cap) const { return (bits_ & bit(cap)) != 0; }
  [[nodiscard]] constexpr bool has_all(CapSet other) const { return (bits_ & other.bits_) == other.bits_; }
  [[nodiscard]] constexpr bool has_any(CapSet other) const { return (bits_ & other.bits_) != 0; }
  [[nodiscard]] constexpr CapSet with(Cap cap) const { return CapSet(bits_ | bit(cap)); }
  [[nodiscard]] constexpr CapSet without(Cap cap) const { return CapSet(bits_ & ~bit(cap)); }
  constexpr bool operator==(const CapSet&) const = default;

 private:
  constexpr explicit CapSet(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t bit(Cap cap) { return 1u << static_cast<unsigned>(cap); }
  uint32_t bits_ = 0;
};

/// Limits that are numbers.
struct PacketLimits {
  uint32_t sdma_max_copy_bytes = 0;     ///< what one COPY_LINEAR moves at most, a multiple of 32 bytes
  uint32_t sdma_max_fill_bytes = 0;     ///< the same for CONST_FILL
  uint32_t sdma_min_submit_dwords = 0;  ///< a shorter submission is padded with NOPs
};

struct PacketCaps {
  uint32_t gfx_target_version = 0;
  CapSet caps;
  PacketLimits limits;
};

/// Null for a target without a row. `gfx_target_version` as in the KFD topology (90010 is gfx90a).
const PacketCaps* find_packet_caps(uint32_t gfx_target_version);

std::string_view to_string(Cap cap);

}  // namespace barehip::pm4
