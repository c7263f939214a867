#include "tools/vgpu/kernel/doorbell_gate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "tools/vgpu/kernel/fault_signal.h"

namespace vgpu {

namespace {

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

// Minor faults of shared memory: the page stays where it is, only the client's page table entry goes, and the first
// access waits until this thread has let it in again. No signal handler is involved, so nobody can take it away.
class UffdGate final : public DoorbellGate {
 public:
  static std::unique_ptr<DoorbellGate> create() {
    const int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
    if (fd < 0) return nullptr;
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_MINOR_SHMEM;
    std::unique_ptr<UffdGate> gate(new UffdGate(fd));
    if (::ioctl(fd, UFFDIO_API, &api) != 0) return nullptr;
    return gate;
  }
  ~UffdGate() override { close(fd_); }

 private:
  explicit UffdGate(int fd) : fd_(fd) {}

  bool watch(const Range& range) override {
    uffdio_register request{};
    request.range = {range.address, range.bytes};
    request.mode = UFFDIO_REGISTER_MODE_MINOR;
    return ::ioctl(fd_, UFFDIO_REGISTER, &request) == 0;
  }
  void unwatch(const Range& range) override {
    uffdio_range request{range.address, range.bytes};
    ::ioctl(fd_, UFFDIO_UNREGISTER, &request);
  }
  void arm_range(const Range& range) override { madvise(pointer(range.address), range.bytes, MADV_DONTNEED); }
  void disarm_range(const Range& range) override {
    for (uint64_t at = range.address; at < range.address + range.bytes; at += 4096) {
      uffdio_continue request{};
      request.range = {at, 4096};
      if (::ioctl(fd_, UFFDIO_CONTINUE, &request) == 0) continue;
      uffdio_range wake{at, 4096};  // already there: only the waiters are left
      ::ioctl(fd_, UFFDIO_WAKE, &wake);
    }
  }
  int poll_fd() const override { return fd_; }
  bool drain() override {
    uffd_msg message;
    bool any = false;
    while (read(fd_, &message, sizeof message) > 0) any = true;
    return any;
  }

  int fd_;
};

// Write protection. The handler lets the store through and kicks the thread.
class SignalGate final : public DoorbellGate {
 public:
  SignalGate() { install_fault_handler(); }

 private:
  bool watch(const Range& range) override { return watch_doorbell_range(range.address, range.bytes, kick_fd_); }
  void unwatch(const Range& range) override { unwatch_doorbell_range(range.address); }
  void arm_range(const Range& range) override {
    install_fault_handler();  // the client may have put its own one on top of ours since
    mprotect(pointer(range.address), range.bytes, PROT_READ);
  }
  void disarm_range(const Range& range) override {
    mprotect(pointer(range.address), range.bytes, PROT_READ | PROT_WRITE);
  }
};

class PollGate final : public DoorbellGate {
  bool watch(const Range&) override { return true; }
  void unwatch(const Range&) override {}
  void arm_range(const Range&) override {}
  void disarm_range(const Range&) override {}
  int64_t longest_sleep_us() const override { return 1000; }
};

}  // namespace

DoorbellGate::DoorbellGate() : kick_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
DoorbellGate::~DoorbellGate() {
  if (kick_fd_ >= 0) close(kick_fd_);
}

std::unique_ptr<DoorbellGate> DoorbellGate::create(DoorbellTrap wanted) {
  if (wanted == DoorbellTrap::kAuto || wanted == DoorbellTrap::kUffd) {
    if (auto gate = UffdGate::create()) return gate;
  }
  if (wanted == DoorbellTrap::kPoll) return std::make_unique<PollGate>();
  return std::make_unique<SignalGate>();
}

void DoorbellGate::add_mapping(void* address, size_t bytes) {
  const Range range{reinterpret_cast<uint64_t>(address), bytes};
  forget_range(range.address, range.bytes);
  {
    std::lock_guard lock(mutex_);
    if (!watch(range)) return;
    ranges_.push_back(range);
    // A fresh mapping has no page table entries, which is the armed state of the userfaultfd way.
    if (armed_)
      arm_range(range);
    else
      disarm_range(range);
  }
  kick();
}

bool DoorbellGate::forget_range(uint64_t address, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  return std::erase_if(ranges_, [&](const Range& range) {
           if (range.address + range.bytes <= address || address + bytes <= range.address) return false;
           unwatch(range);
           return true;
         }) != 0;
}

void DoorbellGate::arm() {
  std::lock_guard lock(mutex_);
  armed_ = true;
  for (const Range& range : ranges_) arm_range(range);
}

void DoorbellGate::disarm() {
  std::lock_guard lock(mutex_);
  armed_ = false;
  let_in_locked();
}

void DoorbellGate::let_in_locked() {
  for (const Range& range : ranges_) disarm_range(range);
}

void DoorbellGate::kick() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(kick_fd_, &one, sizeof one);
}

void DoorbellGate::wait(int64_t timeout_us) {
  const int64_t longest = longest_sleep_us();
  if (longest >= 0 && (timeout_us < 0 || timeout_us > longest)) timeout_us = longest;
  pollfd fds[2] = {{kick_fd_, POLLIN, 0}, {poll_fd(), POLLIN, 0}};
  const timespec limit{static_cast<time_t>(timeout_us / 1'000'000), static_cast<long>(timeout_us % 1'000'000 * 1000)};
  ppoll(fds, poll_fd() >= 0 ? 2 : 1, timeout_us < 0 ? nullptr : &limit, nullptr);
  uint64_t count;
  [[maybe_unused]] const ssize_t got = read(kick_fd_, &count, sizeof count);
  if (drain()) {
    std::lock_guard lock(mutex_);
    let_in_locked();
  }
}

}  // namespace vgpu
