#include "tools/vgpu/kernel/options.h"

#include <charconv>

namespace vgpu {

namespace {

using Failure = std::unexpected<std::string>;

struct HostileSwitch {
  const char* name;
  bool Hostile::* member;
};

constexpr HostileSwitch kHostileSwitches[] = {
    {"early_read_index", &Hostile::early_read_index},
    {"out_of_order", &Hostile::out_of_order},
    {"drop_doorbells", &Hostile::drop_doorbells},
    {"stale_caches", &Hostile::stale_caches},
    {"noisy_state", &Hostile::noisy_state},
    {"skewed_clocks", &Hostile::skewed_clocks},
    {"event_mischief", &Hostile::event_mischief},
    {"eintr", &Hostile::eintr},
    {"small_bar", &Hostile::small_bar},
    {"no_mmio_remap", &Hostile::no_mmio_remap},
    {"no_pcie_atomics", &Hostile::no_pcie_atomics},
    {"evict_user_pages", &Hostile::evict_user_pages},
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

bool parse_number(std::string_view text, uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_size(std::string_view text, uint64_t& out) {
  unsigned shift = 0;
  if (!text.empty()) {
    switch (text.back() | 0x20) {
      case 'k': shift = 10; break;
      case 'm': shift = 20; break;
      case 'g': shift = 30; break;
    }
  }
  if (shift != 0) text.remove_suffix(1);
  if (!parse_number(text, out) || out == 0 || out > (~uint64_t{0} >> 8) >> shift) return false;
  out <<= shift;
  return true;
}

std::expected<void, std::string> parse_hostile(std::string_view value, CardOptions& card) {
  const auto parts = split(value, ':');
  if (parts.size() > 2 || !parse_number(parts[0], card.seed)) {
    return Failure("hostile=" + std::string(value) + ": wants a seed, or a seed, a colon and names");
  }
  if (parts.size() == 1) {
    for (const auto& each : kHostileSwitches) card.hostile.*each.member = true;
    return {};
  }
  for (const std::string_view name : split(parts[1], '/')) {
    bool found = false;
    for (const auto& each : kHostileSwitches) {
      if (name != each.name) continue;
      card.hostile.*each.member = true;
      found = true;
    }
    if (!found) return Failure("hostile: there is no switch '" + std::string(name) + "'");
  }
  return {};
}

std::expected<void, std::string> parse_switch(std::string_view text, Options& options, CardOptions& card) {
  const size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const std::string_view value = equals == text.npos ? std::string_view{} : text.substr(equals + 1);
  if (key == "vram") {
    if (parse_size(value, card.vram_bytes) && card.vram_bytes >= 1 << 21) return {};
    return Failure("vram=" + std::string(value) + ": wants a size of at least 2M, such as 512M or 4G");
  }
  if (key == "hostile") return parse_hostile(value, card);
  if (key == "seed" && parse_number(value, card.seed)) return {};
  if (key == "log" && !value.empty()) {
    options.log_path = value;
    return {};
  }
  if (key == "trace" && !value.empty()) {
    options.trace_path = value;
    return {};
  }
  if (key == "kfd") {
    uint64_t minor = 0;
    if (value.starts_with("1.") && parse_number(value.substr(2), minor) && minor <= 99) {
      options.kfd_minor = static_cast<uint32_t>(minor);
      return {};
    }
    return Failure("kfd=" + std::string(value) + ": wants a version 1.MINOR");
  }
  if (key == "doorbell") {
    if (value == "auto") return options.doorbell_trap = DoorbellTrap::kAuto, std::expected<void, std::string>{};
    if (value == "uffd") return options.doorbell_trap = DoorbellTrap::kUffd, std::expected<void, std::string>{};
    if (value == "signal") return options.doorbell_trap = DoorbellTrap::kSignal, std::expected<void, std::string>{};
    if (value == "poll") return options.doorbell_trap = DoorbellTrap::kPoll, std::expected<void, std::string>{};
  }
  return Failure("'" + std::string(text) + "' is not a switch of a simulated GPU");
}

}  // namespace

std::vector<std::string> hostile_names() {
  std::vector<std::string> names;
  for (const auto& each : kHostileSwitches) names.emplace_back(each.name);
  return names;
}

std::expected<Options, std::string> parse_options(std::string_view spec) {
  Options options;
  for (const std::string_view card_spec : split(spec, ',')) {
    auto parts = split(card_spec, '+');
    if (parts[0].starts_with("vgpu:")) parts[0].remove_prefix(5);
    auto card = load_card(parts[0]);
    if (!card) return Failure(card.error());
    CardOptions chosen{.card = *std::move(card)};
    chosen.vram_bytes = chosen.card.vram_bytes;
    for (size_t i = 1; i < parts.size(); ++i) {
      if (auto parsed = parse_switch(parts[i], options, chosen); !parsed) return Failure(parsed.error());
    }
    options.cards.push_back(std::move(chosen));
  }
  return options;
}

}  // namespace vgpu
