// PM4 packets of the compute micro engine (MEC) on gfx9 and gfx11: the ones that user queues and indirect buffers
// may hold.
//
// Layouts follow the public packet headers of the amdgpu kernel driver (soc15d.h, nvd.h). A header of type 3 holds
// [31:30] = 3, [29:16] length in dwords minus 2, [15:8] opcode, [1:0] flags (predicate, compute). Where gfx9 and
// gfx11 differ there are two types for one opcode, and a capability (pm4/caps.h) chooses. Addresses are GPU virtual
// addresses.
#pragma once

#include <variant>

#include "pm4/fields.h"

namespace barehip::pm4 {

// Every type has `header_flags`: bit 0 predicate, bit 1 compute (the MEC ignores it).

/// Bits of CP_COHER_CNTL (gfx9 ACQUIRE_MEM).
namespace coher {
inline constexpr uint32_t kTcNc = 1u << 3, kTcWc = 1u << 4, kInvMetadata = 1u << 5, kTcl1Vol = 1u << 15,
                          kTcWriteback = 1u << 18, kTcl1 = 1u << 22, kTc = 1u << 23, kShKcache = 1u << 27,
                          kShKcacheVol = 1u << 28, kShIcache = 1u << 29, kShKcacheWriteback = 1u << 30;
}

/// Bits of GCR_CNTL (gfx11 ACQUIRE_MEM, SDMA GCR_REQ).
namespace gcr {
inline constexpr uint32_t kGliInvAll = 1u << 0, kGlmWriteback = 1u << 4, kGlmInv = 1u << 5, kGlkWriteback = 1u << 6,
                          kGlkInv = 1u << 7, kGlvInv = 1u << 8, kGl1Inv = 1u << 9, kGl2Discard = 1u << 13,
                          kGl2Inv = 1u << 14, kGl2Writeback = 1u << 15;
/// What stock runtimes ask of GCR_REQ before and after an SDMA copy.
inline constexpr uint32_t kSdmaAcquire = kGl2Writeback | kGl2Inv | kGl1Inv | kGlvInv | kGlkInv | kGlkWriteback;
inline constexpr uint32_t kSdmaRelease = kGl2Writeback | kGlkWriteback;
}  // namespace gcr

/// Filler. With a length of one dword the header is 0xffff1000.
struct Nop {
  std::span<const uint32_t> data{};  ///< ignored by the engine
  uint8_t header_flags = 0;

  static constexpr const char* kName = "NOP";
  static constexpr uint8_t kOp = 0x10;
  static constexpr uint32_t kDwords = 1;
  static constexpr bool kTail = true;
  static constexpr auto kFields = std::tuple{bits<&Nop::header_flags>("header_flags", 0, 0, 2)};
};

struct DispatchDirect {
  uint32_t dim_x = 1, dim_y = 1, dim_z = 1;  ///< work-groups
  uint32_t initiator = 0;                    ///< COMPUTE_DISPATCH_INITIATOR (pm4/registers.h)
  uint8_t header_flags = 0;

  static constexpr const char* kName = "DISPATCH_DIRECT";
  static constexpr uint8_t kOp = 0x15;
  static constexpr uint32_t kDwords = 5;
  static constexpr auto kFields = std::tuple{
      bits<&DispatchDirect::dim_x>("dim_x", 1, 0, 32), bits<&DispatchDirect::dim_y>("dim_y", 2, 0, 32),
      bits<&DispatchDirect::dim_z>("dim_z", 3, 0, 32), bits<&DispatchDirect::initiator>("initiator", 4, 0, 32),
      bits<&DispatchDirect::header_flags>("header_flags", 0, 0, 2)};
};

/// Dimensions from memory, in the compute engine's form: three dwords at `address`.
struct DispatchIndirect {
  uint64_t address = 0;    ///< 4-byte aligned
  uint32_t initiator = 0;  ///< COMPUTE_DISPATCH_INITIATOR
  uint8_t header_flags = 0;

