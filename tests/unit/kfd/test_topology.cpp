// Reading the KFD topology: strict, and every complaint names file and line.
#include <sys/stat.h>
#include <unistd.h>

#include <amdgpu_drm.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kfd/gpu_properties.h"
#include "kfd/key_value_file.h"
#include "kfd/os_linux.h"
#include "kfd/topology.h"
#include "tests/catch.h"
#include "tests/unit/kfd/fake_os.h"

using namespace barehip;
using namespace barehip::kfd;
using barehip::kfd::test::FakeOs;

namespace {

std::string parse_error(const std::string& text) {
  const Result<KeyValueFile> file = KeyValueFile::parse("f", text);
  return file ? "" : file.error().text;
}

GpuProperties properties_of(FakeOs& os) {
  const Result<Topology> topology = read_topology(os.table());
  REQUIRE(topology);
  const Result<GpuProperties> p = properties_from_node(topology->nodes.at(1), *topology);
  REQUIRE(p);
  return *p;
}

std::string properties_error(FakeOs& os) {
  const Result<Topology> topology = read_topology(os.table());
  if (!topology) return topology.error().text;
  const Result<GpuProperties> p = properties_from_node(topology->nodes.at(1), *topology);
  return p ? "" : p.error().text;
}

}  // namespace

TEST_CASE("a key-value file is read line by line") {
  const Result<KeyValueFile> file = KeyValueFile::parse("f", "a 1\nb 18446744073709551615\n");
  REQUIRE(file);
  CHECK(file->u32("a").value() == 1);
  CHECK(file->u64("b").value() == UINT64_MAX);
  CHECK(file->u32_or("c", 7).value() == 7);
  CHECK(file->u32("b").error().text == "f:2: 18446744073709551615 is too big for 'b', which has 32 bits");
  CHECK(file->u32("c").error().text == "f: the key 'c' is missing");
}

TEST_CASE("every malformed line is refused with its place") {
  CHECK(parse_error("a 1\nb\n") == "f:2: expected a key and one decimal number, found 'b'");
  CHECK(parse_error("a 0x10\n") == "f:1: expected a key and one decimal number, found 'a 0x10'");
  CHECK(parse_error("a -1\n") == "f:1: expected a key and one decimal number, found 'a -1'");
  CHECK(parse_error("a 1 2\n") == "f:1: expected a key and one decimal number, found 'a 1 2'");
  CHECK(parse_error("a 1\n\nb 1\n") == "f:2: expected a key and one decimal number, found ''");
  CHECK(parse_error("a 18446744073709551616\n") ==
        "f:1: expected a key and one decimal number, found 'a 18446744073709551616'");
  CHECK(parse_error("a 1\nb 2\na 3\n") == "f:3: the key 'a' stands in line 1 already");
  CHECK(parse_error("a 1\nb 2") == "f:2: the file ends inside the line 'b 2'");
}

TEST_CASE("an MI210 node becomes the properties of gfx90a") {
  FakeOs os;
  os.add_usual_machine("gfx90a");
  const GpuProperties p = properties_of(os);
  CHECK(p.gfx == "gfx90a");
  CHECK(p.gfx_major == 9);
  CHECK(p.gfx_minor == 0);
  CHECK(p.gfx_step == 10);
  CHECK(p.gpu_id == 4660);
  CHECK(p.asic_name == "aldebaran");
  CHECK(p.cu_count == 104);
  CHECK(p.shader_engines == 8);
  CHECK(p.max_waves_per_cu == 32);
  CHECK(p.lds_bytes_per_cu == 65536);
  CHECK(p.pci_bus == 0xc5);
  CHECK(p.vram_bytes == 17163091968u);
  CHECK(p.vram_host_visible);
  CHECK(p.host_atomics);
  CHECK(p.sram_ecc);
  REQUIRE(p.caches.size() == 1);
  CHECK(p.caches[0].size_kib == 16);
}

TEST_CASE("an RX 7900 XTX node becomes the properties of gfx1100") {
  FakeOs os;
  os.add_usual_machine("gfx1100");
  const GpuProperties p = properties_of(os);
  CHECK(p.gfx == "gfx1100");
  CHECK(p.cu_count == 96);
  CHECK(p.shader_engines == 6);
  CHECK(p.shader_arrays_per_engine == 2);
  CHECK(p.wave_size == 32);
  CHECK_FALSE(p.sram_ecc);
}

TEST_CASE("names of targets have a hexadecimal step") {
  struct Row {
    const char* value;
    const char* gfx;
  };
  const Row row = GENERATE(Row{"90000", "gfx900"}, Row{"90012", "gfx90c"}, Row{"90402", "gfx942"},
                           Row{"110003", "gfx1103"}, Row{"110501", "gfx1151"});
  FakeOs os;
  os.add_usual_machine();
  os.set_property(1, "gfx_target_version", row.value);
  CHECK(properties_of(os).gfx == row.gfx);
}

