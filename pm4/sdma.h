// SDMA packets of engine versions 4.x, 5.x and 6.x: the ones that user queues may hold.
//
// Layouts follow the public SDMA packet headers of the amdgpu kernel driver. The engine reads dwords; dword 0 holds
// op [7:0] and sub-op [15:8]. A zero dword is a NOP. What differs between engine versions is a capability of the
// field or packet (pm4/caps.h). Addresses are GPU virtual addresses, counts are in the unit that the name says.
#pragma once

#include <variant>

#include "pm4/fields.h"

namespace barehip::pm4::sdma {

struct Nop {
  uint32_t skip_dwords = 0;  ///< dwords after the header that the engine ignores

  static constexpr const char* kName = "NOP";
  static constexpr uint8_t kOp = 0, kSubOp = 0;
  static constexpr uint32_t kDwords = 1;
  static constexpr auto kFields = std::tuple{bits<&Nop::skip_dwords>("skip_dwords", 0, 16, 14)};
};

struct CopyLinear {
  uint32_t bytes = 0;  ///< 1 to the limit of the target (PacketLimits)
  uint64_t src = 0;
  uint64_t dst = 0;
  bool backwards = false;  ///< for overlapping ranges whose destination is above the source
  bool encrypt = false;
  bool tmz = false;
  uint8_t dst_swap = 0, src_swap = 0;
  uint8_t dst_cache_policy = 0, src_cache_policy = 0;

  static constexpr const char* kName = "COPY_LINEAR";
  static constexpr uint8_t kOp = 1, kSubOp = 0;
  static constexpr uint32_t kDwords = 7;
  static constexpr uint32_t kSelectMask = 1u << 27, kSelectValue = 0;
  static constexpr auto kFields =
      std::tuple{bits<&CopyLinear::bytes>("bytes", 1, 0, 30).with_bias(1).narrow_without(Cap::kSdmaCount30, 22),
                 qword<&CopyLinear::src>("src", 3),
                 qword<&CopyLinear::dst>("dst", 5),
                 bits<&CopyLinear::backwards>("backwards", 0, 25, 1).needing(Cap::kSdmaBackwardsCopy),
                 bits<&CopyLinear::encrypt>("encrypt", 0, 16, 1),
                 bits<&CopyLinear::tmz>("tmz", 0, 18, 1),
                 bits<&CopyLinear::dst_swap>("dst_swap", 2, 16, 2),
                 bits<&CopyLinear::src_swap>("src_swap", 2, 24, 2),
                 bits<&CopyLinear::dst_cache_policy>("dst_cache_policy", 2, 18, 3).needing(Cap::kSdmaCachePolicy),
                 bits<&CopyLinear::src_cache_policy>("src_cache_policy", 2, 26, 3).needing(Cap::kSdmaCachePolicy)};
};

/// One source, two destinations.
struct CopyBroadcast {
  uint32_t bytes = 0;
  uint64_t src = 0;
  uint64_t dst = 0;
  uint64_t dst2 = 0;
  bool encrypt = false;
  bool tmz = false;

  static constexpr const char* kName = "COPY_BROADCAST";
  static constexpr uint8_t kOp = 1, kSubOp = 0;
  static constexpr uint32_t kDwords = 9;
  static constexpr uint32_t kSelectMask = 1u << 27, kSelectValue = 1u << 27;
  static constexpr auto kFields =
      std::tuple{bits<&CopyBroadcast::bytes>("bytes", 1, 0, 30).with_bias(1).narrow_without(Cap::kSdmaCount30, 22),
                 qword<&CopyBroadcast::src>("src", 3),
                 qword<&CopyBroadcast::dst>("dst", 5),
                 qword<&CopyBroadcast::dst2>("dst2", 7),
                 bits<&CopyBroadcast::encrypt>("encrypt", 0, 16, 1),
                 bits<&CopyBroadcast::tmz>("tmz", 0, 18, 1)};
};

/// A box out of one linear image into another. Coordinates, pitches and sizes are counted in elements.
struct CopySubWindow {
  uint8_t element_log2 = 0;  ///< bytes of an element: 1 to 16
  uint64_t src = 0;          ///< 4-byte aligned, as dst
  uint64_t dst = 0;
  uint16_t src_x = 0, src_y = 0, src_z = 0;
  uint16_t dst_x = 0, dst_y = 0, dst_z = 0;
  uint32_t src_pitch = 1, dst_pitch = 1;              ///< of a row
  uint32_t src_slice_pitch = 1, dst_slice_pitch = 1;  ///< of a slice
  uint32_t width = 1, height = 1, depth = 1;
  uint8_t dst_swap = 0, src_swap = 0;
  uint8_t dst_cache_policy = 0, src_cache_policy = 0;
  bool tmz = false;

