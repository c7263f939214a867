#include "tools/vgpu/kernel/fault_signal.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <mutex>

namespace vgpu {

namespace {

constexpr uint64_t kPageMask = ~uint64_t{4095};
constexpr int kWatchCount = 64;
constexpr int kGpuThreadCount = 64;

// Everything that the handler reads is atomic; it takes no lock and allocates nothing.
struct Watch {
  std::atomic<uint64_t> address{0}, bytes{0};
  std::atomic<int> kick_fd{-1};
};
struct GpuThread {
  std::atomic<int> tid{0};
  std::atomic<uint64_t> stray{0};
  std::atomic<bool> substituted{false};
};

Watch watches[kWatchCount];
GpuThread gpu_threads[kGpuThreadCount];
std::mutex change;
struct sigaction previous_segv, previous_bus;

int own_tid() { return static_cast<int>(syscall(SYS_gettid)); }

GpuThread* own_gpu_thread() {
  const int tid = own_tid();
  for (GpuThread& thread : gpu_threads) {
    if (thread.tid.load(std::memory_order_relaxed) == tid) return &thread;
  }
  return nullptr;
}

bool let_doorbell_store_through(uint64_t address) {
  for (Watch& watch : watches) {
    const uint64_t start = watch.address.load(), bytes = watch.bytes.load();
    if (bytes == 0 || address - start >= bytes) continue;
    if (mprotect(reinterpret_cast<void*>(start), bytes, PROT_READ | PROT_WRITE) != 0) return false;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(watch.kick_fd.load(), &one, sizeof one);
    return true;
  }
  return false;
}

// The GPU thread goes on with a page of zeros; its runner sees the note after the step and raises a memory fault.
bool substitute_page(uint64_t address, int signal) {
  GpuThread* thread = own_gpu_thread();
  if (thread == nullptr || address < 4096) return false;
  uint64_t none = 0;
  thread->stray.compare_exchange_strong(none, address);
  void* page = reinterpret_cast<void*>(address & kPageMask);
  const int fixed = signal == SIGBUS ? MAP_FIXED : MAP_FIXED_NOREPLACE;
  if (mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0) != MAP_FAILED) {
    if (none == 0) thread->substituted.store(true);
    return true;
  }
  // Something is mapped there that may not be accessed.
  return errno == EEXIST && mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0;
}

// A previous handler that raises its signal again, as test frameworks do, would come back here for ever.
std::atomic<int> chained{0};
constexpr int kMostChained = 4;

void chain(const struct sigaction& previous, int signal, siginfo_t* info, void* context) {
  const bool again = chained.fetch_add(1) >= kMostChained;
  if (!again && (previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
    return;
  }
  if (!again && previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
    return;
  }
  struct sigaction defaults{};
  defaults.sa_handler = SIG_DFL;
  sigaction(signal, &defaults, nullptr);  // the access is repeated and ends the process as it would have without us
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  const bool ours = let_doorbell_store_through(address) || substitute_page(address, signal);
  errno = saved_errno;
  if (!ours) chain(signal == SIGBUS ? previous_bus : previous_segv, signal, info, context);
}

void install(int signal, struct sigaction& previous) {
  struct sigaction current{};
  sigaction(signal, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_fault) return;
  previous = current;
  struct sigaction ours{};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&ours.sa_mask);
  sigaction(signal, &ours, nullptr);
}

}  // namespace

void install_fault_handler() {
  std::lock_guard lock(change);
  install(SIGSEGV, previous_segv);
  install(SIGBUS, previous_bus);
}

bool watch_doorbell_range(uint64_t address, uint64_t bytes, int kick_fd) {
  std::lock_guard lock(change);
  for (Watch& watch : watches) {
    if (watch.bytes.load() != 0) continue;
    watch.address = address;
    watch.kick_fd = kick_fd;
    watch.bytes = bytes;
    return true;
  }
  return false;
}

void unwatch_doorbell_range(uint64_t address) {
  std::lock_guard lock(change);
  for (Watch& watch : watches) {
    if (watch.address.load() == address) watch.bytes = 0;
  }
}

GpuThreadScope::GpuThreadScope() {
  install_fault_handler();
  std::lock_guard lock(change);
  for (GpuThread& thread : gpu_threads) {
    if (thread.tid.load() != 0) continue;
    thread.stray = 0;
    thread.tid = own_tid();
    return;
  }
}

GpuThreadScope::~GpuThreadScope() {
  std::lock_guard lock(change);
  if (GpuThread* thread = own_gpu_thread()) thread->tid = 0;
}

uint64_t GpuThreadScope::take_stray_access() {
  GpuThread* thread = own_gpu_thread();
  if (thread == nullptr) return 0;
  const uint64_t address = thread->stray.exchange(0);
  if (address != 0 && thread->substituted.exchange(false)) {
    munmap(reinterpret_cast<void*>(address & kPageMask), 4096);
  }
  return address;
}

}  // namespace vgpu
