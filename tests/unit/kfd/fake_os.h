// A scripted operating system for the tests: files in memory, a small KFD that keeps the rules which the real
// one enforces (handles, mappings, events, queues), and account of everything that is open.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kfd/os.h"
#include "kfd/uapi.h"

namespace barehip::kfd::test {

class FakeOs {
 public:
  FakeOs();
  ~FakeOs();
  FakeOs(const FakeOs&) = delete;
  FakeOs& operator=(const FakeOs&) = delete;
  const barehip_os_table& table() const { return table_; }

  // ---- the script
  // ---------------------------------------------------------------------------------------------------

  /// Text of every file; folders follow from the paths.
  std::map<std::string, std::string> files;
  /// Path to positive errno: open, read, list and stat of it fail.
  std::map<std::string, int> path_errors;
  /// Ioctl number to positive errno: it fails always.
  std::map<uint32_t, int> ioctl_errors;
  std::map<std::string, barehip_os_stat> stats;
  uint32_t kfd_minor = 14;
  uint32_t counter_khz = 100000;
  /// Called before every ioctl with its number and argument.
  std::function<void(uint32_t nr, void* args)> on_ioctl;
  std::function<void(uint64_t start, uint64_t bytes)> on_munmap;

  /// A node's files. GPU node: properties of an MI210 (gfx90a) or an RX 7900 XTX (gfx1100).
  void add_cpu_node(uint32_t id);
  void add_gpu_node(uint32_t id, const std::string& gfx, uint32_t gpu_id, uint32_t render_minor);
  /// One CPU and one gfx90a: node 1, gpu_id 4660, renderD128.
  void add_usual_machine(const std::string& gfx = "gfx90a");
  void set_property(uint32_t node, const std::string& key, const std::string& value);
  void drop_property(uint32_t node, const std::string& key);
  std::string node_path(uint32_t node) const {
    return std::string(table_.topology_root) + "/nodes/" + std::to_string(node);
  }

  // ---- what happened
  // --------------------------------------------------------------------------------------------------

  struct Object {
    uapi::alloc_memory_of_gpu_args args;
    std::set<uint32_t> gpus;
  };
  struct Queue {
    uapi::create_queue_args args;
  };
  std::map<uint64_t, Object> objects;
  std::map<uint32_t, Queue> queues;
  std::vector<uint32_t> destroyed_queues;
  std::vector<uapi::update_queue_args> updates;
  uapi::set_trap_handler_args trap_handler{};
  uint64_t event_page_handle = 0;

  size_t open_fds();
  uint64_t mapped_bytes();
  size_t live_objects();
  size_t live_queues();
  size_t live_events();
  size_t seen_updates();

  // ---- the GPU's side
  // -------------------------------------------------------------------------------------------------

  void raise_event(uint32_t event_id);
  void raise_memory_fault(const uapi::memory_exception_data& data);
  void raise_hw_exception(const uapi::hw_exception_data& data);

 private:
  friend struct FakeOsFunctions;
  struct Event {
    uint32_t type = 0;
    bool auto_reset = false;
    bool signaled = false;
    uint64_t age = 1;
    uint32_t waiters = 0;
    uint64_t wakes = 0;
    uapi::memory_exception_data memory{};
    uapi::hw_exception_data exception{};
  };
  int ioctl(uint32_t nr, void* args, std::unique_lock<std::mutex>& lock);
  int alloc(uapi::alloc_memory_of_gpu_args& args);
  int map(uapi::map_memory_to_gpu_args& args, bool unmap);
  int free(uapi::free_memory_of_gpu_args& args);
  int create_queue(uapi::create_queue_args& args);
  int create_event(uapi::create_event_args& args);
  int wait_events(uapi::wait_events_args& args, std::unique_lock<std::mutex>& lock);
  void set(Event& event);
  void add_range(uint64_t start, uint64_t bytes);
  void remove_range(uint64_t start, uint64_t bytes);

  barehip_os_table table_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, std::string> fds_;
  std::map<uint64_t, uint64_t> ranges_;  ///< start to end
  std::map<uint32_t, Event> events_;
  std::set<uint32_t> acquired_;
  uint32_t next_signal_event_ = 1;
  uint32_t next_other_event_ = 0x40000000;
  uint32_t next_queue_ = 0;
  uint64_t next_handle_ = 1;
  bool runtime_enabled_ = false;
};

}  // namespace barehip::kfd::test
