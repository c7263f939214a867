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

struct CardOptions {
  Card card;
  uint64_t vram_bytes = 0;
  uint64_t seed = 0;
  Hostile hostile{};
};

struct Options {
  std::vector<CardOptions> cards;
  uint32_t kfd_minor = 14;
  std::string log_path;       ///< where fault reports and requests answered by a default go; empty: standard error
  std::string defaults_path;  ///< a file that collects requests answered by a default, over all processes
  std::string trace_path;     ///< where one line per ioctl and packet goes; empty: nowhere
  DoorbellTrap doorbell_trap = DoorbellTrap::kAuto;
};

/// Parses "gfx90a+vram=1G+hostile=7,mi210": cards separated by commas, each followed by its switches:
///   vram=SIZE (bytes, or with K, M, G), hostile=SEED or hostile=SEED:switch/switch..., seed=N,
///   and for the whole machine kfd=1.MINOR, log=FILE, trace=FILE, doorbell=auto|uffd|signal|poll.
/// The error is a sentence for the user.
std::expected<Options, std::string> parse_options(std::string_view spec);

/// Names of the switches of Hostile, in the order of the struct.
std::vector<std::string> hostile_names();

}  // namespace vgpu
