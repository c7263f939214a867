#include "tools/vgpu/devices/card.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace vgpu {

using nlohmann::json;

namespace {

void fill_numbers(const json& from, std::map<std::string, uint64_t>& to) {
  for (const auto& [key, value] : from.items()) {
    if (value.is_number_unsigned()) to[key] = value.get<uint64_t>();
  }
}

CardLink link_from(const json& from, CardLink link) {
  link.type = from.value("type", link.type);
  link.weight = from.value("weight", link.weight);
  link.min_bandwidth = from.at("min_bandwidth");
  link.max_bandwidth = from.at("max_bandwidth");
  link.sdma_mask = from.at("recommended_sdma_engine_id_mask");
  return link;
}

Card from_json(const json& file) {
  Card card;
  card.id = file.at("id");
  card.marketing_name = file.at("marketing_name");
  card.gfx = file.at("gfx");
  card.node_name = file.at("node_name");
  fill_numbers(file.at("node"), card.node);
  card.node.at("capability");
  fill_numbers(file.at("dev_info"), card.dev_info);
  card.cu_bitmap = file.at("dev_info").at("cu_bitmap");
  const json& bank = file.at("memory_bank");
  card.heap_type = bank.at("heap_type");
  card.vram_bytes = bank.at("size_in_bytes");
  card.bus_width = bank.at("width");
  card.mem_clk_max = bank.at("mem_clk_max");
  for (const json& cache : file.at("caches")) {
    card.caches.push_back({cache.at("level"), cache.at("type"), cache.at("size_kb"), cache.at("cache_line_size"),
                           cache.at("count"), cache.at("cus_per_instance")});
  }
  card.apu = file.value("apu", false);
  card.cpu_link = link_from(file.at("cpu_link"), {});
  if (file.contains("peer_link")) card.peer_link = link_from(file.at("peer_link"), {.type = 11, .weight = 15});
  for (const auto& [block, version] : file.at("ip_versions").items()) {
    if (version.is_string()) card.ip_versions[block] = version;
  }
  card.derived = file.at("provenance").at("derived").get<std::vector<std::string>>();
  card.guessed = file.at("provenance").at("guessed").get<std::vector<std::string>>();
  return card;
}

uint64_t lookup(const std::map<std::string, uint64_t>& from, std::string_view name) {
  const auto found = from.find(std::string(name));
  return found == from.end() ? 0 : found->second;
}

}  // namespace

uint64_t Card::prop(std::string_view name) const { return lookup(node, name); }
uint64_t Card::info(std::string_view name) const { return lookup(dev_info, name); }

std::expected<Card, std::string> parse_card(std::string_view text) {
  try {
    return from_json(json::parse(text));
  } catch (const std::exception& error) {
    return std::unexpected(std::string("device file: ") + error.what());
  }
}

std::vector<Card> all_cards() {
  std::vector<Card> cards;
  for (const EmbeddedCard* at = kEmbeddedCards; at->id != nullptr; ++at) {
    if (auto card = parse_card(at->json)) cards.push_back(*std::move(card));
  }
  return cards;
}

std::expected<Card, std::string> load_card(std::string_view name) {
  std::string known;
  for (const EmbeddedCard* at = kEmbeddedCards; at->id != nullptr; ++at) {
    auto card = parse_card(at->json);
    if (!card) return std::unexpected(card.error());
    if (card->id == name || card->gfx == name) return card;
    known += (known.empty() ? "" : ", ") + card->gfx + " (" + card->id + ")";
  }
  return std::unexpected("no simulated card is called '" + std::string(name) + "'; there are " + known);
}

uint32_t debug_memory_bytes(const Card& card) {
  const uint64_t xccs = std::max<uint64_t>(1, card.prop("num_xcc"));
  const uint64_t cus = card.cu_count() / xccs;
  const uint64_t engines = card.prop("array_count") / card.prop("simd_arrays_per_engine");
  const bool gfx9 = card.prop("gfx_target_version") < 100100;
  const uint64_t waves = gfx9 ? std::min<uint64_t>(cus * 40, engines * 512) : cus * 32;
  return static_cast<uint32_t>((waves * 32 + 63) / 64 * 64);
}

}  // namespace vgpu