  static constexpr const char* kName = "DISPATCH_INDIRECT";
  static constexpr uint8_t kOp = 0x16;
  static constexpr uint32_t kDwords = 4;
  static constexpr auto kFields = std::tuple{qword<&DispatchIndirect::address>("address", 1, 2),
                                             bits<&DispatchIndirect::initiator>("initiator", 3, 0, 32),
                                             bits<&DispatchIndirect::header_flags>("header_flags", 0, 0, 2)};
};

/// Skips the next `count` dwords when the dword at `address` is 0.
struct CondExec {
  uint64_t address = 0;  ///< 4-byte aligned
  uint32_t count = 0;    ///< dwords
  uint8_t header_flags = 0;

  static constexpr const char* kName = "COND_EXEC";
  static constexpr uint8_t kOp = 0x22;
  static constexpr uint32_t kDwords = 5;
  static constexpr auto kFields =
      std::tuple{qword<&CondExec::address>("address", 1, 2), bits<&CondExec::count>("count", 4, 0, 14),
                 bits<&CondExec::header_flags>("header_flags", 0, 0, 2)};
};

/// Only the dies of the mask execute the next `count` dwords. For command buffers; rings cannot hold it.
struct PredExec {
  uint16_t count = 0;  ///< dwords
  uint8_t xcc_mask = 0;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "PRED_EXEC";
  static constexpr uint8_t kOp = 0x23;
  static constexpr uint32_t kDwords = 2;
  static constexpr auto kFields =
      std::tuple{bits<&PredExec::count>("count", 1, 0, 14), bits<&PredExec::xcc_mask>("xcc_mask", 1, 24, 8),
                 bits<&PredExec::header_flags>("header_flags", 0, 0, 2)};
};

struct AtomicMem {
  uint8_t operation = 47;  ///< texture cache opcode; 47 adds 64 bits
  uint8_t command = 0;     ///< 0 once, 1 until the compare holds
  uint8_t cache_policy = 0;
  uint64_t address = 0;
  uint64_t src = 0;
  uint64_t compare = 0;
  uint16_t loop_interval = 0;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "ATOMIC_MEM";
  static constexpr uint8_t kOp = 0x1e;
  static constexpr uint32_t kDwords = 9;
  static constexpr auto kFields = std::tuple{bits<&AtomicMem::operation>("operation", 1, 0, 7),
                                             bits<&AtomicMem::command>("command", 1, 8, 4),
                                             bits<&AtomicMem::cache_policy>("cache_policy", 1, 25, 2),
                                             qword<&AtomicMem::address>("address", 2, 2),
                                             qword<&AtomicMem::src>("src", 4),
                                             qword<&AtomicMem::compare>("compare", 6),
                                             bits<&AtomicMem::loop_interval>("loop_interval", 8, 0, 13),
                                             bits<&AtomicMem::header_flags>("header_flags", 0, 0, 2)};
};

enum class WriteTarget : uint8_t { kRegister = 0, kMemorySync = 1, kL2 = 2, kGds = 3, kMemory = 5 };

struct WriteData {
  WriteTarget target = WriteTarget::kMemory;
  bool no_increment = false;
  bool write_confirm = false;
  uint8_t cache_policy = 0;
  uint8_t engine = 0;
  uint64_t address = 0;  ///< or register offset
  std::span<const uint32_t> data{};
  uint8_t header_flags = 0;