  static constexpr const char* kName = "COPY_SUB_WINDOW";
  static constexpr uint8_t kOp = 1, kSubOp = 4;
  static constexpr uint32_t kDwords = 13;
  // Depths have 11 bits up to engine version 4, 13 from 5 on.
  static constexpr auto kFields =
      std::tuple{bits<&CopySubWindow::element_log2>("element_log2", 0, 29, 3),
                 bits<&CopySubWindow::tmz>("tmz", 0, 18, 1),
                 qword<&CopySubWindow::src>("src", 1, 2),
                 bits<&CopySubWindow::src_x>("src_x", 3, 0, 14),
                 bits<&CopySubWindow::src_y>("src_y", 3, 16, 14),
                 bits<&CopySubWindow::src_z>("src_z", 4, 0, 13).narrow_without(Cap::kSdmaMtype, 11),
                 bits<&CopySubWindow::src_pitch>("src_pitch", 4, 13, 19).with_bias(1),
                 bits<&CopySubWindow::src_slice_pitch>("src_slice_pitch", 5, 0, 28).with_bias(1),
                 qword<&CopySubWindow::dst>("dst", 6, 2),
                 bits<&CopySubWindow::dst_x>("dst_x", 8, 0, 14),
                 bits<&CopySubWindow::dst_y>("dst_y", 8, 16, 14),
                 bits<&CopySubWindow::dst_z>("dst_z", 9, 0, 13).narrow_without(Cap::kSdmaMtype, 11),
                 bits<&CopySubWindow::dst_pitch>("dst_pitch", 9, 13, 19).with_bias(1),
                 bits<&CopySubWindow::dst_slice_pitch>("dst_slice_pitch", 10, 0, 28).with_bias(1),
                 bits<&CopySubWindow::width>("width", 11, 0, 14).with_bias(1),
                 bits<&CopySubWindow::height>("height", 11, 16, 14).with_bias(1),
                 bits<&CopySubWindow::depth>("depth", 12, 0, 13).with_bias(1).narrow_without(Cap::kSdmaMtype, 11),
                 bits<&CopySubWindow::dst_swap>("dst_swap", 12, 16, 2),
                 bits<&CopySubWindow::src_swap>("src_swap", 12, 24, 2),
                 bits<&CopySubWindow::dst_cache_policy>("dst_cache_policy", 12, 18, 3).needing(Cap::kSdmaCachePolicy),
                 bits<&CopySubWindow::src_cache_policy>("src_cache_policy", 12, 26, 3).needing(Cap::kSdmaCachePolicy)};
};

/// Writes dwords that lie in the packet itself.
struct WriteLinear {
  uint64_t dst = 0;    ///< 4-byte aligned
  uint32_t count = 0;  ///< dwords, equals data.size()
  bool encrypt = false;
  bool tmz = false;
  std::span<const uint32_t> data{};  ///< decoded: points into the decoder's input

  static constexpr const char* kName = "WRITE_LINEAR";
  static constexpr uint8_t kOp = 2, kSubOp = 0;
  static constexpr uint32_t kDwords = 4;
  static constexpr bool kTail = true;
  static constexpr auto kFields =
      std::tuple{qword<&WriteLinear::dst>("dst", 1, 2), bits<&WriteLinear::count>("count", 3, 0, 20).with_bias(1),
                 bits<&WriteLinear::encrypt>("encrypt", 0, 16, 1), bits<&WriteLinear::tmz>("tmz", 0, 18, 1)};
};

/// Runs another buffer of packets, then goes on after this one.
struct Indirect {
  uint64_t address = 0;  ///< 32-byte aligned
  uint32_t count = 0;    ///< dwords
  uint8_t vmid = 0;
  uint64_t csa_address = 0;

  static constexpr const char* kName = "INDIRECT";
  static constexpr uint8_t kOp = 4, kSubOp = 0;
  static constexpr uint32_t kDwords = 6;
  static constexpr auto kFields =
      std::tuple{qword<&Indirect::address>("address", 1, 5), bits<&Indirect::count>("count", 3, 0, 20),
                 bits<&Indirect::vmid>("vmid", 0, 16, 4), qword<&Indirect::csa_address>("csa_address", 4)};
};

/// Stores one dword after everything before it is done.
struct Fence {
  uint64_t address = 0;  ///< 4-byte aligned
  uint32_t data = 0;
  uint8_t mtype = 0;  ///< 3 is uncached
  bool sys = false, snoop = false;

