#include "tools/vgpu/cp/aql_dispatch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "pm4/registers.h"

namespace vgpu {
namespace {

using barehip::aql::AmdQueue;
using barehip::aql::KernelDispatchPacket;

/// The 64-byte kernel descriptor (LLVM AMDGPU usage, "Kernel Descriptor"). Reserved bytes are not looked at: the older
/// 256-byte amd_kernel_code_t, which has the fields used here at the same places and others between them, is still what
/// stock ROCr gives for its own copy kernel.
struct KernelDescriptor {
  uint32_t group_segment_fixed_size;
  uint32_t private_segment_fixed_size;
  uint32_t kernarg_size;
  uint32_t reserved0;
  int64_t entry_byte_offset;
  uint32_t reserved1[5];
  uint32_t rsrc3;
  uint32_t rsrc1;
  uint32_t rsrc2;
  uint16_t properties;
  uint16_t kernarg_preload;  ///< 6:0 length, 15:7 offset, both in dwords
  uint32_t reserved2;
};
static_assert(sizeof(KernelDescriptor) == 64 && offsetof(KernelDescriptor, rsrc3) == 44);

/// kernel_code_properties.
enum Property : uint16_t {
  kPrivateSegmentBuffer = 1 << 0,
  kDispatchPtr = 1 << 1,
  kQueuePtr = 1 << 2,
  kKernargSegmentPtr = 1 << 3,
  kDispatchId = 1 << 4,
  kFlatScratchInit = 1 << 5,
  kPrivateSegmentSize = 1 << 6,
  kWavefrontSize32 = 1 << 10,
};

constexpr uint32_t kMaxWorkGroup = 1024;      // work-items
constexpr uint32_t kPreloadEntryBytes = 256;  // code that loads the arguments itself, skipped when they are preloaded
constexpr uint32_t kRsrc1WgpMode = 1u << 29;

constexpr uint32_t align_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

PacketRefusal refuse(PacketError code, std::string text) { return {code, std::move(text)}; }

struct Extent {
  std::array<uint32_t, 3> grid;
  std::array<uint32_t, 3> group;
};

/// Dimensions beyond `setup` count as 1, whatever the packet holds there.
Extent extent_of(const KernelDispatchPacket& p) {
  const unsigned dims = p.setup & 3;
  Extent e{{p.grid_size_x, p.grid_size_y, p.grid_size_z}, {p.workgroup_size_x, p.workgroup_size_y, p.workgroup_size_z}};
  for (unsigned d = std::max(dims, 1u); d < 3; ++d) e.grid[d] = e.group[d] = 1;
  return e;
}

std::optional<PacketRefusal> check_extent(const KernelDispatchPacket& packet, const Extent& e) {
  if ((packet.setup & 3) == 0) return refuse(PacketError::kDispatchDim, "setup names 0 dimensions");
  if (std::ranges::find(e.grid, 0u) != e.grid.end()) return refuse(PacketError::kDispatchDim, "a grid size is 0");
  const uint64_t items = static_cast<uint64_t>(e.group[0]) * e.group[1] * e.group[2];
  if (items == 0) return refuse(PacketError::kWorkGroupSize, "a work-group size is 0");
  if (items > kMaxWorkGroup) {
    return refuse(PacketError::kWorkGroupSize,
                  "a work-group of " + std::to_string(items) + " work-items; 1024 is the limit");
  }
  return std::nullopt;
}

std::optional<PacketRefusal> check_descriptor(const GpuContext& gpu, const KernelDescriptor& d, uint64_t code_va) {
  const auto bad = [](const char* what) { return refuse(PacketError::kCode, what); };
  if (code_va % 256 != 0) return bad("the kernel's entry is not 256-byte aligned");
  if ((d.properties & kWavefrontSize32) && !gpu.target.wave32)
    return bad("the kernel wants 32-lane waves; this GPU has none");
  if (gpu.target.architected_flat_scratch && (d.properties & (kPrivateSegmentBuffer | kFlatScratchInit))) {
    return bad("the kernel wants scratch registers that this GPU's architected flat scratch replaces");
  }
  return std::nullopt;
}

/// Registers of a wave as hardware allocates them, against the register file of the SIMDs that a group can use.
std::optional<PacketRefusal> check_registers(const GpuContext& gpu, const KernelDescriptor& d, uint64_t items) {
  const auto& t = gpu.target;
  const bool wave32 = d.properties & kWavefrontSize32;
  const uint32_t lanes = wave32 ? 32 : 64;
  const uint32_t scale = wave32 ? 2 : 1;
  const uint32_t wanted = ((d.rsrc1 & 0x3f) + 1) * t.vgpr_encoding_granule * scale;
  const uint32_t allocated = align_up(wanted, t.vgpr_alloc_granule * scale);
  const uint32_t per_simd = std::min<uint32_t>(t.total_vgprs * scale / allocated, t.max_waves_per_simd);
  // In WGP mode a work-group spreads over the SIMDs of two compute units.
  const uint32_t simds = t.simds_per_cu * (t.cu_mode_bit && (d.rsrc1 & kRsrc1WgpMode) ? 2 : 1);
  const uint64_t waves = (items + lanes - 1) / lanes;
  if (waves <= static_cast<uint64_t>(per_simd) * simds) return std::nullopt;
  return refuse(PacketError::kRegisters, "a work-group of " + std::to_string(waves) + " waves with " +
                                             std::to_string(wanted) + " VGPRs each does not fit a compute unit");
}

/// User SGPRs are packed from s0 in this order; what does not fit 16 is dropped, as hardware drops it.
class UserSgprs {
 public:
  explicit UserSgprs(std::array<uint32_t, 16>& out) : out_(out) {}
  void dword(uint32_t value) {
    if (used_ < out_.size()) out_[used_++] = value;
  }
  void qword(uint64_t value) {
    dword(static_cast<uint32_t>(value));
    dword(static_cast<uint32_t>(value >> 32));
  }
  void dwords(std::span<const uint32_t> values) {
    for (uint32_t v : values) dword(v);
  }