  static constexpr const char* kName = "WRITE_DATA";
  static constexpr uint8_t kOp = 0x37;
  static constexpr uint32_t kDwords = 4;
  static constexpr bool kTail = true;
  static constexpr auto kFields = std::tuple{bits<&WriteData::target>("target", 1, 8, 4),
                                             bits<&WriteData::no_increment>("no_increment", 1, 16, 1),
                                             bits<&WriteData::write_confirm>("write_confirm", 1, 20, 1),
                                             bits<&WriteData::cache_policy>("cache_policy", 1, 25, 2),
                                             bits<&WriteData::engine>("engine", 1, 30, 2),
                                             qword<&WriteData::address>("address", 2),
                                             bits<&WriteData::header_flags>("header_flags", 0, 0, 2)};
};

enum class Compare : uint8_t { kAlways, kLess, kLessEqual, kEqual, kNotEqual, kGreaterEqual, kGreater };

struct WaitRegMem {
  Compare compare = Compare::kAlways;
  bool memory = false;    ///< else registers: address holds two offsets
  uint8_t operation = 0;  ///< 0 wait; 1 write the reference to the first register, wait on the second; 3 as 0
  uint8_t engine = 0;
  bool ace_offload = false;
  uint64_t address = 0;
  uint32_t reference = 0;
  uint32_t mask = 0;
  uint16_t interval = 4;
  bool optimize_ace_offload = false;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "WAIT_REG_MEM";
  static constexpr uint8_t kOp = 0x3c;
  static constexpr uint32_t kDwords = 7;
  static constexpr auto kFields = std::tuple{bits<&WaitRegMem::compare>("compare", 1, 0, 3),
                                             bits<&WaitRegMem::memory>("memory", 1, 4, 1),
                                             bits<&WaitRegMem::operation>("operation", 1, 6, 2),
                                             bits<&WaitRegMem::engine>("engine", 1, 8, 2),
                                             bits<&WaitRegMem::ace_offload>("ace_offload", 1, 31, 1),
                                             qword<&WaitRegMem::address>("address", 2),
                                             bits<&WaitRegMem::reference>("reference", 4, 0, 32),
                                             bits<&WaitRegMem::mask>("mask", 5, 0, 32),
                                             bits<&WaitRegMem::interval>("interval", 6, 0, 16),
                                             bits<&WaitRegMem::optimize_ace_offload>("optimize_ace_offload", 6, 31, 1),
                                             bits<&WaitRegMem::header_flags>("header_flags", 0, 0, 2)};
};

struct WaitRegMem64 {
  Compare compare = Compare::kAlways;
  bool memory = false;
  uint8_t operation = 0;
  uint8_t engine = 0;
  bool ace_offload = false;
  uint64_t address = 0;
  uint64_t reference = 0;
  uint64_t mask = 0;
  uint16_t interval = 4;
  bool optimize_ace_offload = false;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "WAIT_REG_MEM64";
  static constexpr uint8_t kOp = 0x93;
  static constexpr uint32_t kDwords = 9;
  static constexpr CapSet kNeeds{Cap::kWaitRegMem64};
  static constexpr auto kFields =
      std::tuple{bits<&WaitRegMem64::compare>("compare", 1, 0, 3),
                 bits<&WaitRegMem64::memory>("memory", 1, 4, 1),
                 bits<&WaitRegMem64::operation>("operation", 1, 6, 2),
                 bits<&WaitRegMem64::engine>("engine", 1, 8, 2),
                 bits<&WaitRegMem64::ace_offload>("ace_offload", 1, 31, 1),
                 qword<&WaitRegMem64::address>("address", 2),
                 qword<&WaitRegMem64::reference>("reference", 4),
                 qword<&WaitRegMem64::mask>("mask", 6),
                 bits<&WaitRegMem64::interval>("interval", 8, 0, 16),
                 bits<&WaitRegMem64::optimize_ace_offload>("optimize_ace_offload", 8, 31, 1),
                 bits<&WaitRegMem64::header_flags>("header_flags", 0, 0, 2)};
};

struct IndirectBuffer {
  uint64_t address = 0;  ///< 4-byte aligned
  uint32_t count = 0;    ///< dwords
  bool chain = false;    ///< does not return
  bool valid = true;
  uint8_t vmid = 0;
  uint8_t cache_policy = 0;
  bool privileged = false;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "INDIRECT_BUFFER";
  static constexpr uint8_t kOp = 0x3f;
  static constexpr uint32_t kDwords = 4;
  static constexpr auto kFields = std::tuple{qword<&IndirectBuffer::address>("address", 1, 2, 16),
                                             bits<&IndirectBuffer::count>("count", 3, 0, 20),
                                             bits<&IndirectBuffer::chain>("chain", 3, 20, 1),
                                             bits<&IndirectBuffer::valid>("valid", 3, 23, 1),
                                             bits<&IndirectBuffer::vmid>("vmid", 3, 24, 4),
                                             bits<&IndirectBuffer::cache_policy>("cache_policy", 3, 28, 2),
                                             bits<&IndirectBuffer::privileged>("privileged", 3, 31, 1),
                                             bits<&IndirectBuffer::header_flags>("header_flags", 0, 0, 2)};
};

enum class CopySource : uint8_t {
  kRegister = 0,
  kMemory = 1,
  kL2 = 2,
  kGds = 3,
  kPerfCounter = 4,
  kImmediate = 5,
  kAtomicReturn = 6,
  kGpuClock = 9,
  kSystemClock = 10
};
enum class CopyTarget : uint8_t { kRegister = 0, kMemorySync = 1, kL2 = 2, kGds = 3, kPerfCounter = 4, kMemory = 5 };

struct CopyData {
  CopySource source = CopySource::kMemory;
  CopyTarget target = CopyTarget::kMemory;
  uint8_t src_cache_policy = 0;
  bool two_dwords = false;
  bool write_confirm = false;
  uint8_t dst_cache_policy = 0;
  bool pq_exe_status = false;
  uint64_t src = 0;  ///< address, register offset or immediate
  uint64_t dst = 0;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "COPY_DATA";
  static constexpr uint8_t kOp = 0x40;
  static constexpr uint32_t kDwords = 6;
  static constexpr auto kFields = std::tuple{bits<&CopyData::source>("source", 1, 0, 4),
                                             bits<&CopyData::target>("target", 1, 8, 4),
                                             bits<&CopyData::src_cache_policy>("src_cache_policy", 1, 13, 2),
                                             bits<&CopyData::two_dwords>("two_dwords", 1, 16, 1),
                                             bits<&CopyData::write_confirm>("write_confirm", 1, 20, 1),
                                             bits<&CopyData::dst_cache_policy>("dst_cache_policy", 1, 25, 2),
                                             bits<&CopyData::pq_exe_status>("pq_exe_status", 1, 29, 1),
                                             qword<&CopyData::src>("src", 2),
                                             qword<&CopyData::dst>("dst", 4),
                                             bits<&CopyData::header_flags>("header_flags", 0, 0, 2)};
};

inline constexpr uint8_t kEventCsPartialFlush = 7;       ///< with index 4: wait until the compute shaders are idle
inline constexpr uint8_t kEventCacheFlushAndInv = 0x14;  ///< with index 5: end of pipe
inline constexpr uint8_t kEventBottomOfPipe = 0x28;      ///< with index 5
inline constexpr uint8_t kEventComputeDone = 0x2f;       ///< with index 6: the shaders are done
inline constexpr uint8_t kIndexEndOfPipe = 5, kIndexShaderDone = 6;

struct EventWrite {
  uint8_t type = 0;
  uint8_t index = 0;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "EVENT_WRITE";
  static constexpr uint8_t kOp = 0x46;
  static constexpr uint32_t kDwords = 2;
  static constexpr auto kFields =
      std::tuple{bits<&EventWrite::type>("type", 1, 0, 6), bits<&EventWrite::index>("index", 1, 8, 4),
                 bits<&EventWrite::header_flags>("header_flags", 0, 0, 2)};
};

enum class ReleaseData : uint8_t { kNone, kDword, kQword, kGpuClock, kSystemClock };
enum class ReleaseInterrupt : uint8_t { kNone, kOnly, kAfterConfirm, kDataAfterConfirm };

/// End of pipe: cache actions, then a store, then maybe an interrupt. The cache action bits are those of the target:
/// see kActions; `cache_actions` is dword 1 [24:12] as it lies.
struct ReleaseMem {
  uint8_t event_type = kEventCacheFlushAndInv;
  uint8_t event_index = 5;
  uint16_t cache_actions = 0;
  uint8_t cache_policy = 0;
  bool execute = false;
  uint8_t target = 0;  ///< 0 memory, 1 L2
  ReleaseInterrupt interrupt = ReleaseInterrupt::kNone;
  ReleaseData data_kind = ReleaseData::kNone;
  uint64_t address = 0;
  uint64_t data = 0;
  uint32_t interrupt_context = 0;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "RELEASE_MEM";
  static constexpr uint8_t kOp = 0x49;
  static constexpr uint32_t kDwords = 8;
  static constexpr auto kFields = std::tuple{bits<&ReleaseMem::event_type>("event_type", 1, 0, 6),
                                             bits<&ReleaseMem::event_index>("event_index", 1, 8, 4),
                                             bits<&ReleaseMem::cache_actions>("cache_actions", 1, 12, 13),
                                             bits<&ReleaseMem::cache_policy>("cache_policy", 1, 25, 2),
                                             bits<&ReleaseMem::execute>("execute", 1, 28, 1),
                                             bits<&ReleaseMem::target>("target", 2, 16, 2),
                                             bits<&ReleaseMem::interrupt>("interrupt", 2, 24, 3),
                                             bits<&ReleaseMem::data_kind>("data_kind", 2, 29, 3),
                                             qword<&ReleaseMem::address>("address", 3),
                                             qword<&ReleaseMem::data>("data", 5),
                                             bits<&ReleaseMem::interrupt_context>("interrupt_context", 7, 0, 32),
                                             bits<&ReleaseMem::header_flags>("header_flags", 0, 0, 2)};
};

/// ReleaseMem::cache_actions without Cap::kGcr.
namespace release_coher {
inline constexpr uint16_t kTcl1Vol = 1u << 0, kTcVol = 1u << 1, kTcWriteback = 1u << 3, kTcl1 = 1u << 4, kTc = 1u << 5,
                          kTcNc = 1u << 7, kTcMetadata = 1u << 9;
}
/// ReleaseMem::cache_actions with Cap::kGcr.
namespace release_gcr {
inline constexpr uint16_t kGlmWriteback = 1u << 0, kGlmInv = 1u << 1, kGlvInv = 1u << 2, kGl1Inv = 1u << 3,
                          kGl2Discard = 1u << 7, kGl2Inv = 1u << 8, kGl2Writeback = 1u << 9;
}

/// Base and size of ACQUIRE_MEM are in units of 256 bytes.
inline constexpr unsigned kAcquireShift = 8;
/// The whole address space, as stock runtimes write it.
inline constexpr uint64_t kAcquireAllSize = 0xffffffffffull;

struct AcquireMemCoher {
  uint32_t control = 0;  ///< coher bits
  uint64_t size = 0;     ///< units of 256 bytes
  uint64_t base = 0;     ///< address >> 8
  uint16_t interval = 0;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "ACQUIRE_MEM";
  static constexpr uint8_t kOp = 0x58;
  static constexpr uint32_t kDwords = 7;
  static constexpr CapSet kExcludes{Cap::kGcr};
  static constexpr auto kFields =
      std::tuple{bits<&AcquireMemCoher::control>("control", 1, 0, 32), qword<&AcquireMemCoher::size>("size", 2),
                 qword<&AcquireMemCoher::base>("base", 4), bits<&AcquireMemCoher::interval>("interval", 6, 0, 16),
                 bits<&AcquireMemCoher::header_flags>("header_flags", 0, 0, 2)};
};

struct AcquireMemGcr {
  uint64_t size = 0;
  uint64_t base = 0;
  uint16_t interval = 0;
  uint32_t control = 0;  ///< gcr bits
  bool engine = false;
  uint8_t header_flags = 0;