  static constexpr const char* kName = "FENCE";
  static constexpr uint8_t kOp = 5, kSubOp = 0;
  static constexpr uint32_t kDwords = 4;
  static constexpr auto kFields =
      std::tuple{qword<&Fence::address>("address", 1, 2), bits<&Fence::data>("data", 3, 0, 32),
                 bits<&Fence::mtype>("mtype", 0, 16, 3).needing(Cap::kSdmaMtype),
                 bits<&Fence::sys>("sys", 0, 20, 1).needing(Cap::kSdmaMtype),
                 bits<&Fence::snoop>("snoop", 0, 22, 1).needing(Cap::kSdmaMtype)};
};

/// Raises an interrupt that carries `context` (the event id).
struct Trap {
  uint32_t context = 0;

  static constexpr const char* kName = "TRAP";
  static constexpr uint8_t kOp = 6, kSubOp = 0;
  static constexpr uint32_t kDwords = 2;
  static constexpr auto kFields = std::tuple{bits<&Trap::context>("context", 1, 0, 28)};
};

enum class Compare : uint8_t { kAlways, kLess, kLessEqual, kEqual, kNotEqual, kGreaterEqual, kGreater };
inline constexpr uint16_t kRetryForever = 0xfff;

/// Waits until (memory & mask) compares with `value`, unsigned.
struct PollRegmem {
  Compare compare = Compare::kAlways;
  bool memory = false;  ///< else `address` holds two register offsets
  bool hdp_flush = false;
  uint64_t address = 0;
  uint32_t value = 0;
  uint32_t mask = 0;
  uint16_t interval = 0;  ///< engine clocks between two reads
  uint16_t retry = 0;     ///< kRetryForever, or how often

  static constexpr const char* kName = "POLL_REGMEM";
  static constexpr uint8_t kOp = 8, kSubOp = 0;
  static constexpr uint32_t kDwords = 6;
  static constexpr auto kFields =
      std::tuple{bits<&PollRegmem::compare>("compare", 0, 28, 3),     bits<&PollRegmem::memory>("memory", 0, 31, 1),
                 bits<&PollRegmem::hdp_flush>("hdp_flush", 0, 26, 1), qword<&PollRegmem::address>("address", 1),
                 bits<&PollRegmem::value>("value", 3, 0, 32),         bits<&PollRegmem::mask>("mask", 4, 0, 32),
                 bits<&PollRegmem::interval>("interval", 5, 0, 16),   bits<&PollRegmem::retry>("retry", 5, 16, 12)};
};

/// The form in which stock runtimes flush the HDP cache before a copy: register space, no condition, an "address"
/// with only bit 63 set.
constexpr PollRegmem hdp_flush() { return {.address = uint64_t{1} << 63}; }
/// True for that form and for the kernel driver's (the hdp_flush bit): neither reads memory.
constexpr bool is_hdp_flush(const PollRegmem& packet) {
  return !packet.memory && (packet.hdp_flush || packet.compare == Compare::kAlways);
}

/// Runs the next `count` dwords only when the dword at `address` equals `reference`.
struct CondExe {
  uint64_t address = 0;
  uint32_t reference = 0;
  uint16_t count = 0;

  static constexpr const char* kName = "COND_EXE";
  static constexpr uint8_t kOp = 9, kSubOp = 0;
  static constexpr uint32_t kDwords = 5;
  static constexpr auto kFields =
      std::tuple{qword<&CondExe::address>("address", 1, 2), bits<&CondExe::reference>("reference", 3, 0, 32),
                 bits<&CondExe::count>("count", 4, 0, 14)};
};

inline constexpr uint8_t kAtomicAdd64 = 47;

struct Atomic {
  uint8_t operation = kAtomicAdd64;
  bool loop = false;
  bool tmz = false;
  uint64_t address = 0;
  uint64_t src = 0;
  uint64_t compare = 0;
  uint16_t loop_interval = 0;

  static constexpr const char* kName = "ATOMIC";
  static constexpr uint8_t kOp = 10, kSubOp = 0;
  static constexpr uint32_t kDwords = 8;
  static constexpr auto kFields = std::tuple{bits<&Atomic::operation>("operation", 0, 25, 7),
                                             bits<&Atomic::loop>("loop", 0, 16, 1),
                                             bits<&Atomic::tmz>("tmz", 0, 18, 1),
                                             qword<&Atomic::address>("address", 1, 2),
                                             qword<&Atomic::src>("src", 3),
                                             qword<&Atomic::compare>("compare", 5),
                                             bits<&Atomic::loop_interval>("loop_interval", 7, 0, 13)};
};

enum class FillUnit : uint8_t { kByte, kHalf, kDword };

struct ConstFill {
  FillUnit unit = FillUnit::kDword;
  uint64_t dst = 0;
  uint32_t value = 0;
  uint32_t count = 0;  ///< offset of the last unit in bytes; low bits below the unit are ignored by the engine

