#include "tools/vgpu/kernel/options.h"

#include <algorithm>
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

std::string parse_hostile(std::string_view value, CardOptions& card) {
  const auto parts = split(value, ':');
  if (parts.size() > 2 || !parse_number(parts[0], card.seed)) return "wants a seed, or a seed, a colon and names";
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
    if (!found) return "there is no switch '" + std::string(name) + "'";
  }
  return {};
}

// One switch: takes its value, returns what is wrong with it ("" when nothing is).
struct Switch {
  std::string_view key;
  std::string (*apply)(std::string_view value, Options& options, CardOptions& card);
};

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

template <class Value, size_t N>
std::string choose(std::string_view text, const Named<Value> (&names)[N], Value& out) {
  std::string known;
  for (const auto& each : names) {
    if (each.name == text) return out = each.value, std::string{};
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  return "wants one of " + known;
}

std::string take_path(std::string_view value, std::string& out) {
  if (value.empty()) return "wants a file";
  out = value;
  return {};
}

constexpr Named<DoorbellTrap> kDoorbellTraps[] = {{"auto", DoorbellTrap::kAuto},
                                                  {"uffd", DoorbellTrap::kUffd},
                                                  {"signal", DoorbellTrap::kSignal},
                                                  {"poll", DoorbellTrap::kPoll}};
constexpr Named<bool> kOnOff[] = {{"on", true}, {"off", false}};
constexpr Named<NodeAccess> kKfdAccess[] = {
    {"open", NodeAccess::kOpen}, {"absent", NodeAccess::kAbsent}, {"denied", NodeAccess::kDenied}};
constexpr Named<NodeAccess> kRenderAccess[] = {{"open", NodeAccess::kOpen},
                                               {"absent", NodeAccess::kAbsent},
                                               {"denied", NodeAccess::kDenied},
                                               {"cgroup", NodeAccess::kCgroup}};

constexpr uint64_t kNewestMinor = 17;  // Linux 6.12

constexpr Switch kSwitches[] = {
    {"vram",
     [](std::string_view value, Options&, CardOptions& card) -> std::string {
       if (parse_size(value, card.vram_bytes) && card.vram_bytes >= 1 << 21) return {};
       return "wants a size of at least 2M, such as 512M or 4G";
     }},
    {"hostile", [](std::string_view value, Options&, CardOptions& card) { return parse_hostile(value, card); }},
    {"seed",
     [](std::string_view value, Options&, CardOptions& card) -> std::string {
       return parse_number(value, card.seed) ? "" : "wants a number";
     }},
    {"reset",
     [](std::string_view value, Options&, CardOptions& card) -> std::string {
       return parse_number(value, card.reset_at_packet) && card.reset_at_packet > 0 ? "" : "wants a number from 1 on";
     }},
    {"render",
     [](std::string_view value, Options&, CardOptions& card) { return choose(value, kRenderAccess, card.render); }},
    {"kfd_node", [](std::string_view value, Options& options,
                    CardOptions&) { return choose(value, kKfdAccess, options.kfd_node); }},
    {"log", [](std::string_view value, Options& options, CardOptions&) { return take_path(value, options.log_path); }},
    {"trace",
     [](std::string_view value, Options& options, CardOptions&) { return take_path(value, options.trace_path); }},
    {"record",
     [](std::string_view value, Options& options, CardOptions&) { return take_path(value, options.trace_path); }},
    {"kfd",
     [](std::string_view value, Options& options, CardOptions&) -> std::string {
       uint64_t minor = 0;
       if (!value.starts_with("1.") || !parse_number(value.substr(2), minor) || minor < 1 || minor > kNewestMinor)
         return "wants a version from 1.1 to 1.17";
       options.kfd_minor = static_cast<uint32_t>(minor);
       return {};
     }},
    {"cpus",
     [](std::string_view value, Options& options, CardOptions&) -> std::string {
       uint64_t nodes = 0;
       if (!parse_number(value, nodes) || nodes < 1 || nodes > 8) return "wants 1 to 8 CPU nodes";
       options.cpu_nodes = static_cast<uint32_t>(nodes);
       return {};
     }},
    {"svm", [](std::string_view value, Options& options, CardOptions&) { return choose(value, kOnOff, options.svm); }},
    {"doorbell", [](std::string_view value, Options& options,
                    CardOptions&) { return choose(value, kDoorbellTraps, options.doorbell_trap); }},
};

std::expected<void, std::string> parse_switch(std::string_view text, Options& options, CardOptions& card) {
  const size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  const auto found = std::ranges::find(kSwitches, key, &Switch::key);
  if (found == std::end(kSwitches)) {
    return Failure("'" + std::string(text) + "' is not a switch of a simulated GPU");
  }
  const std::string wrong = found->apply(equals == text.npos ? "" : text.substr(equals + 1), options, card);
  if (!wrong.empty()) return Failure(std::string(text) + ": " + wrong);
  return {};
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
    CardOptions chosen;
    const bool nothing = parts[0] == "none";
    if (!nothing) {
      auto card = load_card(parts[0]);
      if (!card) return Failure(card.error());
      chosen.card = *std::move(card);
      chosen.vram_bytes = chosen.card.vram_bytes;
    }
    for (size_t i = 1; i < parts.size(); ++i) {
      if (auto parsed = parse_switch(parts[i], options, chosen); !parsed) return Failure(parsed.error());
    }
    if (!nothing) options.cards.push_back(std::move(chosen));
  }
  return options;
}

}  // namespace vgpu
