// AQL: the packets, the queue structure and the signal that the command processor reads from memory.
//
// Layouts follow the HSA Platform System Architecture specification 1.2 (packets, signals) and the AMD extensions
// to it: amd_queue_t version 2, amd_signal_t, vendor packets. Everything is plain standard-layout data, little
// endian, at the offsets asserted below. Addresses are GPU virtual addresses; signal handles are the address of an
// AmdSignal; index counts are packets of 64 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace barehip::aql {

inline constexpr uint32_t kPacketBytes = 64;

// ---- header -------------------------------------------------------------------------------------------------

/// Header bits 7:0.
enum class PacketType : uint8_t {
  kVendorSpecific = 0,
  kInvalid = 1,  ///< the slot is not published yet; the processor waits for it to change
  kKernelDispatch = 2,
  kBarrierAnd = 3,
  kAgentDispatch = 4,
  kBarrierOr = 5,
};

/// Header bits 10:9 (acquire) and 12:11 (release).
enum class FenceScope : uint8_t { kNone = 0, kAgent = 1, kSystem = 2 };

inline constexpr uint16_t kHeaderBarrierBit = 1u << 8;
inline constexpr unsigned kHeaderAcquireShift = 9;
inline constexpr unsigned kHeaderReleaseShift = 11;
inline constexpr uint16_t kHeaderReservedMask = 0xe000;

/// `barrier`: the packet does not start before all earlier packets of its queue have completed.
constexpr uint16_t make_header(PacketType type, bool barrier, FenceScope acquire, FenceScope release) {
  return static_cast<uint16_t>(static_cast<unsigned>(type) | (barrier ? kHeaderBarrierBit : 0u) |
                               (static_cast<unsigned>(acquire) << kHeaderAcquireShift) |
                               (static_cast<unsigned>(release) << kHeaderReleaseShift));
}
constexpr PacketType header_type(uint16_t header) { return static_cast<PacketType>(header & 0xff); }
constexpr bool header_barrier(uint16_t header) { return (header & kHeaderBarrierBit) != 0; }
/// The two-bit fields as they are; 3 is not a scope and comes back as such, for the caller to refuse.
constexpr FenceScope header_acquire(uint16_t header) {
  return static_cast<FenceScope>((header >> kHeaderAcquireShift) & 3);
}
constexpr FenceScope header_release(uint16_t header) {
  return static_cast<FenceScope>((header >> kHeaderReleaseShift) & 3);
}
/// The first dword of a packet, that a producer stores with release order to publish it: header below, the
/// following 16 bits (setup of a dispatch, format of a vendor packet, 0 of a barrier) above.
constexpr uint32_t make_first_dword(uint16_t header, uint16_t upper) {
  return static_cast<uint32_t>(header) | (static_cast<uint32_t>(upper) << 16);
}

// ---- packets ------------------------------------------------------------------------------------------------

struct KernelDispatchPacket {
  uint16_t header;
  uint16_t setup;  ///< bits 1:0 number of dimensions, 1 to 3
  uint16_t workgroup_size_x;
  uint16_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t reserved0;
  uint32_t grid_size_x;  ///< work-items, not work-groups
  uint32_t grid_size_y;
  uint32_t grid_size_z;
  uint32_t private_segment_size;  ///< bytes per work-item
  uint32_t group_segment_size;    ///< LDS bytes per work-group, static and dynamic
  uint64_t kernel_object;         ///< address of the 64-byte kernel descriptor
  uint64_t kernarg_address;
  uint64_t reserved2;
  uint64_t completion_signal;  ///< 0: none
};

struct BarrierPacket {  ///< kBarrierAnd and kBarrierOr
  uint16_t header;
  uint16_t reserved0;
  uint32_t reserved1;
  uint64_t dep_signal[5];  ///< AND: all that are not 0 have value 0; OR: any of them
  uint64_t reserved2;
  uint64_t completion_signal;
};

struct AgentDispatchPacket {
  uint16_t header;
  uint16_t type;  ///< defined by the application
  uint32_t reserved0;
  uint64_t return_address;
  uint64_t arg[4];
  uint64_t reserved2;
  uint64_t completion_signal;
};

/// Bytes 3:2 of a vendor packet (AMD uses byte 2 as the format; a PM4-IB packet sets the halfword to 1).
enum class VendorFormat : uint8_t { kPm4Ib = 1, kBarrierValue = 2 };

/// Runs a PM4 command buffer: an INDIRECT_BUFFER packet inside an AQL slot (gfx9 and later).
struct VendorPm4IbPacket {
  uint16_t header;
  uint16_t vendor_format;       ///< 1
  uint32_t indirect_buffer[4];  ///< a whole PM4 INDIRECT_BUFFER packet
  uint32_t dwords_remaining;    ///< kPm4IbDwordsRemaining: what is left of the slot for the processor to skip
  uint32_t reserved[8];
  uint64_t completion_signal;
};
inline constexpr uint32_t kPm4IbDwordsRemaining = 0xa;