  static constexpr const char* kName = "ACQUIRE_MEM";
  static constexpr uint8_t kOp = 0x58;
  static constexpr uint32_t kDwords = 8;
  static constexpr CapSet kNeeds{Cap::kGcr};
  static constexpr auto kFields = std::tuple{qword<&AcquireMemGcr::size>("size", 2),
                                             qword<&AcquireMemGcr::base>("base", 4),
                                             bits<&AcquireMemGcr::interval>("interval", 6, 0, 16),
                                             bits<&AcquireMemGcr::control>("control", 7, 0, 19),
                                             bits<&AcquireMemGcr::engine>("engine", 1, 31, 1),
                                             bits<&AcquireMemGcr::header_flags>("header_flags", 0, 0, 2)};
};

inline constexpr uint32_t kShRegBase = 0x2c00;       ///< first register of SET_SH_REG
inline constexpr uint32_t kUconfigRegBase = 0xc000;  ///< first register of SET_UCONFIG_REG

struct SetShReg {
  uint16_t offset = 0;  ///< register number minus kShRegBase
  std::span<const uint32_t> data{};
  uint8_t header_flags = 0;

  static constexpr const char* kName = "SET_SH_REG";
  static constexpr uint8_t kOp = 0x76;
  static constexpr uint32_t kDwords = 2;
  static constexpr bool kTail = true;
  static constexpr auto kFields =
      std::tuple{bits<&SetShReg::offset>("offset", 1, 0, 16), bits<&SetShReg::header_flags>("header_flags", 0, 0, 2)};
};

struct SetUconfigReg {
  uint16_t offset = 0;
  std::span<const uint32_t> data{};
  uint8_t header_flags = 0;

