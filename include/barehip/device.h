// Finding and opening the GPUs of this machine (or of a provider, see kfd/os.h): System is the opened
// /dev/kfd, Device one opened GPU. Everything else of the low-level API hangs on these two.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <barehip/error.h>

struct barehip_os_table;  // kfd/os.h

namespace barehip {

class Device;
class Memory;
class SignalPool;

namespace kfd {
struct SystemImpl;
struct DeviceImpl;
}  // namespace kfd

/// A link between two topology nodes (io_links and p2p_links of sysfs).
struct NodeLink {
  uint32_t to_node = 0;
  uint32_t type = 0;    ///< 2 PCIe, 11 xGMI, 1 HyperTransport, 5 QPI
  uint32_t weight = 0;  ///< distance: 15 xGMI, 20 PCIe, more when indirect
  bool atomics32 = true;
  bool atomics64 = true;
  bool peer_to_peer = true;
  uint32_t min_bandwidth_mbps = 0;  ///< megabytes per second
  uint32_t max_bandwidth_mbps = 0;
};

struct CacheInfo {
  uint32_t level = 0;
  uint32_t size_kib = 0;
  uint32_t line_bytes = 0;
  uint32_t type = 0;  ///< bits: 1 data, 2 instruction, 4 CPU, 8 SIMD
};

/// What the kernel says about one GPU. Numbers as in sysfs (Documentation of the keys: docs/kfd.md), in the
/// units that the names carry; counts are over all XCCs of the node unless a name says otherwise.
struct GpuProperties {
  uint32_t node_id = 0;  ///< directory under topology/nodes
  uint32_t gpu_id = 0;   ///< the kernel's id in every ioctl
  std::string gfx;       ///< "gfx90a": from gfx_target_version, step in hexadecimal
  uint32_t gfx_major = 0, gfx_minor = 0, gfx_step = 0;
  std::string asic_name;       ///< "aldebaran", "ip discovery"; may be empty
  std::string marketing_name;  ///< from libdrm's table of names; empty when the card is not in it
  uint32_t vendor_id = 0, device_id = 0, pci_revision = 0;
  uint32_t pci_domain = 0, pci_bus = 0, pci_device = 0, pci_function = 0;
  uint64_t unique_id = 0;  ///< serial, 0 when the card has none
  uint64_t hive_id = 0;    ///< xGMI hive, 0 for none
  uint32_t drm_render_minor = 0;
  uint32_t family = 0;  ///< amdgpu family id of DEV_INFO
  bool is_apu = false;

  uint32_t cu_count = 0;  ///< active compute units
  uint32_t simd_per_cu = 0;
  uint32_t shader_engines = 0;
  uint32_t shader_arrays_per_engine = 0;
  uint32_t cu_per_shader_array = 0;
  uint32_t num_xcc = 1;
  uint32_t wave_size = 0;  ///< native: 64 on gfx9, 32 on gfx11
  uint32_t max_waves_per_simd = 0;
  uint32_t max_waves_per_cu = 0;
  uint32_t max_slots_scratch_cu = 0;
  uint32_t lds_bytes_per_cu = 0;
  uint32_t gds_bytes = 0;
  uint32_t num_gws = 0;
  uint32_t num_sdma_engines = 0, num_sdma_xgmi_engines = 0, num_sdma_queues_per_engine = 0;
  uint32_t num_cp_queues = 0;
  uint32_t max_engine_clock_mhz = 0;
  uint32_t fw_version = 0;  ///< MEC firmware
  uint32_t sdma_fw_version = 0;
  uint32_t cwsr_bytes_per_xcc = 0;       ///< as published since Linux 6.12, else 0 (see kfd/cwsr.h)
  uint32_t ctl_stack_bytes_per_xcc = 0;  ///< as published since Linux 6.12, else 0
  uint32_t capability = 0, capability2 = 0;
  uint64_t debug_prop = 0;
  bool sram_ecc = false;       ///< capability bit 26: code for this GPU is sramecc+
  bool xnack = false;          ///< this process retries page faults: code for this GPU is xnack+
  bool svm = false;            ///< capability bit 27
  bool coherent_host = false;  ///< capability bit 28: the host sees VRAM coherently