  static constexpr const char* kName = "CONST_FILL";
  static constexpr uint8_t kOp = 11, kSubOp = 0;
  static constexpr uint32_t kDwords = 5;
  static constexpr auto kFields =
      std::tuple{bits<&ConstFill::unit>("unit", 0, 30, 2), qword<&ConstFill::dst>("dst", 1),
                 bits<&ConstFill::value>("value", 3, 0, 32),
                 bits<&ConstFill::count>("count", 4, 0, 30).narrow_without(Cap::kSdmaFill30, 22)};
};

/// `bytes` is a multiple of 4, not 0.
constexpr ConstFill fill_dwords(uint64_t dst, uint32_t value, uint32_t bytes) {
  return {.unit = FillUnit::kDword, .dst = dst, .value = value, .count = bytes - 4};
}
/// How many bytes the engine writes.
constexpr uint64_t fill_bytes(const ConstFill& fill) {
  const unsigned shift = static_cast<unsigned>(fill.unit);
  return ((uint64_t{fill.count} >> shift) + 1) << shift;
}

/// Stores the 64-bit GPU counter.
struct TimestampGlobal {
  uint64_t address = 0;  ///< 8-byte aligned; stock runtimes use 32

  static constexpr const char* kName = "TIMESTAMP_GET_GLOBAL";
  static constexpr uint8_t kOp = 13, kSubOp = 2;
  static constexpr uint32_t kDwords = 3;
  static constexpr auto kFields = std::tuple{qword<&TimestampGlobal::address>("address", 1, 3)};
};

/// Cache maintenance of the graphics caches (pm4::gcr bits) over a range; base and limit 0 mean everything.
struct GcrReq {
  uint64_t base = 0;   ///< 128-byte aligned
  uint64_t limit = 0;  ///< 128-byte aligned
  uint32_t control = 0;
  uint8_t vmid = 0;

  static constexpr const char* kName = "GCR_REQ";
  static constexpr uint8_t kOp = 17, kSubOp = 1;
  static constexpr uint32_t kDwords = 5;
  static constexpr CapSet kNeeds{Cap::kSdmaGcrReq};
  static constexpr auto kFields = std::tuple{Field<&GcrReq::base>{"base", {{1, 7, 25, 7}, {2, 0, 16, 32}}},
                                             Field<&GcrReq::limit>{"limit", {{3, 7, 25, 7}, {4, 0, 16, 32}}},
                                             Field<&GcrReq::control>{"control", {{2, 16, 16, 0}, {3, 0, 3, 16}}},
                                             bits<&GcrReq::vmid>("vmid", 4, 24, 4)};
};

using Packet = std::variant<Nop, CopyLinear, CopyBroadcast, CopySubWindow, WriteLinear, Indirect, Fence, Trap,
                            PollRegmem, CondExe, Atomic, ConstFill, TimestampGlobal, GcrReq>;

/// Writes one packet to the front of `out`. Returns its dwords; on error (a field that does not fit or that the
/// target lacks, no room) `out` is unspecified. No allocation unless it fails.
template <class P>
Result<uint32_t> encode(const P& packet, CapSet caps, std::span<uint32_t> out) {
  uint32_t total = P::kDwords;
  if constexpr (requires { P::kTail; }) total += static_cast<uint32_t>(packet.data.size());
  if constexpr (std::is_same_v<P, Nop>) total += packet.skip_dwords;
  if (out.size() < total) return detail::room_error(P::kName, total, out.size());
  for (uint32_t i = 0; i < total; ++i) out[i] = 0;
  if constexpr (requires { P::kNeeds; }) {
    if (!caps.has_all(P::kNeeds)) return detail::field_error(P::kName, "op", P::kOp);
  }
  out[0] = uint32_t{P::kOp} | (uint32_t{P::kSubOp} << 8);
  if constexpr (requires { P::kSelectValue; }) out[0] |= P::kSelectValue;
  if (const char* bad = detail::put_fields(packet, caps, out.data())) {
    return detail::field_error(P::kName, bad, detail::field_value(packet, bad));
  }
  if constexpr (requires { P::kTail; }) {
    if (packet.count != packet.data.size()) return detail::field_error(P::kName, "count", packet.count);
    for (size_t i = 0; i < packet.data.size(); ++i) out[P::kDwords + i] = packet.data[i];
  }
  return total;
}

/// Decodes the packet at the front of `in`. Never reads past `in`.
Decoded<Packet> decode(std::span<const uint32_t> in, CapSet caps);

/// What the kernel's headers call an operation of the engines, also of packets that have no type here; "" when they
/// have no name for it. For texts.
std::string_view op_name(uint8_t op);

std::string describe(const Packet& packet);

}  // namespace barehip::pm4::sdma