TEST_CASE("a missing or impossible value is refused by name") {
  FakeOs os;
  os.add_usual_machine();
  const std::string file = os.node_path(1) + "/properties";
  SECTION("missing") {
    os.drop_property(1, "simd_count");
    CHECK(properties_error(os) == file + ": the key 'simd_count' is missing");
  }
  SECTION("no multiple") {
    os.set_property(1, "simd_count", "415");
    CHECK(properties_error(os) == file + ": simd_count 415 is no multiple of simd_per_cu 4");
  }
  SECTION("no render node") {
    os.set_property(1, "drm_render_minor", "0");
    CHECK(properties_error(os) == file + ": drm_render_minor 0 is not a render node (128 to 255)");
  }
  SECTION("no XCC") {
    os.set_property(1, "num_xcc", "0");
    CHECK(properties_error(os) == file + ": num_xcc is 0");
  }
  SECTION("gfx10 is not driven") {
    os.set_property(1, "gfx_target_version", "100300");
    CHECK(properties_error(os) == "The GPU of topology node 1 is gfx1030; barehip drives gfx9 and gfx11.");
  }
  SECTION("a malformed line") {
    os.files[file] += "odd line here\n";
    CHECK(properties_error(os).ends_with("expected a key and one decimal number, found 'odd line here'"));
  }
}

TEST_CASE("where the topology has no target the driver's chip revision tells it") {
  FakeOs os;
  os.add_usual_machine();
  os.drop_property(1, "gfx_target_version");
  GpuProperties p = properties_of(os);
  CHECK(p.gfx.empty());
  drm_amdgpu_info_device info{};
  info.family = 141;
  info.external_rev = 0x3d;
  REQUIRE(add_dev_info(p, info));
  CHECK(p.gfx == "gfx90a");
  p = properties_of(os);
  info.external_rev = 0x29;
  REQUIRE(add_dev_info(p, info));
  CHECK(p.gfx == "gfx906");
  p = properties_of(os);
  info.family = 130;
  CHECK(add_dev_info(p, info).error().code == ErrorCode::kNotSupported);
}

TEST_CASE("keys that older kernels lack have defaults") {
  FakeOs os;
  os.add_usual_machine();
  for (const char* key : {"num_xcc", "domain", "unique_id", "debug_prop", "num_cp_queues", "sdma_fw_version"})
    os.drop_property(1, key);
  const GpuProperties p = properties_of(os);
  CHECK(p.num_xcc == 1);
  CHECK(p.unique_id == 0);
  CHECK(p.cwsr_bytes_per_xcc == 0);
}

TEST_CASE("links without atomics or to GPUs only give no host atomics") {
  FakeOs os;
  os.add_usual_machine();
  std::string& link = os.files[os.node_path(1) + "/io_links/0/properties"];
  SECTION("no 64-bit atomics") { link.replace(link.find("flags 1"), 7, "flags 9"); }
  SECTION("to itself") { link.replace(link.find("node_to 0"), 9, "node_to 1"); }
  CHECK_FALSE(properties_of(os).host_atomics);
}

TEST_CASE("a snapshot that changed while it was read is taken again") {
  FakeOs os;
  os.add_usual_machine();
  barehip_os_table table = os.table();
  struct Changing {
    FakeOs* os;
    int reads = 0;
    bool always = false;
  } changing{&os};
  SECTION("once") {}
  SECTION("always") { changing.always = true; }
  table.self = &changing;
  table.read_file = [](void* self, const char* path, char* buf, size_t cap) {
    auto& c = *static_cast<Changing*>(self);
    if (std::string(path).ends_with("generation_id") && (c.always || c.reads < 1))
      c.os->files[path] = std::to_string(++c.reads + 10) + "\n";
    return c.os->table().read_file(c.os->table().self, path, buf, cap);
  };
  table.list_dir = [](void* self, const char* path, int (*each)(void*, const char*), void* user) {
    FakeOs& inner = *static_cast<Changing*>(self)->os;
    return inner.table().list_dir(inner.table().self, path, each, user);
  };
  const Result<Topology> topology = read_topology(table);
  CHECK(topology.has_value() != changing.always);
  if (!topology) CHECK(topology.error().text.find("changed during each of 8 readings") != std::string::npos);
}

TEST_CASE("the device cgroup hides a node by EPERM") {
  FakeOs os;
  os.add_usual_machine();
  os.path_errors[os.node_path(1) + "/gpu_id"] = EPERM;
  const Result<Topology> topology = read_topology(os.table());
  REQUIRE(topology);
  CHECK(topology->nodes[1].denied);
}

TEST_CASE("the real file functions read a topology from a folder") {
  char folder[] = "/tmp/barehip-topology-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::filesystem::path root = folder;
  FakeOs os;
  os.add_usual_machine();
  const std::string prefix = os.table().topology_root;
  for (const auto& [path, text] : os.files) {
    if (path.compare(0, prefix.size(), prefix) != 0) continue;
    const std::filesystem::path file = root.string() + path.substr(prefix.size());
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  barehip_os_table table = *os_linux();
  table.topology_root = root.c_str();
  const Result<Topology> topology = read_topology(table);
  REQUIRE(topology);
  CHECK(topology->generation == 2);
  REQUIRE(topology->nodes.size() == 2);
  CHECK(topology->nodes[1].gpu_id == 4660);
  CHECK(topology->nodes[1].banks.size() == 1);
  std::filesystem::remove_all(root);
  CHECK(read_topology(table).error().sys_errno == ENOENT);
}

TEST_CASE("the marketing name comes from libdrm's table") {
  FakeOs os;
  os.files["/usr/share/libdrm/amdgpu.ids"] =
      "# List of AMDGPU IDs\n#\n1.0.0\n740F,\t01,\tAMD Instinct MI200\n740F,\t02,\tAMD Instinct MI210\n";
  CHECK(marketing_name(os.table(), 0x740f, 2) == "AMD Instinct MI210");
  CHECK(marketing_name(os.table(), 0x740f, 3).empty());
  os.files.clear();
  CHECK(marketing_name(os.table(), 0x740f, 2).empty());
}