  uint64_t vram_bytes = 0;
  bool vram_host_visible = false;  ///< large BAR: the CPU can map all VRAM
  uint32_t memory_clock_mhz = 0;
  uint32_t memory_bus_bits = 0;
  std::vector<CacheInfo> caches;  ///< one entry per distinct level and type
  std::vector<NodeLink> links;
  bool host_atomics = false;  ///< 32- and 64-bit PCIe (or xGMI) atomics reach host memory

  uint64_t clock_hz = 0;                              ///< GPU counter: packet timestamps, s_memrealtime, wall_clock64
  uint64_t lds_aperture = 0, lds_aperture_limit = 0;  ///< generic addresses that mean LDS
  uint64_t scratch_aperture = 0, scratch_aperture_limit = 0;
  uint64_t gpuvm_base = 0, gpuvm_limit = 0;  ///< addresses that memory may be mapped at
};

/// A GPU clock value as nanoseconds of CLOCK_BOOTTIME. Both sides come from one ioctl, so drift is corrected
/// by sampling again.
struct ClockSample {
  uint64_t gpu_ticks = 0;
  uint64_t boottime_ns = 0;
};

/// Operation of errors that say that a program needs what this library does not do yet.
inline constexpr char kMissingFeature[] = "missing feature";

/// One opened GPU. Made by System::open, lives until its System dies; the address is stable. All members are
/// thread safe.
class Device {
 public:
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  const GpuProperties& properties() const;
  class System& system() const;
  uint32_t index() const;  ///< place in System::devices()

  /// The device's first fatal error (memory fault, hang, trap, illegal instruction), or null. Sticky until
  /// exit: the kernel does not run this process's queues on this GPU again. The object lives as long as the
  /// Device. Cost: one load.
  const Error* error() const { return error_.load(std::memory_order_acquire); }
  /// A count for the owner of the GPU's work, who adds 1 when something happened that all launches have to look after.
  /// It starts at 1; the device's first error sets kBroken in it, and in a child made by fork() it is 0. So one compare
  /// with the value that was seen last tells of all three. Cost: two loads.
  static constexpr uint64_t kBroken = uint64_t{1} << 63;
  std::atomic<uint64_t>& epoch() const { return *epoch_; }

  /// What it means when a kernel touches a range that is never mapped: the fault's error is then kNotSupported, its
  /// operation kMissingFeature, and its text this one (a literal). For pointers to what this library cannot serve yet.
  void name_addresses(uint64_t address, uint64_t bytes, const char* text);

  /// Makes earlier CPU writes to VRAM (through the BAR) visible to the GPU. Call it after a store fence and
  /// before the packet that lets the GPU read. Nothing to do (and nothing done) on a GPU without a remap
  /// page: then can_flush_hdp() is false, and VRAM must be written by SDMA or a kernel instead. Cost: one
  /// store and one load over PCIe, no syscall.
  void flush_hdp() const {
    if (hdp_page_ == nullptr) return;
    hdp_page_[0] = 1;
    (void)hdp_page_[0];
  }
  bool can_flush_hdp() const { return hdp_page_ != nullptr; }

  /// Bytes of VRAM that an allocation could still get. Error: kNotSupported on KFD < 1.9. Cost: one ioctl.
  Result<uint64_t> available_vram() const;

  /// Both clocks now. Cost: one ioctl.
  Result<ClockSample> sample_clocks() const;
  /// GPU ticks (packet timestamps) as CLOCK_BOOTTIME nanoseconds. Re-samples when `ticks` is newer than the
  /// last sample, so the result of two calls for one value may differ by the drift between (nanoseconds).
  /// Cost: no syscall, or one ioctl.
  Result<uint64_t> ticks_to_ns(uint64_t ticks) const;

