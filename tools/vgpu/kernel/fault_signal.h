// The SIGSEGV and SIGBUS handler of the model. It serves two needs and hands everything else to the handler that was
// there before: stores to armed doorbell pages (where userfaultfd is not to be had), and accesses of the GPU threads to
// user pages that the client took away meanwhile.
#pragma once

#include <atomic>
#include <cstdint>

namespace vgpu {

/// Puts the handler in place, or on top again when somebody replaced it. Any thread.
void install_fault_handler();

/// A store to [address, address + bytes) makes the pages writable and adds 1 to the eventfd. False: no room (64
/// ranges).
bool watch_doorbell_range(uint64_t address, uint64_t bytes, int kick_fd);
void unwatch_doorbell_range(uint64_t address);

/// While one exists on a thread, an access of that thread to memory that is not there any more gets a page of zeros
/// instead of killing the process, and the address is noted.
class GpuThreadScope {
 public:
  GpuThreadScope();
  ~GpuThreadScope();
  GpuThreadScope(const GpuThreadScope&) = delete;
  GpuThreadScope& operator=(const GpuThreadScope&) = delete;

  /// The first such address since the last call, and takes the substitute page away; 0 when there was none.
  static uint64_t take_stray_access();
};

}  // namespace vgpu
