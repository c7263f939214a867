#include "tests/unit/kfd/fake_os.h"

#include <sys/mman.h>
#include <time.h>

#include <amdgpu_drm.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace barehip::kfd::test {

using namespace uapi;

/// The functions of the table.
struct FakeOsFunctions {
  static FakeOs& of(void* self) { return *static_cast<FakeOs*>(self); }

  static int error_of(FakeOs& os, const std::string& path) {
    const auto found = os.path_errors.find(path);
    return found != os.path_errors.end() ? -found->second : 0;
  }

  static bool is_folder(FakeOs& os, const std::string& path) {
    const auto next = os.files.lower_bound(path + "/");
    return next != os.files.end() && next->first.compare(0, path.size() + 1, path + "/") == 0;
  }

  static int open(void* self, const char* path, int) {
    FakeOs& os = of(self);
    const std::lock_guard lock(os.mutex_);
    if (const int error = error_of(os, path)) return error;
    if (!os.files.contains(path)) return -ENOENT;
    int fd = 1000;
    while (os.fds_.contains(fd)) ++fd;
    os.fds_[fd] = path;
    return fd;
  }
  static int close(void* self, int fd) {
    FakeOs& os = of(self);
    const std::lock_guard lock(os.mutex_);
    return os.fds_.erase(fd) == 1 ? 0 : -EBADF;
  }
  static int ioctl(void* self, int fd, unsigned long request, void* arg) {
    FakeOs& os = of(self);
    std::unique_lock lock(os.mutex_);
    const auto found = os.fds_.find(fd);
    if (found == os.fds_.end() || found->second != "/dev/kfd") return -EBADF;
    const uint32_t nr = request & 0xff;
    if (os.on_ioctl) os.on_ioctl(nr, arg);
    if (os.ioctl_errors.contains(nr)) return -os.ioctl_errors[nr];
    return os.ioctl(nr, arg, lock);
  }
  // Device memory is anonymous memory here; what matters is the account.
  static int mmap(void* self, void* addr, size_t length, int prot, int flags, int fd, uint64_t, void** out) {
    FakeOs& os = of(self);
    const std::lock_guard lock(os.mutex_);
    if (fd >= 0 && !os.fds_.contains(fd)) return -EBADF;
    const int private_flags = (flags & MAP_FIXED) | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* at = ::mmap(addr, length, prot, private_flags, -1, 0);
    if (at == MAP_FAILED) return -errno;
    os.remove_range(reinterpret_cast<uint64_t>(at), length);
    os.add_range(reinterpret_cast<uint64_t>(at), length);
    *out = at;
    return 0;
  }
  static int munmap(void* self, void* addr, size_t length) {
    FakeOs& os = of(self);
    const std::lock_guard lock(os.mutex_);
    if (os.on_munmap) os.on_munmap(reinterpret_cast<uint64_t>(addr), length);
    os.remove_range(reinterpret_cast<uint64_t>(addr), length);
    return ::munmap(addr, length) != 0 ? -errno : 0;
  }
  static int madvise(void*, void* addr, size_t length, int advice) {
    return ::madvise(addr, length, advice) != 0 ? -errno : 0;
  }
  static int64_t read_file(void* self, const char* path, char* buf, size_t cap) {
    FakeOs& os = of(self);
    const std::lock_guard lock(os.mutex_);
    if (const int error = error_of(os, path)) return error;
    const auto found = os.files.find(path);
    if (found == os.files.end()) return -ENOENT;
    memcpy(buf, found->second.data(), std::min(cap, found->second.size()));
    return static_cast<int64_t>(found->second.size());
  }
  static int list_dir(void* self, const char* path, int (*each)(void* user, const char* name), void* user) {
    FakeOs& os = of(self);
    std::set<std::string> names;
    {
      const std::lock_guard lock(os.mutex_);
      if (const int error = error_of(os, path)) return error;
      if (!is_folder(os, path)) return -ENOENT;
      const std::string prefix = std::string(path) + "/";
      for (auto it = os.files.lower_bound(prefix);
           it != os.files.end() && it->first.compare(0, prefix.size(), prefix) == 0; ++it)
        names.insert(it->first.substr(prefix.size(), it->first.find('/', prefix.size()) - prefix.size()));
    }
    for (const std::string& name : names)
      if (each(user, name.c_str()) != 0) break;
    return 0;
  }
  static int stat(void* self, const char* path, barehip_os_stat* out) {
    FakeOs& os = of(self);
    const std::lock_guard lock(os.mutex_);
    if (os.stats.contains(path)) {
      *out = os.stats[path];
      return 0;
    }
    if (!os.files.contains(path) && !is_folder(os, path)) return -ENOENT;
    *out = {0100444, 0, 0, 0};
    return 0;
  }
  static uint64_t clock_ns(void*, int clock_id) {
    timespec t{};
    ::clock_gettime(clock_id, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
  }
  static int gpu_info(void* self, int fd, drm_amdgpu_info_device* out, size_t size) {
    FakeOs& os = of(self);
    const std::lock_guard lock(os.mutex_);
    if (!os.fds_.contains(fd)) return -EBADF;
    drm_amdgpu_info_device info{};
    info.family = 141;
    info.gpu_counter_freq = os.counter_khz;
    info.pci_rev = 2;
    memcpy(out, &info, std::min(size, sizeof info));
    return 0;
  }
};

FakeOs::FakeOs() : table_{} {
  table_.self = this;
  table_.version = BAREHIP_OS_TABLE_VERSION;
  table_.topology_root = "/sys/topology";
  table_.dev_root = "/dev";
  table_.open = FakeOsFunctions::open;
  table_.close = FakeOsFunctions::close;
  table_.ioctl = FakeOsFunctions::ioctl;
  table_.mmap = FakeOsFunctions::mmap;
  table_.munmap = FakeOsFunctions::munmap;
  table_.madvise = FakeOsFunctions::madvise;
  table_.read_file = FakeOsFunctions::read_file;
  table_.list_dir = FakeOsFunctions::list_dir;
  table_.stat = FakeOsFunctions::stat;
  table_.clock_ns = FakeOsFunctions::clock_ns;
  table_.gpu_info = FakeOsFunctions::gpu_info;
}

FakeOs::~FakeOs() {
  for (const auto& [start, end] : ranges_) ::munmap(reinterpret_cast<void*>(start), end - start);
}

void FakeOs::add_range(uint64_t start, uint64_t bytes) { ranges_[start] = start + bytes; }

void FakeOs::remove_range(uint64_t start, uint64_t bytes) {
  const uint64_t end = start + bytes;
  std::map<uint64_t, uint64_t> left;
  for (const auto& [s, e] : ranges_) {
    if (e <= start || s >= end) {
      left[s] = e;
      continue;
    }
    if (s < start) left[s] = start;
    if (e > end) left[end] = e;
  }
  ranges_ = std::move(left);
}

size_t FakeOs::open_fds() {
  const std::lock_guard lock(mutex_);
  return fds_.size();
}
uint64_t FakeOs::mapped_bytes() {
  const std::lock_guard lock(mutex_);
  uint64_t sum = 0;
  for (const auto& [start, end] : ranges_) sum += end - start;
  return sum;
}
size_t FakeOs::live_objects() {
  const std::lock_guard lock(mutex_);
  return objects.size() - (event_page_handle != 0 ? 1 : 0);
}
size_t FakeOs::live_queues() {
  const std::lock_guard lock(mutex_);
  return queues.size();
}
size_t FakeOs::seen_updates() {
  const std::lock_guard lock(mutex_);
  return updates.size();
}
size_t FakeOs::live_events() {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

// ---- ioctls
// --------------------------------------------------------------------------------------------------------

int FakeOs::ioctl(uint32_t nr, void* args, std::unique_lock<std::mutex>& lock) {
  switch (nr) {
    case kGET_VERSION & 0xff: *static_cast<get_version_args*>(args) = {1, kfd_minor}; return 0;
    case kGET_PROCESS_APERTURES_NEW & 0xff: {
      auto& a = *static_cast<get_process_apertures_new_args*>(args);
      auto* out = reinterpret_cast<process_device_apertures*>(a.kfd_process_device_apertures_ptr);
      uint32_t count = 0;
      for (const auto& [path, text] : files)
        if (path.ends_with("/gpu_id") && text != "0\n" && !path_errors.contains(path) && count < a.num_of_nodes)
          out[count++] = {0x1000000000000,
                          0x10000ffffffff,
                          0x2000000000000,
                          0x20000ffffffff,
                          0x10000,
                          0x7fffffffffff,
                          static_cast<uint32_t>(std::stoul(text)),
                          0};
      a.num_of_nodes = count;
      return 0;
    }
    case kACQUIRE_VM & 0xff: {
      const auto& a = *static_cast<acquire_vm_args*>(args);
      if (!fds_.contains(static_cast<int>(a.drm_fd))) return -EINVAL;
      return acquired_.insert(a.gpu_id).second ? 0 : -EBUSY;
    }
    case kRUNTIME_ENABLE & 0xff: {
      const bool on = static_cast<runtime_enable_args*>(args)->mode_mask != 0;
      if (on && !queues.empty()) return -EEXIST;
      if (on == runtime_enabled_) return -EBUSY;
      runtime_enabled_ = on;
      return 0;
    }
    case kSET_MEMORY_POLICY & 0xff:
      return acquired_.contains(static_cast<set_memory_policy_args*>(args)->gpu_id) ? 0 : -ESRCH;
    case kSET_XNACK_MODE & 0xff: static_cast<set_xnack_mode_args*>(args)->xnack_enabled = 0; return 0;
    case kGET_CLOCK_COUNTERS & 0xff: {
      auto& a = *static_cast<get_clock_counters_args*>(args);
      const uint64_t now = FakeOsFunctions::clock_ns(nullptr, CLOCK_BOOTTIME);
      a = {now / 1000 * counter_khz / 1000, now, now, 1'000'000'000, a.gpu_id, 0};
      return 0;
    }
    case kAVAILABLE_MEMORY & 0xff: static_cast<get_available_memory_args*>(args)->available = 1ull << 30; return 0;
    case kSET_TRAP_HANDLER & 0xff: trap_handler = *static_cast<set_trap_handler_args*>(args); return 0;
    case kALLOC_MEMORY_OF_GPU & 0xff: return alloc(*static_cast<alloc_memory_of_gpu_args*>(args));
    case kFREE_MEMORY_OF_GPU & 0xff: return free(*static_cast<free_memory_of_gpu_args*>(args));
    case kMAP_MEMORY_TO_GPU & 0xff: return map(*static_cast<map_memory_to_gpu_args*>(args), false);
    case kUNMAP_MEMORY_FROM_GPU & 0xff: return map(*reinterpret_cast<map_memory_to_gpu_args*>(args), true);
    case kCREATE_QUEUE & 0xff: return create_queue(*static_cast<create_queue_args*>(args));
    case kDESTROY_QUEUE & 0xff: {
      const uint32_t id = static_cast<destroy_queue_args*>(args)->queue_id;
      destroyed_queues.push_back(id);
      return queues.erase(id) == 1 ? 0 : -EINVAL;
    }
    case kUPDATE_QUEUE & 0xff: {
      const auto& update = *static_cast<update_queue_args*>(args);
      const auto found = queues.find(update.queue_id);
      if (found == queues.end() || update.ring_base_address != found->second.args.ring_base_address) return -EFAULT;
      updates.push_back(update);
      changed_.notify_all();
      return 0;
    }
    case kCREATE_EVENT & 0xff: return create_event(*static_cast<create_event_args*>(args));
    case kDESTROY_EVENT & 0xff:
      changed_.notify_all();
      return events_.erase(static_cast<destroy_event_args*>(args)->event_id) == 1 ? 0 : -EINVAL;
    case kSET_EVENT & 0xff: {
      const auto found = events_.find(static_cast<set_event_args*>(args)->event_id);
      if (found == events_.end() || found->second.type != kEventSignal) return -EINVAL;
      set(found->second);
      return 0;
    }
    case kWAIT_EVENTS & 0xff: return wait_events(*static_cast<wait_events_args*>(args), lock);
    default: return -ENOTTY;
  }
}

int FakeOs::alloc(alloc_memory_of_gpu_args& args) {
  if (args.size == 0 || !acquired_.contains(args.gpu_id)) return -EINVAL;
  if ((args.flags & kMemUserptr) != 0 && args.mmap_offset == 0) return -EINVAL;
  if ((args.flags & kMemMmioRemap) != 0 && args.size != 4096) return -EINVAL;
  args.handle = uint64_t{args.gpu_id} << 32 | next_handle_++;
  if ((args.flags & kMemUserptr) == 0) args.mmap_offset = args.handle << 12;
  objects[args.handle] = {args, {}};
  return 0;
}

int FakeOs::map(map_memory_to_gpu_args& args, bool unmap) {
  const auto found = objects.find(args.handle);
  if (found == objects.end()) return -ENOMEM;
  const auto* ids = reinterpret_cast<const uint32_t*>(args.device_ids_array_ptr);
  Object& object = found->second;
  for (; args.n_success < args.n_devices; ++args.n_success) {
    const uint32_t gpu = ids[args.n_success];
    if (!acquired_.contains(gpu)) return -EINVAL;
    if (unmap) {
      if (object.gpus.erase(gpu) == 0) return -EINVAL;
      continue;
    }
    for (const auto& [handle, other] : objects) {
      const bool overlaps = object.args.va_addr < other.args.va_addr + other.args.size &&
                            other.args.va_addr < object.args.va_addr + object.args.size;
      if (handle != args.handle && overlaps && other.gpus.contains(gpu)) return -EINVAL;
    }
    object.gpus.insert(gpu);
  }
  return 0;
}

int FakeOs::free(free_memory_of_gpu_args& args) {
  const auto found = objects.find(args.handle);
  if (found == objects.end()) return -EINVAL;
  if (args.handle == event_page_handle) return -EPERM;
  if (!found->second.gpus.empty()) return -EBUSY;
  objects.erase(found);
  return 0;
}

// The rules of Linux 6.12: exact mappings of ring, indices, EOP buffer and save area.
int FakeOs::create_queue(create_queue_args& args) {
  const auto mapping = [&](uint64_t address, uint64_t bytes) {
    return std::any_of(objects.begin(), objects.end(), [&](const auto& entry) {
      const Object& object = entry.second;
      return object.args.va_addr == address && object.args.size == bytes && object.gpus.contains(args.gpu_id);
    });
  };
  if (args.queue_priority > 15 || args.queue_percentage > 100) return -EINVAL;
  if (args.queue_type == kQueueTypeSdmaByEngineId && kfd_minor < 17) return -kErrnoNotSupported;
  if (!mapping(args.write_pointer_address & ~0xfffull, 4096) || !mapping(args.read_pointer_address & ~0xfffull, 4096))
    return -EINVAL;
  if (!mapping(args.ring_base_address, args.ring_size)) return -EINVAL;
  if (args.queue_type == kQueueTypeComputeAql) {
    if (!mapping(args.eop_buffer_address, args.eop_buffer_size)) return -EINVAL;
    const bool save_area = std::any_of(objects.begin(), objects.end(), [&](const auto& entry) {
      return entry.second.args.va_addr == args.ctx_save_restore_address &&
             entry.second.args.size >= args.ctx_save_restore_size;
    });
    if (!save_area) return -EINVAL;
  }
  args.queue_id = next_queue_++;
  args.doorbell_offset = kMmapTypeDoorbell | uint64_t{args.gpu_id} << 46 | (8 + args.queue_id * 8);
  queues[args.queue_id] = {args};
  return 0;
}

// ---- events
// --------------------------------------------------------------------------------------------------------

int FakeOs::create_event(create_event_args& args) {
  if (args.event_page_offset != 0) {
    if (event_page_handle != 0 || !objects.contains(args.event_page_offset)) return -EINVAL;
    event_page_handle = args.event_page_offset;
  }
  const bool signal = args.event_type == kEventSignal;
  args.event_id = signal ? next_signal_event_++ : next_other_event_++;
  args.event_trigger_data = args.event_id;
  args.event_slot_index = signal ? args.event_id : 0;
  Event& event = events_[args.event_id];
  event.type = args.event_type;
  event.auto_reset = args.auto_reset != 0;
  return 0;
}

void FakeOs::set(Event& event) {
  event.signaled = !event.auto_reset || event.waiters == 0;
  ++event.age;
  ++event.wakes;
  changed_.notify_all();
}

int FakeOs::wait_events(wait_events_args& args, std::unique_lock<std::mutex>& lock) {
  auto* data = reinterpret_cast<event_data*>(args.events_ptr);
  std::vector<uint64_t> wakes(args.num_events);
  std::vector<bool> active(args.num_events);
  for (uint32_t i = 0; i < args.num_events; ++i) {
    const auto found = events_.find(data[i].event_id);
    if (found == events_.end()) return -EINVAL;
    Event& event = found->second;
    active[i] = event.signaled;
    if (event.auto_reset) event.signaled = false;
    if (event.type == kEventSignal && data[i].signal_event.last_event_age != 0 && kfd_minor >= 14)
      active[i] = active[i] || data[i].signal_event.last_event_age != event.age;
    wakes[i] = event.wakes;
    ++event.waiters;
  }
  const auto done = [&] {
    for (uint32_t i = 0; i < args.num_events; ++i) {
      const auto found = events_.find(data[i].event_id);
      if (found == events_.end()) return true;
      if (found->second.wakes != wakes[i]) active[i] = true;
    }
    const auto count = std::count(active.begin(), active.end(), true);
    return args.wait_for_all != 0 ? count == args.num_events : count > 0;
  };
  bool complete = true;
  if (args.timeout == 0xffffffff)
    changed_.wait(lock, done);
  else
    complete = changed_.wait_for(lock, std::chrono::milliseconds(args.timeout), done);
  int rc = 0;
  for (uint32_t i = 0; i < args.num_events; ++i) {
    const auto found = events_.find(data[i].event_id);
    if (found == events_.end()) {
      rc = -EIO;
      args.wait_result = kWaitFail;
      continue;
    }
    Event& event = found->second;
    --event.waiters;
    if (!complete || !active[i]) continue;
    if (event.type == kEventMemory) data[i].memory_exception = event.memory;
    if (event.type == kEventHwException) data[i].hw_exception = event.exception;
    if (event.type == kEventSignal && data[i].signal_event.last_event_age != 0)
      data[i].signal_event.last_event_age = event.age;
  }
  if (rc == 0) args.wait_result = complete ? kWaitComplete : kWaitTimeout;
  return rc;
}

void FakeOs::raise_event(uint32_t event_id) {
  const std::lock_guard lock(mutex_);
  if (events_.contains(event_id)) set(events_[event_id]);
}

void FakeOs::raise_memory_fault(const memory_exception_data& data) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, event] : events_)
    if (event.type == kEventMemory) {
      event.memory = data;
      set(event);
    }
}