  /// Installs the second-level trap handler for all queues of this process on this GPU; call before any queue
  /// is made (kInvalidArgument after). `code` stays owned by the caller and must live as long as the Device;
  /// it starts at `code.gpu_address() + offset`, 256-byte aligned, and is executable and mapped to this GPU.
  /// The handler finds the TMA address in ttmp14:15 (first-level handler's convention); the TMA is a table of
  /// 1024 64-bit amd_queue_t addresses indexed by doorbell id (low 10 bits of MSG_RTN_GET_DOORBELL or M0
  /// after MSG_GET_DOORBELL), zero where there is no queue. To report, it ORs bits of aql::QueueInactive
  /// (aql.h) into the value of the queue's queue_inactive_signal, writes the event id to the signal's mailbox
  /// and sends MSG_INTERRUPT.
  Result<void> install_trap_handler(const Memory& code, uint64_t offset = 0);

  kfd::DeviceImpl& impl() const { return *impl_; }

 private:
  friend struct kfd::DeviceImpl;
  explicit Device(std::unique_ptr<kfd::DeviceImpl> impl);

  std::unique_ptr<kfd::DeviceImpl> impl_;
  volatile uint32_t* hdp_page_ = nullptr;
  std::atomic<uint64_t>* epoch_ = nullptr;  ///< in the System's page that fork() wipes
  mutable std::atomic<const Error*> error_{nullptr};
};

/// The opened KFD of this process with all usable GPUs. One process has one GPU address space for each GPU,
/// so make one System (the kernel gives a second one in the same process the same queues and handles;
/// ACQUIRE_VM then fails).
class System {
 public:
  /// Opens everything in the order of docs/kfd.md. `os` outlives the System. All or nothing: on failure no
  /// descriptor, mapping or kernel object is left. Errors (texts name the file and the user's remedy):
  ///   kNoDevice       no /dev/kfd in any of its ways, or no GPU node in the topology
  ///   kNoPermission   /dev/kfd or a render node may not be opened (file mode, or device cgroup)
  ///   kDeviceHidden   GPU nodes exist, but every render node is missing from this container
  ///   kNotSupported   KFD major is not 1, a GPU older than gfx9, or a 32-bit process
  ///   kSystem, kOutOfMemory, kOutOfResources   another call failed
  /// GPUs that this process may not use while others are usable are left out; skipped() tells why.
  static Result<std::unique_ptr<System>> open(const barehip_os_table& os);
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  /// Destroy queues, signals and memory first. Runs no ioctl in a forked child.
  ~System();

  std::span<const std::unique_ptr<Device>> devices() const;
  /// One sentence for each GPU node that was left out.
  std::span<const std::string> skipped() const;

  uint32_t kfd_minor() const;
  /// RUNTIME_ENABLE was accepted: wave exceptions come through the error payload of queues.
  bool runtime_enabled() const;
  /// The pool that all queues of this System take their signals from.
  SignalPool& signals() const;
  const barehip_os_table& os() const;

  /// False in a child made by fork(): there the GPU memory and queues do not exist, and every call gives
  /// kInvalidHandle. Cost: one load.
  bool usable() const { return *alive_ != 0; }

  kfd::SystemImpl& impl() const { return *impl_; }

 private:
  friend struct kfd::SystemImpl;
  System();

  std::unique_ptr<kfd::SystemImpl> impl_;
  const volatile uint32_t* alive_ = nullptr;  ///< a page that fork() wipes (MADV_WIPEONFORK)
};

/// The table that BAREHIP_DEVICES selects: unset or empty means the real kernel; otherwise
/// `<provider>:<spec>[,<provider>:<spec>...]` (one provider) loads libbarehip-<provider>.so, first from the
/// folder of the library that holds this function, then by the loader's search. The table lives until exit.
/// Error: kInvalidArgument (syntax), kNotFound (no such library or entry), kNoDevice (what the provider
/// answered).
Result<const barehip_os_table*> os_from_environment();

}  // namespace barehip