  static constexpr const char* kName = "SET_UCONFIG_REG";
  static constexpr uint8_t kOp = 0x79;
  static constexpr uint32_t kDwords = 2;
  static constexpr bool kTail = true;
  static constexpr auto kFields = std::tuple{bits<&SetUconfigReg::offset>("offset", 1, 0, 16),
                                             bits<&SetUconfigReg::header_flags>("header_flags", 0, 0, 2)};
};

using Packet = std::variant<Nop, DispatchDirect, DispatchIndirect, CondExec, PredExec, AtomicMem, WriteData, WaitRegMem,
                            WaitRegMem64, IndirectBuffer, CopyData, EventWrite, ReleaseMem, AcquireMemCoher,
                            AcquireMemGcr, SetShReg, SetUconfigReg>;

/// What the kernel's headers call an opcode of the compute engine, also of packets that have no type here; "" when they
/// have no name for it. For texts.
std::string_view opcode_name(uint8_t op);

inline constexpr uint32_t kOneDwordNop = 0xffff1000;
inline constexpr uint32_t kMaxPacketDwords = 0x3fff + 1;

/// Header of a type 3 packet of `dwords` in all.
constexpr uint32_t make_pm4_header(uint8_t op, uint32_t dwords) {
  return 0xc0000000u | (((dwords - 2) & 0x3fff) << 16) | (uint32_t{op} << 8);
}

/// Writes one packet to the front of `out`. Returns its dwords; on error `out` is unspecified. No allocation unless
/// it fails.
template <class P>
  requires requires { P::kFields; }
Result<uint32_t> encode(const P& packet, CapSet caps, std::span<uint32_t> out) {
  uint32_t total = P::kDwords;
  if constexpr (requires { P::kTail; }) {
    if (packet.data.size() > kMaxPacketDwords - P::kDwords) {
      return detail::field_error(P::kName, "data", packet.data.size());
    }
    total += static_cast<uint32_t>(packet.data.size());
  }
  if (out.size() < total) return detail::room_error(P::kName, total, out.size());
  if constexpr (requires { P::kNeeds; }) {
    if (!caps.has_all(P::kNeeds)) return detail::field_error(P::kName, "op", P::kOp);
  }
  if constexpr (requires { P::kExcludes; }) {
    if (caps.has_any(P::kExcludes)) return detail::field_error(P::kName, "op", P::kOp);
  }
  for (uint32_t i = 0; i < P::kDwords; ++i) out[i] = 0;
  out[0] = make_pm4_header(P::kOp, total);
  if (const char* bad = detail::put_fields(packet, caps, out.data())) {
    return detail::field_error(P::kName, bad, detail::field_value(packet, bad));
  }
  if constexpr (requires { P::kTail; }) {
    for (size_t i = 0; i < packet.data.size(); ++i) out[P::kDwords + i] = packet.data[i];
  }
  return total;
}

/// Decodes the packet at the front of `in`. Never reads past `in`. A type 2 header is a NOP of one dword.
Decoded<Packet> decode(std::span<const uint32_t> in, CapSet caps);

std::string describe(const Packet& packet);

// ---- sequences ----------------------------------------------------------------------------------------------

struct AcquireCode {
  std::array<uint32_t, 8> dwords{};
  uint32_t count = 0;
};

/// The indirect buffer that makes freshly written code visible: invalidates instruction, scalar, vector and L2
/// caches over [base, base + bytes); `bytes` 0 means everything. To be run once after code was loaded or memory is
/// reused for code, before the first dispatch of it.
Result<AcquireCode> make_acquire_code(CapSet caps, uint64_t base, uint64_t bytes);

}  // namespace barehip::pm4
