// What stands behind System, Device and the queues. Private to kfd/.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <barehip/device.h>
#include <barehip/event.h>
#include <barehip/memory.h>
#include <barehip/queue.h>
#include <barehip/signal.h>

#include "kfd/client.h"
#include "kfd/clock.h"
#include "kfd/mapping.h"
#include "kfd/os_file.h"
#include "kfd/watcher.h"

namespace barehip::kfd {

struct DeviceImpl {
  System* system = nullptr;
  GpuProperties properties;
  uint32_t index = 0;
  Fd render;
  Memory hdp_memory;
  Mapping hdp_page;
  Clock clock;

  std::mutex doorbell_mutex;
  Mapping doorbells;  ///< this process's slice, mapped with the first queue

  std::mutex trap_mutex;
  Memory trap_table;  ///< the trap handler's TMA: amd_queue_t addresses by doorbell id
  std::atomic<uint32_t> queues{0};

  /// The text of the named range (Device::name_addresses) that holds a page, or null.
  const char* name_of_page(uint64_t page);
  /// Keeps the first fatal error and wakes every waiter.
  void set_error(Device& device, Error error);
  /// `epoch`: where Device::epoch() lies, in the page that fork() wipes.
  static std::unique_ptr<Device> make_device(std::unique_ptr<DeviceImpl> impl, void* epoch);
  static void set_hdp_page(Device& device, void* page);

  struct NamedRange {
    uint64_t address = 0;
    uint64_t bytes = 0;
    const char* text = nullptr;
  };
  std::mutex names_mutex;
  std::vector<NamedRange> names;

 private:
  std::mutex error_mutex_;
  std::unique_ptr<Error> error_;
};

struct SystemImpl {
  const barehip_os_table* os = nullptr;
  Mapping alive_page;
  Fd kfd;
  Client client;
  uint32_t minor = 0;
  bool runtime_enabled = false;
  bool runtime_is_ours = false;  ///< we issued the RUNTIME_ENABLE that is in force, and take it back
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<std::string> skipped;
  Memory event_page;
  std::mutex event_page_mutex;
  std::unique_ptr<SignalPool> signals;
  std::unique_ptr<Watcher> watcher;
  std::mutex watcher_mutex;
  Waiters waiters;

  /// The event page, made with the first event; its handle goes to the kernel with that event.
  Result<void> ensure_event_page(System& system, uint64_t& handle_for_kernel);
  bool event_page_known = false;  ///< the kernel has it
  /// The watcher thread, started with the first queue.
  Result<Watcher*> ensure_watcher(System& system);

  static Result<std::unique_ptr<System>> open(const barehip_os_table& os);
};

/// Error of using a System in a forked child.
std::unexpected<Error> forked_child(const char* operation);

}  // namespace barehip::kfd
