// What a user may choose about the simulated machine: which cards, and the switches of each.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "tools/vgpu/devices/card.h"
#include "tools/vgpu/kernel/gpu_config.h"

namespace vgpu {

/// How the GPU thread learns of a doorbell while it sleeps.
enum class DoorbellTrap : uint8_t {
  kAuto,    ///< the first of the following that this system allows
  kUffd,    ///< userfaultfd: the storing thread waits in the kernel until the GPU thread saw it
  kSignal,  ///< write protection and a SIGSEGV handler
  kPoll,    ///< a look every millisecond
};

/// What a program meets that opens a device node.
enum class NodeAccess : uint8_t {
  kOpen,
  kAbsent,  ///< not there: a container that was not given it (ENOENT)
  kDenied,  ///< there, but owned by a group that the caller is not in (EACCES)
  kCgroup,  ///< there, but the device cgroup forbids it (EPERM), also for the GPU's files in the topology
};

struct CardOptions {
  Card card;
  NodeAccess render = NodeAccess::kOpen;  ///< of the render node
  uint64_t vram_bytes = 0;
  uint64_t seed = 0;
  Hostile hostile{};
  uint64_t reset_at_packet = 0;  ///< the GPU is reset when this packet of the process starts; 0: never
};

struct Options {
  std::vector<CardOptions> cards;
  uint32_t kfd_minor = 14;
  uint32_t cpu_nodes = 1;
  NodeAccess kfd_node = NodeAccess::kOpen;  ///< of /dev/kfd
  bool svm = false;                         ///< the kernel was built with shared virtual memory
  std::string log_path;       ///< where fault reports and requests answered by a default go; empty: standard error
  std::string defaults_path;  ///< a file that collects requests answered by a default, over all processes
  std::string shared_folder;  ///< where all processes of the machine meet; empty: only forked children belong to it
  std::string trace_path;     ///< where one line per ioctl and packet goes; empty: nowhere
  DoorbellTrap doorbell_trap = DoorbellTrap::kAuto;
};

/// Parses "gfx90a+vram=1G+hostile=7,mi210", or "none" for a machine without a GPU: cards separated by commas, each
/// followed by its switches:
///   vram=SIZE (bytes, or with K, M, G), hostile=SEED or hostile=SEED:switch/switch..., seed=N, reset=PACKET,
///   render=open|absent|denied|cgroup,
///   and for the whole machine kfd=1.MINOR, cpus=N (CPU nodes), svm=on|off, kfd_node=open|absent|denied, log=FILE,
///   trace=FILE, doorbell=auto|uffd|signal|poll.
/// The error is a sentence for the user.
std::expected<Options, std::string> parse_options(std::string_view spec);

/// Names of the switches of Hostile, in the order of the struct.
std::vector<std::string> hostile_names();

}  // namespace vgpu
