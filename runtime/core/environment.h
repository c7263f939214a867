// The environment variables that barehip reads, as one table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace barehip::runtime {

struct EnvironmentVariable {
  const char* name;
  const char* type;           ///< "integer", "list", "flag"
  const char* default_value;  ///< as text
  const char* meaning;        ///< one sentence
};

/// All of them; `barehip-info --env` prints this.
std::span<const EnvironmentVariable> environment_table();

/// Values, read once at the runtime's start.
struct Environment {
  std::string devices;            ///< BAREHIP_DEVICES; "" = the real kernel
  uint32_t max_hw_queues = 4;     ///< GPU_MAX_HW_QUEUES, 1..32
  bool launch_blocking = false;   ///< HIP_LAUNCH_BLOCKING
  int log_level = 0;              ///< AMD_LOG_LEVEL
  bool silent = false;            ///< AMD_LOG_LEVEL is 0, and not just unset
  bool has_visible = false;       ///< HIP_VISIBLE_DEVICES (or CUDA_VISIBLE_DEVICES) is set
  std::string visible;            ///< its text
  bool has_rocr_visible = false;  ///< ROCR_VISIBLE_DEVICES is set
  std::string rocr_visible;
};
const Environment& environment();

/// Applies ROCR_VISIBLE_DEVICES, then HIP_VISIBLE_DEVICES to `count` devices: ordinals in order of the list; as stock
/// does, the list ends at the first entry that is not a valid ordinal ("GPU-<uuid>" entries are matched against
/// `uuids`).
std::vector<uint32_t> visible_devices(uint32_t count, std::span<const std::string> uuids,
                                      const Environment& environment);

}  // namespace barehip::runtime
