// One real card, as its device file (tools/vgpu/devices/*.json) tells it.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vgpu {

struct EmbeddedCard {
  const char* id;
  const char* json;
};
extern const EmbeddedCard kEmbeddedCards[];  ///< ends with a null id

struct CardCache {
  uint32_t level = 0, type = 0, size_kb = 0, line_size = 0, count = 0, cus_per_instance = 0;
};

/// How a GPU is connected: to its CPU, or to another GPU of the same kind.
struct CardLink {
  uint32_t type = 2;  ///< 2 PCIe, 11 xGMI
  uint32_t weight = 20;
  uint64_t min_bandwidth = 0, max_bandwidth = 0;  ///< MB/s
  uint64_t sdma_mask = 0;                         ///< recommended_sdma_engine_id_mask
};

struct Card {
  std::string id, marketing_name, gfx, node_name;
  std::map<std::string, uint64_t> node;      ///< KFD topology properties of the GPU node
  std::map<std::string, uint64_t> dev_info;  ///< members of drm_amdgpu_info_device
  std::array<std::array<uint32_t, 4>, 4> cu_bitmap{};
  uint32_t heap_type = 1, bus_width = 0, mem_clk_max = 0;
  uint64_t vram_bytes = 0;
  std::vector<CardCache> caches;
  bool apu = false;
  CardLink cpu_link;
  std::optional<CardLink> peer_link;               ///< xGMI to GPUs of the same kind; none: peers meet over PCIe
  std::map<std::string, std::string> ip_versions;  ///< of the discovery table: "GC" -> "9.4.2"
  std::vector<std::string> derived, guessed;       ///< names of the values that no real card reported

  uint64_t prop(std::string_view name) const;  ///< a node property; 0 when the file has none
  uint64_t info(std::string_view name) const;  ///< a dev_info member; 0 when the file has none
  uint32_t cu_count() const { return static_cast<uint32_t>(prop("simd_count") / prop("simd_per_cu")); }
};

/// Finds a card by its id ("mi210") or by a target ("gfx90a": the first card with it). The error lists what there is.
std::expected<Card, std::string> load_card(std::string_view name);
/// Parses one device file. The error names what is wrong.
std::expected<Card, std::string> parse_card(std::string_view json);
std::vector<Card> all_cards();

/// Bytes of the debugger's part of a queue's save area for one XCC (facts: waves * 32, rounded up to 64).
uint32_t debug_memory_bytes(const Card& card);

}  // namespace vgpu
