#include "tools/barehip-info/devices.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/core/device.h"
#include "runtime/core/environment.h"

namespace barehip::info {

namespace {

using runtime::DeviceProperties;
using Json = nlohmann::ordered_json;

/// The 16 bytes are the digits of the GPU's unique id as text; this is the form that *_VISIBLE_DEVICES takes.
std::string uuid_text(const uint8_t (&bytes)[16]) { return "GPU-" + std::string(std::begin(bytes), std::end(bytes)); }

Json as_json(int ordinal, const DeviceProperties& p) {
  return Json{{"ordinal", ordinal},
              {"name", p.name},
              {"target", p.arch_name},
              {"uuid", uuid_text(p.uuid)},
              {"pci", fmt::format("{:04x}:{:02x}:{:02x}.0", p.pci_domain, p.pci_bus, p.pci_device)},
              {"memory_bytes", p.total_global_bytes},
              {"compute_units", p.cu_count},
              {"wave_size", p.warp_size},
              {"max_threads_per_block", p.max_threads_per_block},
              {"max_threads_per_cu", p.max_threads_per_cu},
              {"lds_bytes_per_block", p.lds_bytes_per_block},
              {"registers_per_block", p.registers_per_block},
              {"l2_bytes", p.l2_bytes},
              {"clock_khz", p.clock_khz},
              {"memory_clock_khz", p.memory_clock_khz},
              {"memory_bus_bits", p.memory_bus_bits},
              {"timestamp_khz", p.wall_clock_khz},
              {"async_engines", p.async_engine_count},
              {"integrated", p.integrated},
              {"ecc", p.ecc_enabled},
              {"large_bar", p.large_bar}};
}

void print_text(int ordinal, const DeviceProperties& p) {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  fmt::print("device {}: {}\n", ordinal, p.name);
  fmt::print("  target             {}\n", p.arch_name);
  fmt::print("  PCI address        {:04x}:{:02x}:{:02x}.0\n", p.pci_domain, p.pci_bus, p.pci_device);
  fmt::print("  UUID               {}\n", uuid_text(p.uuid));
  fmt::print("  memory             {} MiB, {} bits wide, {} MHz\n", p.total_global_bytes >> 20, p.memory_bus_bits,
             p.memory_clock_khz / 1000);
  fmt::print("  compute units      {}, up to {} MHz\n", p.cu_count, p.clock_khz / 1000);
  fmt::print("  wave               {} lanes; block of up to {} threads; up to {} threads a compute unit\n", p.warp_size,
             p.max_threads_per_block, p.max_threads_per_cu);
  fmt::print("  LDS                {} KiB a block\n", p.lds_bytes_per_block >> 10);
  fmt::print("  registers          {} a block\n", p.registers_per_block);
  fmt::print("  L2 cache           {} KiB\n", p.l2_bytes >> 10);
  fmt::print("  timestamps         {} kHz\n", p.wall_clock_khz);
  fmt::print("  SDMA engines       {}\n", p.async_engine_count);
  fmt::print("  integrated {}, ECC {}, large BAR {}\n", yes(p.integrated), yes(p.ecc_enabled), yes(p.large_bar));
}

int print_none(const Error& error, bool json) {
  if (json)
    fmt::print("{}\n", Json{{"devices", Json::array()}, {"reason", error.text}}.dump(2));
  else
    fmt::print("no usable GPU: {}\n", error.text);
  return 1;
}

}  // namespace

int print_devices(bool json) {
  setenv("AMD_LOG_LEVEL", "0", 0);  // print_none() says what the library would
  const Result<int> count = runtime::device_count();
  if (!count) return print_none(count.error(), json);
  Json devices = Json::array();
  for (int ordinal = 0; ordinal < *count; ++ordinal) {
    const Result<const DeviceProperties*> properties = runtime::device_properties(ordinal);
    if (!properties) return print_none(properties.error(), json);
    if (json)
      devices.push_back(as_json(ordinal, **properties));
    else
      print_text(ordinal, **properties);
  }
  if (json) fmt::print("{}\n", Json{{"devices", devices}}.dump(2));
  return 0;
}

int print_environment(bool json) {
  Json variables = Json::array();
  for (const runtime::EnvironmentVariable& variable : runtime::environment_table()) {
    if (json)
      variables.push_back({{"name", variable.name},
                           {"type", variable.type},
                           {"default", variable.default_value},
                           {"meaning", variable.meaning}});
    else
      fmt::print("{:<24} {:<8} default {:<8} {}\n", variable.name, variable.type,
                 *variable.default_value ? variable.default_value : "-", variable.meaning);
  }
  if (json) fmt::print("{}\n", variables.dump(2));
  return 0;
}

}  // namespace barehip::info
