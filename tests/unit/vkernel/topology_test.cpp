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

TEST_CASE("all the cards are there, a target names the first that has it") {
  CHECK(vgpu::all_cards().size() == 18);
  for (const char* gfx : {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1100", "gfx1101", "gfx1102", "gfx1103",
                          "gfx1150", "gfx1151"}) {
    INFO(gfx);
    const auto card = vgpu::load_card(gfx);
    REQUIRE(card.has_value());
    CHECK(card->gfx == gfx);
  }
  CHECK(vgpu::load_card("gfx90a")->id == "mi210");
  CHECK(vgpu::load_card("gfx1100")->id == "rx7900xtx");
}

TEST_CASE("every card's node says what the card says, in lines that sscanf takes") {
  for (const vgpu::Card& card : vgpu::all_cards()) {
    INFO(card.id);
    Client client(card.id + "+svm=on+kfd=1.17");
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
  for (const Row& row : {Row{"mi50", 20480, 20910080, 65536}, Row{"mi100", 36864, 73273344, 131072},
                         Row{"mi210", 36864, 63508480, 131072}, Row{"mi300x", 12288, 23203840, 48640},
                         Row{"rx7900xtx", 40960, 46047232, 98304}, Row{"rx7600", 16384, 11157504, 32768},
                         Row{"radeon-780m", 8192, 4186112, 12288}, Row{"radeon-8060s", 16384, 19185664, 40960}}) {
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

namespace {

struct Link {
  uint64_t to, type, weight, flags;
  bool operator==(const Link&) const = default;
};

std::vector<Link> links(const vgpu::FileTree& tree, const std::string& folder) {
  std::vector<Link> found;
  for (size_t i = 0; i < tree.list(folder).size(); ++i) {
    const auto text = parse(*tree.file(folder + "/" + std::to_string(i) + "/properties"));
    CHECK(folder.find("nodes/" + std::to_string(text.at("node_from")) + "/") == 0);
    found.push_back({text.at("node_to"), text.at("type"), text.at("weight"), text.at("flags")});
  }
  return found;
}

}  // namespace

TEST_CASE("links: xGMI within a hive, PCIe peers by way of the CPU, far CPUs by way of the near one") {
  // As a machine of two sockets with MI210 reports: from GPU to CPU flags 1, back 3; xGMI weight 15 with bandwidth
  // 50000; the other socket's CPU at 20 + 32 without a bandwidth.
  Client hive("mi210+cpus=2,mi210,rx7900xtx");
  const auto& tree = hive.kernel->machine().topology;
  REQUIRE(tree.list("nodes").size() == 5);
  CHECK(links(tree, "nodes/0/io_links") == std::vector<Link>{{1, 1, 32, 1}, {2, 2, 20, 3}, {4, 2, 20, 3}});
  CHECK(links(tree, "nodes/2/io_links") == std::vector<Link>{{0, 2, 20, 1}, {3, 11, 15, 1}});
  CHECK(links(tree, "nodes/3/io_links") == std::vector<Link>{{1, 2, 20, 1}, {2, 11, 15, 1}});
  CHECK(links(tree, "nodes/2/p2p_links") == std::vector<Link>{{1, 2, 52, 1}, {4, 2, 40, 3}});
  CHECK(links(tree, "nodes/3/p2p_links") == std::vector<Link>{{0, 2, 52, 1}, {4, 2, 72, 3}});
  CHECK(links(tree, "nodes/4/p2p_links") == std::vector<Link>{{1, 2, 52, 1}, {2, 2, 40, 3}, {3, 2, 72, 3}});
  CHECK(links(tree, "nodes/1/p2p_links") == std::vector<Link>{{2, 2, 52, 3}, {4, 2, 52, 3}});
  const auto first = parse(*tree.file("nodes/2/properties")), second = parse(*tree.file("nodes/3/properties"));
  const auto alone = parse(*tree.file("nodes/4/properties"));
  CHECK(first.at("hive_id") == second.at("hive_id"));
  CHECK(first.at("hive_id") != 0);
  CHECK(alone.at("hive_id") == 0);
  CHECK(parse(*tree.file("nodes/2/io_links/1/properties")).at("max_bandwidth") == 50000);
  CHECK(parse(*tree.file("nodes/2/p2p_links/1/properties")).at("max_bandwidth") == 32000);
  CHECK(first.at("io_links_count") == 2);
  CHECK(first.at("p2p_links_count") == 2);

  // A GPU whose memory nobody sees is reached by no peer, and reaches the others.
  Client small("mi210+hostile=1:small_bar,rx7900xtx");
  CHECK(links(small.kernel->machine().topology, "nodes/1/p2p_links") == std::vector<Link>{{2, 2, 40, 3}});
  CHECK(links(small.kernel->machine().topology, "nodes/2/p2p_links").empty());
}

TEST_CASE("lines that older drivers do not print are absent") {
  struct Row {
    const char* version;
    bool p2p, debug, cwsr;
  };
  for (const Row& row : {Row{"1.8", false, false, false}, Row{"1.11", true, false, false},
                         Row{"1.14", true, true, false}, Row{"1.17", true, true, true}}) {
    INFO(row.version);
    Client client(std::string("mi300x+kfd=") + row.version);
    const auto& tree = client.kernel->machine().topology;
    const auto node = parse(*tree.file("nodes/1/properties"));
    CHECK(node.contains("p2p_links_count") == row.p2p);
    CHECK(tree.is_folder("nodes/1/p2p_links") == row.p2p);
    CHECK(node.contains("num_xcc") == row.debug);
    CHECK(node.contains("debug_prop") == row.debug);
    CHECK(node.contains("cwsr_size") == row.cwsr);
    CHECK(parse(*tree.file("nodes/1/io_links/0/properties")).contains("recommended_sdma_engine_id_mask") == row.cwsr);
    CHECK((node.at("capability") >> 27 & 1) == 0);
  }
}

TEST_CASE("a machine without a GPU shows what the real driver shows") {
  // The keys and zeros of Linux 6.12 on a machine without a GPU, in its order.
  Client client("none+kfd=1.17");
  const auto& tree = client.kernel->machine().topology;
  CHECK(tree.list("nodes") == std::vector<std::string>{"0"});
  CHECK(*tree.file("generation_id") == "1\n");
  std::istringstream lines(*tree.file("nodes/0/properties"));
  std::string keys;
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(0, line.find(' '));
    keys += key + " ";
    if (key == "cpu_cores_count" || key == "mem_banks_count" || key == "max_engine_clk_ccompute") continue;
    CHECK(line == key + " 0");
  }
  CHECK(keys ==
        "cpu_cores_count simd_count mem_banks_count caches_count io_links_count p2p_links_count cpu_core_id_base "
        "simd_id_base max_waves_per_simd lds_size_in_kb gds_size_in_kb num_gws wave_front_size array_count "
        "simd_arrays_per_engine cu_per_simd_array simd_per_cu max_slots_scratch_cu gfx_target_version vendor_id "
        "device_id location_id domain drm_render_minor hive_id num_sdma_engines num_sdma_xgmi_engines "
        "num_sdma_queues_per_engine num_cp_queues cwsr_size ctl_stack_size max_engine_clk_ccompute ");
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
        "gfx90a+hostile=", "gfx90a+hostile=1:nothing", "gfx90a+cpus=9", "gfx90a+svm=maybe", "gfx90a+render=locked",
        "gfx90a+kfd_node=cgroup", "gfx90a+kfd=2.1", "gfx90a+kfd=1.18", "gfx90a,", "gfx90a+doorbell=no"}) {
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
