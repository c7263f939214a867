#include "tools/vgpu/kernel/topology.h"

#include <sstream>

#include "tests/catch.h"
#include "tests/unit/vkernel/client.h"

namespace {

std::map<std::string, uint64_t> parse(const std::string& text) {
  std::map<std::string, uint64_t> values;
  std::istringstream lines(text);
  std::string key;
  uint64_t value = 0;
  while (lines >> key >> value) values[key] = value;
  return values;
}

}  // namespace

TEST_CASE("every card's node says what the card says, in lines that sscanf takes") {
  for (const vgpu::Card& card : vgpu::all_cards()) {
    INFO(card.id);
    Client client(card.id);
    const auto& tree = client.kernel->machine().topology;
    CHECK(tree.list("nodes") == std::vector<std::string>{"0", "1"});
    CHECK(*tree.file("nodes/0/gpu_id") == "0\n");
    CHECK(*tree.file("nodes/1/gpu_id") == std::to_string(client.gpu_id()) + "\n");
    const auto node = parse(*tree.file("nodes/1/properties"));
    for (const auto& [key, value] : card.node) {
      INFO(key);
      CHECK(node.at(key) == value);
    }
    CHECK(node.at("drm_render_minor") == 128);
    CHECK(node.at("mem_banks_count") == tree.list("nodes/1/mem_banks").size());
    CHECK(node.at("caches_count") == tree.list("nodes/1/caches").size());
    CHECK(node.at("io_links_count") == tree.list("nodes/1/io_links").size());
    CHECK((node.at("capability") >> 27 & 1) == 0);
    CHECK((node.at("capability") >> 12 & 3) == 2);
    for (const auto& [path, text] : tree.files()) {
      if (path.find("properties") == path.npos) continue;
      INFO(path);
      CHECK(text.size() < 4096);
      CHECK(text.find("\n\n") == text.npos);
    }
  }
}

TEST_CASE("save area sizes follow the driver's formulas") {
  struct Row {
    const char* card;
    uint64_t ctl_stack, cwsr, debug;
  };
  // The vectors of the kernel's own formulas for these chips.
  for (const Row& row : {Row{"mi210", 36864, 63508480, 131072}, Row{"rx7900xtx", 40960, 46047232, 98304}}) {
    const auto card = vgpu::load_card(row.card);
    REQUIRE(card.has_value());
    CHECK(card->prop("ctl_stack_size") == row.ctl_stack);
    CHECK(card->prop("cwsr_size") == row.cwsr);
    CHECK(vgpu::debug_memory_bytes(*card) == row.debug);
  }
}

TEST_CASE("two cards: distinct ids, nodes and render minors, and a way to each from the CPU") {
  Client client("gfx90a,gfx1100,mi210");
  const auto& gpus = client.kernel->machine().gpus;
  REQUIRE(gpus.size() == 3);
  CHECK(gpus[0].gpu_id != gpus[1].gpu_id);
  CHECK(gpus[0].gpu_id != gpus[2].gpu_id);
  CHECK(gpus[2].render_minor == 130);
  const auto& tree = client.kernel->machine().topology;
  CHECK(tree.list("nodes").size() == 4);
  CHECK(tree.list("nodes/0/io_links").size() == 3);
  CHECK(parse(*tree.file("nodes/0/io_links/2/properties")).at("node_to") == 3);
}

TEST_CASE("hostile machines show in the topology") {
  Client small("gfx90a+hostile=1:small_bar");
  CHECK(parse(*small.kernel->machine().topology.file("nodes/1/mem_banks/0/properties")).at("heap_type") == 2);
  CHECK(small.kernel->machine().topology.list("nodes/0/io_links").empty());
  Client atomics("gfx90a+hostile=1:no_pcie_atomics");
  CHECK(parse(*atomics.kernel->machine().topology.file("nodes/1/io_links/0/properties")).at("flags") == (1 | 4 | 8));
}

TEST_CASE("options: what is wrong is said") {
  for (const char* spec :
       {"", "gfx123", "gfx90a+", "gfx90a+vram", "gfx90a+vram=0", "gfx90a+vram=12x",
        "gfx90a+hostile=", "gfx90a+hostile=1:nothing", "gfx90a+kfd=2.1", "gfx90a,", "gfx90a+doorbell=no"}) {
    INFO(spec);
    const auto options = vgpu::parse_options(spec);
    REQUIRE_FALSE(options.has_value());
    CHECK_FALSE(options.error().empty());
  }
  const auto options = vgpu::parse_options("vgpu:gfx90a+vram=4G+hostile=7:eintr/small_bar,rx7900xtx+kfd=1.17");
  REQUIRE(options.has_value());
  CHECK(options->kfd_minor == 17);
  CHECK(options->cards[0].vram_bytes == 4ull << 30);
  CHECK(options->cards[0].seed == 7);
  CHECK(options->cards[0].hostile.eintr);
  CHECK_FALSE(options->cards[0].hostile.skewed_clocks);
  CHECK(options->cards[1].vram_bytes == options->cards[1].card.vram_bytes);
}

TEST_CASE("a broken device file names what is wrong") {
  CHECK_FALSE(vgpu::parse_card("{").has_value());
  const auto card = vgpu::parse_card(R"({"id": "x"})");
  REQUIRE_FALSE(card.has_value());
  CHECK(card.error().find("marketing_name") != std::string::npos);
}