/// Comparison of `(signal value & mask)` with `value`, both signed.
enum class BarrierCondition : uint32_t { kEqual = 0, kNotEqual = 1, kLess = 2, kGreaterEqual = 3 };

struct VendorBarrierValuePacket {
  uint16_t header;
  uint8_t vendor_format;  ///< 2
  uint8_t reserved0;
  uint32_t reserved1;
  uint64_t signal;  ///< 0: nothing to wait for
  int64_t value;
  int64_t mask;
  uint32_t condition;  ///< BarrierCondition
  uint32_t reserved2;
  uint64_t reserved3;
  uint64_t reserved4;
  uint64_t completion_signal;
};

// ---- signal -------------------------------------------------------------------------------------------------

enum class SignalKind : int64_t { kInvalid = 0, kUser = 1, kDoorbell = -1, kLegacyDoorbell = -2 };

/// amd_signal_t. On completion the processor writes the timestamps (when the queue profiles), makes memory visible
/// as the header says, subtracts 1 from value atomically, and, when event_mailbox_ptr is not 0, stores event_id
/// there and raises an interrupt.
struct alignas(64) AmdSignal {
  int64_t kind;  ///< SignalKind
  union {
    int64_t value;                   ///< kUser
    uint64_t hardware_doorbell_ptr;  ///< kDoorbell
  };
  uint64_t event_mailbox_ptr;  ///< slot of the event in the KFD event page; 0: nobody sleeps on it
  uint32_t event_id;
  uint32_t reserved1;
  uint64_t start_ts;  ///< GPU counter ticks
  uint64_t end_ts;
  uint64_t queue_ptr;  ///< kDoorbell: the AmdQueue
  uint32_t reserved3[2];
};

// ---- queue --------------------------------------------------------------------------------------------------

/// amd_queue_t.queue_properties.
enum QueueProperty : uint32_t {
  kQueueEnableTrapHandler = 1u << 0,
  kQueueIsPtr64 = 1u << 1,
  kQueueEnableTrapHandlerDebugSgprs = 1u << 2,
  kQueueEnableProfiling = 1u << 3,  ///< timestamps are written only with this bit
  kQueueUseScratchOnce = 1u << 4,   ///< the processor reports 0x200 when the dispatch that got scratch has ended
};

/// amd_queue_t.caps (version 2).
enum QueueCaps : uint32_t {
  kQueueCpAsyncReclaim = 1u << 0,  ///< written by the processor when it maps the queue
  kQueueSwAsyncReclaim = 1u << 1,  ///< written by the runtime
};

/// hsa_queue_t.type and .features.
enum QueueKind : uint32_t { kQueueMulti = 0, kQueueSingle = 1, kQueueCooperative = 2 };
enum QueueFeature : uint32_t { kQueueKernelDispatch = 1u << 0, kQueueAgentDispatch = 1u << 1 };

/// What the processor stores to queue_inactive_signal, alone or or-ed together.
enum class QueueInactive : uint64_t {
  kScratchWave64 = 1,
  kDispatchDimInvalid = 2,
  kGroupSegmentInvalid = 4,
  kCodeInvalid = 8,
  kPacketUnsupported = 0x20,
  kWorkgroupTooLarge = 0x40,
  kOutOfVgprs = 0x80,
  kVendorPacketUnsupported = 0x100,
  kScratchOnceDone = 0x200,
  kScratchWave32 = 0x400,
  kApertureViolation = 0x20000000,
  kIllegalInstruction = 0x40000000,
  kTrap = 0x80000000,
};

/// Index of the last dispatch that used scratch, per XCC; written by the processor (asynchronous reclaim).
struct ScratchLastUsed {
  uint64_t main;
  uint64_t alt;
};

inline constexpr uint32_t kMaxXcc = 128;