void FakeOs::raise_hw_exception(const hw_exception_data& data) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, event] : events_)
    if (event.type == kEventHwException) {
      event.exception = data;
      set(event);
    }
}

// ---- the machine
// ---------------------------------------------------------------------------------------------------

namespace {

constexpr const char* kGfx90a =
    "cpu_cores_count 0\nsimd_count 416\nmem_banks_count 1\ncaches_count 217\nio_links_count "
    "1\np2p_links_count 0\n"
    "cpu_core_id_base 0\nsimd_id_base 2147487744\nmax_waves_per_simd 8\nlds_size_in_kb 64\ngds_size_in_kb "
    "0\nnum_gws 64\n"
    "wave_front_size 64\narray_count 8\nsimd_arrays_per_engine 1\ncu_per_simd_array 16\nsimd_per_cu 4\n"
    "max_slots_scratch_cu 32\ngfx_target_version 90010\nvendor_id 4098\ndevice_id 29711\nlocation_id "
    "50432\ndomain 0\n"
    "drm_render_minor 128\nhive_id 0\nnum_sdma_engines 2\nnum_sdma_xgmi_engines "
    "3\nnum_sdma_queues_per_engine 8\n"
    "num_cp_queues 24\nmax_engine_clk_fcompute 1700\nlocal_mem_size 0\nfw_version 78\ncapability "
    "746037888\ndebug_prop 470\n"
    "sdma_fw_version 8\nunique_id 1234605616436508552\nnum_xcc 1\nmax_engine_clk_ccompute 3500\n";
constexpr const char* kGfx1100 =
    "cpu_cores_count 0\nsimd_count 192\nmem_banks_count 1\ncaches_count 206\nio_links_count "
    "1\np2p_links_count 0\n"
    "cpu_core_id_base 0\nsimd_id_base 2147487744\nmax_waves_per_simd 16\nlds_size_in_kb 64\ngds_size_in_kb "
    "0\nnum_gws 64\n"
    "wave_front_size 32\narray_count 12\nsimd_arrays_per_engine 2\ncu_per_simd_array 8\nsimd_per_cu 2\n"
    "max_slots_scratch_cu 32\ngfx_target_version 110000\nvendor_id 4098\ndevice_id 29772\nlocation_id "
    "768\ndomain 0\n"
    "drm_render_minor 128\nhive_id 0\nnum_sdma_engines 2\nnum_sdma_xgmi_engines "
    "0\nnum_sdma_queues_per_engine 6\n"
    "num_cp_queues 8\nmax_engine_clk_fcompute 2526\nlocal_mem_size 0\nfw_version 2140\ncapability "
    "671588992\ndebug_prop 1495\n"
    "sdma_fw_version 19\nunique_id 0\nnum_xcc 1\nmax_engine_clk_ccompute 3500\n";

}  // namespace