 private:
  std::array<uint32_t, 16>& out_;
  size_t used_ = 0;
};

MemResult<void> fill_user_sgprs(GpuContext& gpu, Dispatch& out, const KernelDescriptor& d, const QueueView& queue,
                                const KernelDispatchPacket& packet) {
  const auto wants = [&d](uint16_t bit) { return (d.properties & bit) != 0; };
  UserSgprs sgprs(out.user_sgprs);
  if (wants(kPrivateSegmentBuffer)) sgprs.dwords(queue.fields.scratch_resource_descriptor);
  if (wants(kDispatchPtr)) sgprs.qword(out.packet_va);
  if (wants(kQueuePtr)) sgprs.qword(queue.va);
  if (wants(kKernargSegmentPtr)) sgprs.qword(packet.kernarg_address);
  if (wants(kDispatchId)) sgprs.qword(out.dispatch_index);
  if (wants(kFlatScratchInit)) sgprs.qword(queue.fields.scratch_backing_memory_location);
  const uint32_t preload = gpu.target.kernarg_preload ? d.kernarg_preload & 0x7f : 0;
  if (preload != 0) {
    std::array<uint32_t, 128> arguments{};
    const uint64_t from = packet.kernarg_address + (d.kernarg_preload >> 7) * 4u;
    if (auto read = gpu.memory.read(from, arguments.data(), std::min(preload, 16u) * 4); !read) return read;
    sgprs.dwords(std::span(arguments).first(std::min(preload, 16u)));
    out.code_va += kPreloadEntryBytes;
  }
  if (wants(kPrivateSegmentSize)) sgprs.dword(align_up(packet.private_segment_size, 4));
  return {};
}

void fill_scratch(const GpuContext& gpu, Dispatch& out, const QueueView& queue) {
  const uint32_t tmpring = queue.fields.compute_tmpring_size;
  const auto format = barehip::pm4::tmpring_format(gpu.caps);
  out.scratch_base = queue.fields.scratch_backing_memory_location;
  out.scratch_wave_bytes = barehip::pm4::tmpring_wave_bytes(tmpring, format);
  out.scratch_waves = barehip::pm4::tmpring_waves(tmpring) *
                      (format.waves_per_shader_engine ? gpu.config.shader_engines : gpu.config.num_xcc);
}

}  // namespace

MemResult<QueueView> read_queue_view(GpuMemory& memory, uint64_t read_ptr_va) {
  constexpr uint64_t kOffsetField =
      offsetof(AmdQueue, read_dispatch_id_field_base_byte_offset) - offsetof(AmdQueue, read_dispatch_id);
  const auto back = memory.load<uint32_t>(read_ptr_va + kOffsetField);
  if (!back) return std::unexpected(back.error());
  QueueView view{.va = read_ptr_va - *back};
  if (auto read = memory.read(view.va, &view.fields, offsetof(AmdQueue, scratch_last_used)); !read) {
    return std::unexpected(read.error());
  }
  return view;
}

DispatchPlan plan_dispatch(GpuContext& gpu, const QueueParams& params, const QueueView& queue,
                           const KernelDispatchPacket& packet, uint64_t packet_va, uint64_t index) {
  const Extent extent = extent_of(packet);
  if (auto bad = check_extent(packet, extent)) return *bad;
  const uint64_t items = static_cast<uint64_t>(extent.group[0]) * extent.group[1] * extent.group[2];
  if (packet.group_segment_size > std::min(gpu.target.lds_bytes, gpu.config.lds_bytes_per_cu)) {
    return refuse(PacketError::kGroupSegment,
                  std::to_string(packet.group_segment_size) + " bytes of LDS for one work-group");
  }
  if (packet.kernel_object == 0) return refuse(PacketError::kCode, "kernel_object is 0");
  if (packet.kernel_object % 64 != 0) return refuse(PacketError::kCode, "kernel_object is not 64-byte aligned");

  KernelDescriptor descriptor{};
  if (auto read = gpu.memory.read(packet.kernel_object, &descriptor, sizeof(descriptor)); !read) return read.error();
  const uint64_t code_va = packet.kernel_object + static_cast<uint64_t>(descriptor.entry_byte_offset);
  if (auto bad = check_descriptor(gpu, descriptor, code_va)) return *bad;
  if (auto bad = check_registers(gpu, descriptor, items)) return *bad;

  const bool wave32 = descriptor.properties & kWavefrontSize32;
  const uint32_t lane_bytes = align_up(packet.private_segment_size, 4);
  const uint64_t have = static_cast<uint64_t>(queue.fields.scratch_wave64_lane_byte_size) * 64 / (wave32 ? 32 : 64);
  if (lane_bytes > have) return ScratchWanted{lane_bytes, wave32};

  Dispatch out;
  out.code_va = code_va;
  out.rsrc1 = descriptor.rsrc1;
  out.rsrc2 = descriptor.rsrc2;
  out.rsrc3 = descriptor.rsrc3;
  out.wave32 = wave32;
  out.cus = params.cus;
  out.grid = extent.grid;
  out.group = extent.group;
  out.lds_bytes = align_up(packet.group_segment_size, gpu.target.lds_granule);
  if (lane_bytes > 0 || (descriptor.rsrc2 & 1)) fill_scratch(gpu, out, queue);
  out.trap_tba = gpu.trap_tba;
  out.trap_tma = gpu.trap_tma;
  out.doorbell_id = params.doorbell_id;
  out.queue_id = params.queue_id;
  out.packet_va = packet_va;
  out.dispatch_index = index;
  if (auto filled = fill_user_sgprs(gpu, out, descriptor, queue, packet); !filled) return filled.error();
  return out;
}

}  // namespace vgpu