/// amd_queue_t, version 2. The read and write pointer addresses given to CREATE_QUEUE are members of it: the
/// processor finds the structure from the read pointer and read_dispatch_id_field_base_byte_offset.
struct alignas(64) AmdQueue {
  uint32_t type;      ///< QueueKind
  uint32_t features;  ///< QueueFeature bits
  uint64_t base_address;
  uint64_t doorbell_signal;
  uint32_t size;  ///< packets, a power of two
  uint32_t reserved1;
  uint64_t id;
  uint32_t caps;
  uint32_t reserved2[3];
  uint64_t write_dispatch_id;
  uint32_t group_segment_aperture_base_hi;
  uint32_t private_segment_aperture_base_hi;
  uint32_t max_cu_id;
  uint32_t max_wave_id;
  uint64_t max_legacy_doorbell_dispatch_id_plus_1;
  uint32_t legacy_doorbell_lock;
  uint32_t reserved3[9];
  uint64_t read_dispatch_id;
  uint32_t read_dispatch_id_field_base_byte_offset;
  uint32_t compute_tmpring_size;
  uint32_t scratch_resource_descriptor[4];
  uint64_t scratch_backing_memory_location;
  uint64_t scratch_backing_memory_byte_size;  ///< of one XCC
  uint32_t scratch_wave64_lane_byte_size;     ///< bytes per lane times lanes of a wave, divided by 64
  uint32_t queue_properties;                  ///< QueueProperty bits
  uint64_t scratch_max_use_index;
  uint64_t queue_inactive_signal;
  uint64_t alt_scratch_max_use_index;
  uint32_t alt_scratch_resource_descriptor[4];
  uint64_t alt_scratch_backing_memory_location;
  uint32_t alt_scratch_dispatch_limit_x;
  uint32_t alt_scratch_dispatch_limit_y;
  uint32_t alt_scratch_dispatch_limit_z;
  uint32_t alt_scratch_wave64_lane_byte_size;
  uint32_t alt_compute_tmpring_size;
  uint32_t reserved4;
  ScratchLastUsed scratch_last_used[kMaxXcc];
};

// ---- the layout, checked ------------------------------------------------------------------------------------

#define BAREHIP_AQL_AT(type, field, offset) static_assert(offsetof(type, field) == (offset))

static_assert(sizeof(KernelDispatchPacket) == kPacketBytes);
BAREHIP_AQL_AT(KernelDispatchPacket, header, 0);
BAREHIP_AQL_AT(KernelDispatchPacket, setup, 2);
BAREHIP_AQL_AT(KernelDispatchPacket, workgroup_size_x, 4);
BAREHIP_AQL_AT(KernelDispatchPacket, workgroup_size_y, 6);
BAREHIP_AQL_AT(KernelDispatchPacket, workgroup_size_z, 8);
BAREHIP_AQL_AT(KernelDispatchPacket, reserved0, 10);
BAREHIP_AQL_AT(KernelDispatchPacket, grid_size_x, 12);
BAREHIP_AQL_AT(KernelDispatchPacket, grid_size_y, 16);
BAREHIP_AQL_AT(KernelDispatchPacket, grid_size_z, 20);
BAREHIP_AQL_AT(KernelDispatchPacket, private_segment_size, 24);
BAREHIP_AQL_AT(KernelDispatchPacket, group_segment_size, 28);
BAREHIP_AQL_AT(KernelDispatchPacket, kernel_object, 32);
BAREHIP_AQL_AT(KernelDispatchPacket, kernarg_address, 40);
BAREHIP_AQL_AT(KernelDispatchPacket, reserved2, 48);
BAREHIP_AQL_AT(KernelDispatchPacket, completion_signal, 56);

static_assert(sizeof(BarrierPacket) == kPacketBytes);
BAREHIP_AQL_AT(BarrierPacket, reserved0, 2);
BAREHIP_AQL_AT(BarrierPacket, reserved1, 4);
BAREHIP_AQL_AT(BarrierPacket, dep_signal, 8);
BAREHIP_AQL_AT(BarrierPacket, reserved2, 48);
BAREHIP_AQL_AT(BarrierPacket, completion_signal, 56);

static_assert(sizeof(AgentDispatchPacket) == kPacketBytes);
BAREHIP_AQL_AT(AgentDispatchPacket, type, 2);
BAREHIP_AQL_AT(AgentDispatchPacket, reserved0, 4);
BAREHIP_AQL_AT(AgentDispatchPacket, return_address, 8);
BAREHIP_AQL_AT(AgentDispatchPacket, arg, 16);
BAREHIP_AQL_AT(AgentDispatchPacket, reserved2, 48);
BAREHIP_AQL_AT(AgentDispatchPacket, completion_signal, 56);

static_assert(sizeof(VendorPm4IbPacket) == kPacketBytes);
BAREHIP_AQL_AT(VendorPm4IbPacket, vendor_format, 2);
BAREHIP_AQL_AT(VendorPm4IbPacket, indirect_buffer, 4);
BAREHIP_AQL_AT(VendorPm4IbPacket, dwords_remaining, 20);
BAREHIP_AQL_AT(VendorPm4IbPacket, reserved, 24);
BAREHIP_AQL_AT(VendorPm4IbPacket, completion_signal, 56);