void FakeOs::add_cpu_node(uint32_t id) {
  files[node_path(id) + "/gpu_id"] = "0\n";
  files[node_path(id) + "/name"] = "\n";
  files[node_path(id) + "/properties"] = "cpu_cores_count 8\nsimd_count 0\nmem_banks_count 1\n";
}

void FakeOs::add_gpu_node(uint32_t id, const std::string& gfx, uint32_t gpu_id, uint32_t render_minor) {
  const std::string path = node_path(id);
  files[path + "/gpu_id"] = std::to_string(gpu_id) + "\n";
  files[path + "/name"] = gfx == "gfx90a" ? "aldebaran\n" : "ip discovery\n";
  files[path + "/properties"] = gfx == "gfx90a" ? kGfx90a : kGfx1100;
  set_property(id, "drm_render_minor", std::to_string(render_minor));
  files[path + "/mem_banks/0/properties"] =
      "heap_type 1\nsize_in_bytes 17163091968\nflags 0\nwidth 4096\nmem_clk_max 1600\n";
  files[path + "/caches/0/properties"] =
      "processor_id_low 2147487744\nlevel 1\nsize 16\ncache_line_size 64\ncache_lines_per_tag 1\nassociation "
      "0\nlatency 0\ntype 9\n"
      "sibling_map 1,0,0\n";
  files[path + "/io_links/0/properties"] =
      "type 2\nversion_major 0\nversion_minor 0\nnode_from " + std::to_string(id) +
      "\nnode_to 0\nweight 20\nmin_latency 0\nmax_latency 0\nmin_bandwidth 312\nmax_bandwidth "
      "32000\nrecommended_transfer_size 0\nflags 1\n";
  files["/dev/dri/renderD" + std::to_string(render_minor)] = "";
}

void FakeOs::add_usual_machine(const std::string& gfx) {
  files["/dev/kfd"] = "";
  files[std::string(table_.topology_root) + "/generation_id"] = "2\n";
  files[std::string(table_.topology_root) + "/system_properties"] = "platform_oem 0\nplatform_id 0\nplatform_rev 0\n";
  add_cpu_node(0);
  add_gpu_node(1, gfx, 4660, 128);
}

void FakeOs::drop_property(uint32_t node, const std::string& key) {
  std::string& text = files[node_path(node) + "/properties"];
  const size_t at = text.find(key + " ");
  if (at != std::string::npos && (at == 0 || text[at - 1] == '\n')) text.erase(at, text.find('\n', at) + 1 - at);
}

void FakeOs::set_property(uint32_t node, const std::string& key, const std::string& value) {
  drop_property(node, key);
  files[node_path(node) + "/properties"] += key + " " + value + "\n";
}

}  // namespace barehip::kfd::test
