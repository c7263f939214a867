#include "runtime/core/environment.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace barehip::runtime {
namespace {

constexpr std::array kTable = {
    EnvironmentVariable{"BAREHIP_DEVICES", "list", "",
                        "Where GPUs come from: empty for the kernel's, vgpu:gfx90a,vgpu:gfx1100 for simulated ones."},
    EnvironmentVariable{"ROCR_VISIBLE_DEVICES", "list", "",
                        "Ordinals or GPU-<uuid> of the GPUs to show, applied first."},
    EnvironmentVariable{"HIP_VISIBLE_DEVICES", "list", "",
                        "Ordinals or GPU-<uuid> among what ROCR_VISIBLE_DEVICES left, in the order to show them."},
    EnvironmentVariable{"CUDA_VISIBLE_DEVICES", "list", "", "Read when HIP_VISIBLE_DEVICES is not set."},
    EnvironmentVariable{
        "GPU_MAX_HW_QUEUES", "integer", "4",
        "How many hardware queues the streams of one priority share, 1 to 32; streams that wait get as many again."},
    EnvironmentVariable{"HIP_LAUNCH_BLOCKING", "flag", "0", "1: every launch waits for its kernel."},
    EnvironmentVariable{
        "AMD_LOG_LEVEL", "integer", "",
        "Log to stderr: 1 errors, 2 warnings, 3 calls, 4 details. Unset: only why a GPU that is there cannot be used."},
};

uint32_t read_integer(const char* name, uint32_t fallback, uint32_t low, uint32_t high) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return fallback;
  const std::string_view view(text);
  uint32_t value = 0;
  const auto [end, code] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (code != std::errc{} || end != view.data() + view.size()) return fallback;
  return value < low ? low : value > high ? high : value;
}

bool read_text(const char* name, std::string& out) {
  const char* text = std::getenv(name);
  if (text == nullptr) return false;
  out = text;
  return true;
}

Environment read_environment() {
  Environment e;
  read_text("BAREHIP_DEVICES", e.devices);
  e.max_hw_queues = read_integer("GPU_MAX_HW_QUEUES", 4, 1, 32);
  e.launch_blocking = read_integer("HIP_LAUNCH_BLOCKING", 0, 0, 1) != 0;
  if (const char* level = std::getenv("AMD_LOG_LEVEL")) e.silent = std::string_view(level) == "0";
  e.log_level = static_cast<int>(read_integer("AMD_LOG_LEVEL", 0, 0, 4));
  e.has_visible = read_text("HIP_VISIBLE_DEVICES", e.visible) || read_text("CUDA_VISIBLE_DEVICES", e.visible);
  e.has_rocr_visible = read_text("ROCR_VISIBLE_DEVICES", e.rocr_visible);
  return e;
}

/// Index in `from` of the device that one list entry names, or -1.
int find_entry(std::string_view entry, std::span<const uint32_t> from, std::span<const std::string> uuids) {
  while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
  while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
  for (size_t i = 0; i < from.size(); ++i)
    if (entry.starts_with("GPU-") && from[i] < uuids.size() && uuids[from[i]] == entry) return static_cast<int>(i);
  uint32_t ordinal = 0;
  const auto [end, code] = std::from_chars(entry.data(), entry.data() + entry.size(), ordinal);
  if (entry.empty() || code != std::errc{} || end != entry.data() + entry.size() || ordinal >= from.size()) return -1;
  return static_cast<int>(ordinal);
}

std::vector<uint32_t> apply_list(std::string_view list, std::span<const uint32_t> from,
                                 std::span<const std::string> uuids) {
  std::vector<uint32_t> out;
  while (true) {
    const size_t comma = list.find(',');
    const int found = find_entry(list.substr(0, comma), from, uuids);
    if (found < 0) return out;
    const uint32_t device = from[static_cast<size_t>(found)];
    for (uint32_t seen : out)
      if (seen == device) return out;
    out.push_back(device);
    if (comma == std::string_view::npos) return out;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::span<const EnvironmentVariable> environment_table() { return kTable; }

const Environment& environment() {
  static const Environment* const kEnvironment = new Environment(read_environment());
  return *kEnvironment;
}

std::vector<uint32_t> visible_devices(uint32_t count, std::span<const std::string> uuids,
                                      const Environment& environment) {
  std::vector<uint32_t> devices;
  for (uint32_t i = 0; i < count; ++i) devices.push_back(i);
  if (environment.has_rocr_visible) devices = apply_list(environment.rocr_visible, devices, uuids);
  if (environment.has_visible) devices = apply_list(environment.visible, devices, uuids);
  return devices;
}

}  // namespace barehip::runtime