static_assert(sizeof(VendorBarrierValuePacket) == kPacketBytes);
BAREHIP_AQL_AT(VendorBarrierValuePacket, vendor_format, 2);
BAREHIP_AQL_AT(VendorBarrierValuePacket, reserved0, 3);
BAREHIP_AQL_AT(VendorBarrierValuePacket, reserved1, 4);
BAREHIP_AQL_AT(VendorBarrierValuePacket, signal, 8);
BAREHIP_AQL_AT(VendorBarrierValuePacket, value, 16);
BAREHIP_AQL_AT(VendorBarrierValuePacket, mask, 24);
BAREHIP_AQL_AT(VendorBarrierValuePacket, condition, 32);
BAREHIP_AQL_AT(VendorBarrierValuePacket, reserved2, 36);
BAREHIP_AQL_AT(VendorBarrierValuePacket, reserved3, 40);
BAREHIP_AQL_AT(VendorBarrierValuePacket, reserved4, 48);
BAREHIP_AQL_AT(VendorBarrierValuePacket, completion_signal, 56);

static_assert(sizeof(AmdSignal) == 64 && alignof(AmdSignal) == 64);
BAREHIP_AQL_AT(AmdSignal, kind, 0x00);
BAREHIP_AQL_AT(AmdSignal, value, 0x08);
BAREHIP_AQL_AT(AmdSignal, hardware_doorbell_ptr, 0x08);
BAREHIP_AQL_AT(AmdSignal, event_mailbox_ptr, 0x10);
BAREHIP_AQL_AT(AmdSignal, event_id, 0x18);
BAREHIP_AQL_AT(AmdSignal, start_ts, 0x20);
BAREHIP_AQL_AT(AmdSignal, end_ts, 0x28);
BAREHIP_AQL_AT(AmdSignal, queue_ptr, 0x30);

static_assert(sizeof(AmdQueue) == 0x900 && alignof(AmdQueue) == 64);
BAREHIP_AQL_AT(AmdQueue, type, 0x00);
BAREHIP_AQL_AT(AmdQueue, features, 0x04);
BAREHIP_AQL_AT(AmdQueue, base_address, 0x08);
BAREHIP_AQL_AT(AmdQueue, doorbell_signal, 0x10);
BAREHIP_AQL_AT(AmdQueue, size, 0x18);
BAREHIP_AQL_AT(AmdQueue, id, 0x20);
BAREHIP_AQL_AT(AmdQueue, caps, 0x28);
BAREHIP_AQL_AT(AmdQueue, write_dispatch_id, 0x38);
BAREHIP_AQL_AT(AmdQueue, group_segment_aperture_base_hi, 0x40);
BAREHIP_AQL_AT(AmdQueue, private_segment_aperture_base_hi, 0x44);
BAREHIP_AQL_AT(AmdQueue, max_cu_id, 0x48);
BAREHIP_AQL_AT(AmdQueue, max_wave_id, 0x4c);
BAREHIP_AQL_AT(AmdQueue, max_legacy_doorbell_dispatch_id_plus_1, 0x50);
BAREHIP_AQL_AT(AmdQueue, legacy_doorbell_lock, 0x58);
BAREHIP_AQL_AT(AmdQueue, read_dispatch_id, 0x80);
BAREHIP_AQL_AT(AmdQueue, read_dispatch_id_field_base_byte_offset, 0x88);
BAREHIP_AQL_AT(AmdQueue, compute_tmpring_size, 0x8c);
BAREHIP_AQL_AT(AmdQueue, scratch_resource_descriptor, 0x90);
BAREHIP_AQL_AT(AmdQueue, scratch_backing_memory_location, 0xa0);
BAREHIP_AQL_AT(AmdQueue, scratch_backing_memory_byte_size, 0xa8);
BAREHIP_AQL_AT(AmdQueue, scratch_wave64_lane_byte_size, 0xb0);
BAREHIP_AQL_AT(AmdQueue, queue_properties, 0xb4);
BAREHIP_AQL_AT(AmdQueue, scratch_max_use_index, 0xb8);
BAREHIP_AQL_AT(AmdQueue, queue_inactive_signal, 0xc0);
BAREHIP_AQL_AT(AmdQueue, alt_scratch_max_use_index, 0xc8);
BAREHIP_AQL_AT(AmdQueue, alt_scratch_resource_descriptor, 0xd0);
BAREHIP_AQL_AT(AmdQueue, alt_scratch_backing_memory_location, 0xe0);
BAREHIP_AQL_AT(AmdQueue, alt_scratch_dispatch_limit_x, 0xe8);
BAREHIP_AQL_AT(AmdQueue, alt_scratch_dispatch_limit_y, 0xec);
BAREHIP_AQL_AT(AmdQueue, alt_scratch_dispatch_limit_z, 0xf0);
BAREHIP_AQL_AT(AmdQueue, alt_scratch_wave64_lane_byte_size, 0xf4);
BAREHIP_AQL_AT(AmdQueue, alt_compute_tmpring_size, 0xf8);
BAREHIP_AQL_AT(AmdQueue, scratch_last_used, 0x100);

#undef BAREHIP_AQL_AT

}  // namespace barehip::aql
