#include "kfd/os_failing.h"

namespace barehip::kfd {
namespace {

FailingOs& of(void* self) { return *static_cast<FailingOs*>(self); }

/// Calls inner.`function` unless this call's turn to fail has come.
#define FORWARD(call, function, ...)                            \
  FailingOs& os = of(self);                                     \
  if (const int rc = os.enter(OsCall::call); rc < 0) return rc; \
  return os.inner().function(os.inner().self, __VA_ARGS__)

int failing_open(void* self, const char* path, int flags) { FORWARD(kOpen, open, path, flags); }
int failing_close(void* self, int fd) { FORWARD(kClose, close, fd); }
int failing_ioctl(void* self, int fd, unsigned long request, void* arg) { FORWARD(kIoctl, ioctl, fd, request, arg); }
int failing_mmap(void* self, void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out) {
  FORWARD(kMmap, mmap, addr, length, prot, flags, fd, offset, out);
}
int failing_munmap(void* self, void* addr, size_t length) { FORWARD(kMunmap, munmap, addr, length); }
int failing_madvise(void* self, void* addr, size_t length, int advice) {
  FORWARD(kMadvise, madvise, addr, length, advice);
}
int64_t failing_read_file(void* self, const char* path, char* buf, size_t cap) {
  FORWARD(kReadFile, read_file, path, buf, cap);
}
int failing_list_dir(void* self, const char* path, int (*each)(void* user, const char* name), void* user) {
  FORWARD(kListDir, list_dir, path, each, user);
}
int failing_stat(void* self, const char* path, barehip_os_stat* out) { FORWARD(kStat, stat, path, out); }
int failing_gpu_info(void* self, int fd, drm_amdgpu_info_device* out, size_t size) {
  FORWARD(kGpuInfo, gpu_info, fd, out, size);
}
#undef FORWARD

uint64_t failing_clock_ns(void* self, int clock_id) {
  FailingOs& os = of(self);
  os.enter(OsCall::kClockNs);
  return os.inner().clock_ns(os.inner().self, clock_id);
}

}  // namespace

FailingOs::FailingOs(const barehip_os_table& inner) : inner_(inner), table_(inner) {
  table_.self = this;
  table_.open = failing_open;
  table_.close = failing_close;
  table_.ioctl = failing_ioctl;
  table_.mmap = failing_mmap;
  table_.munmap = failing_munmap;
  table_.madvise = failing_madvise;
  table_.read_file = failing_read_file;
  table_.list_dir = failing_list_dir;
  table_.stat = failing_stat;
  table_.clock_ns = failing_clock_ns;
  table_.gpu_info = failing_gpu_info;
}

void FailingOs::fail_nth(uint64_t n, int error, uint32_t kinds) {
  seen_.store(0);
  failed_.store(false);
  error_.store(error);
  kinds_.store(kinds);
  thread_.store(std::this_thread::get_id());
  nth_.store(n);
}

int FailingOs::enter(OsCall call) {
  counts_[static_cast<size_t>(call)].fetch_add(1, std::memory_order_relaxed);
  if ((kinds_.load() & mask(call)) == 0 || thread_.load() != std::this_thread::get_id()) return 0;
  const uint64_t turn = seen_.fetch_add(1) + 1;
  if (turn != nth_.load()) return 0;
  failed_.store(true);
  return -error_.load();
}

uint64_t FailingOs::syscalls() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < kOsCalls; ++i)
    if (i != static_cast<size_t>(OsCall::kClockNs)) sum += counts_[i].load();
  return sum;
}

}  // namespace barehip::kfd
