// The headers of all packets that the runtime publishes: docs/fences.md as data.
//
// A table and not constants in the code, so that the tests can take one care out and see a program go wrong without it
// (tests/sim/care). Nothing else writes it.
#pragma once

#include <cstdint>

#include <barehip/aql.h>

namespace barehip::runtime {

struct FenceTable {
  /// A kernel behind others of its stream.
  uint16_t dispatch = 0;
  /// A stream's first kernel after somebody outside this GPU's shaders wrote memory.
  uint16_t dispatch_after_outside_write = 0;
  /// What somebody waits for: the host, SDMA, another queue or GPU.
  uint16_t marker = 0;
  /// The last packet of each quarter of a ring: packets before it count as complete, as if it were a marker.
  uint16_t quarter_marker = 0;
  /// Waits for signals; what was written meanwhile is acquired by the dispatch behind it.
  uint16_t barrier = 0;
  /// PM4-IB that invalidates instruction caches; once in each queue after code was loaded, when `invalidate_code`.
  uint16_t code_invalidation = 0;
  bool invalidate_code = true;
};

constexpr FenceTable make_fences() {
  using aql::FenceScope;
  using aql::make_header;
  using aql::PacketType;
  constexpr bool kInOrder = true;  // every packet carries the barrier bit
  return {
      .dispatch = make_header(PacketType::kKernelDispatch, kInOrder, FenceScope::kAgent, FenceScope::kAgent),
      .dispatch_after_outside_write =
          make_header(PacketType::kKernelDispatch, kInOrder, FenceScope::kSystem, FenceScope::kAgent),
      .marker = make_header(PacketType::kBarrierAnd, kInOrder, FenceScope::kSystem, FenceScope::kSystem),
      .quarter_marker = make_header(PacketType::kBarrierAnd, kInOrder, FenceScope::kSystem, FenceScope::kSystem),
      .barrier = make_header(PacketType::kBarrierAnd, kInOrder, FenceScope::kNone, FenceScope::kNone),
      .code_invalidation = make_header(PacketType::kVendorSpecific, kInOrder, FenceScope::kNone, FenceScope::kNone),
  };
}

inline constinit FenceTable g_fences = make_fences();

}  // namespace barehip::runtime
