// Memory objects: flags, addresses, registration, and nothing left behind.
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include <barehip/device.h>
#include <barehip/memory.h>

#include "kfd/os_failing.h"
#include "kfd/os_recording.h"
#include "tests/catch.h"
#include "tests/unit/kfd/machine.h"

using namespace barehip;
using namespace barehip::kfd;
using barehip::kfd::test::Machine;

namespace {

uint32_t flags_of(Machine& m, const MemoryOptions& options) {
  const Result<Memory> memory = Memory::allocate(m.device(), 100, options);
  REQUIRE(memory);
  return m.os.objects.at(memory->kfd_handle()).args.flags;
}

constexpr uint32_t kBase = uapi::kMemNoSubstitute | uapi::kMemWritable;

}  // namespace

TEST_CASE("each kind of memory has its flags") {
  Machine m;
  MemoryOptions o;
  CHECK(flags_of(m, o) == (kBase | uapi::kMemVram | uapi::kMemPublic));
  o.host_access = false;
  CHECK(flags_of(m, o) == (kBase | uapi::kMemVram));
  o.executable = true;
  o.read_only = true;
  CHECK(flags_of(m, o) == (uapi::kMemNoSubstitute | uapi::kMemVram | uapi::kMemExecutable));
  o = {};
  o.kind = MemoryKind::kVramFine;
  CHECK(flags_of(m, o) == (kBase | uapi::kMemVram | uapi::kMemPublic | uapi::kMemCoherent));
  o.kind = MemoryKind::kHostCoarse;
  CHECK(flags_of(m, o) == (kBase | uapi::kMemGtt));
  o.kind = MemoryKind::kHostUncached;
  CHECK(flags_of(m, o) == (kBase | uapi::kMemGtt | uapi::kMemCoherent | uapi::kMemUncached));
  o.kind = MemoryKind::kHostCoherent;
  o.pageable = true;
  CHECK(flags_of(m, o) == (kBase | uapi::kMemUserptr | uapi::kMemCoherent));
}

TEST_CASE("memory lies at one address for GPU and host, aligned, mapped, and goes away whole") {
  Machine m;
  const uint64_t before = m.os.mapped_bytes();
  const size_t objects = m.os.live_objects();
  {
    MemoryOptions options;
    options.alignment = 2 << 20;
    Result<Memory> memory = Memory::allocate(m.device(), 10000, options);
    REQUIRE(memory);
    CHECK(memory->gpu_address() % (2 << 20) == 0);
    CHECK(reinterpret_cast<uint64_t>(memory->host()) == memory->gpu_address());
    CHECK(memory->bytes() == 10000);
    const auto& object = m.os.objects.at(memory->kfd_handle());
    CHECK(object.args.size == 12288);
    CHECK(object.args.va_addr == memory->gpu_address());
    CHECK(object.gpus == std::set<uint32_t>{4660});
    memset(memory->host(), 0x5a, memory->bytes());
  }
  CHECK(m.os.mapped_bytes() == before);
  CHECK(m.os.live_objects() == objects);
}

// The kernel stops all queues of a process when pages of a userptr object go away (amdgpu_amdkfd_evict_userptr), so
// stock runtimes free the object first.
TEST_CASE("an object is freed before its pages are unmapped") {
  std::vector<std::string> order;
  Machine m;
  MemoryOptions options;
  options.kind = MemoryKind::kHostCoherent;
  options.pageable = GENERATE(true, false);
  Result<Memory> memory = Memory::allocate(m.device(), 8192, options);
  REQUIRE(memory);
  m.os.on_ioctl = [&](uint32_t nr, void*) { order.push_back(nr == 0x19 ? "unmap" : nr == 0x17 ? "free" : "other"); };
  m.os.on_munmap = [&](uint64_t, uint64_t) { order.push_back("munmap"); };
  const Result<void> freed = memory->free();
  m.os.on_ioctl = nullptr;
  m.os.on_munmap = nullptr;
  REQUIRE(freed);
  CHECK(order == std::vector<std::string>{"unmap", "free", "munmap"});
}

TEST_CASE("addresses of an object that the driver does not free stay taken") {
  Machine m;
  Result<Memory> memory = Memory::allocate(m.device(), 8192, {});
  REQUIRE(memory);
  const uint64_t before = m.os.mapped_bytes();
  m.os.ioctl_errors[0x17] = EBUSY;
  const Result<void> freed = memory->free();
  REQUIRE_FALSE(freed);
  CHECK(freed.error().sys_errno == EBUSY);
  CHECK(m.os.mapped_bytes() == before);
}

TEST_CASE("VRAM that the host cannot see has no host address") {
  Machine m("gfx90a", [](test::FakeOs& os) {
    std::string& bank = os.files[os.node_path(1) + "/mem_banks/0/properties"];
    bank.replace(bank.find("heap_type 1"), 11, "heap_type 2");
  });
  const Result<Memory> memory = Memory::allocate(m.device(), 4096, {});
  REQUIRE(memory);
  CHECK(memory->host() == nullptr);
  CHECK((m.os.objects.at(memory->kfd_handle()).args.flags & uapi::kMemPublic) == 0);
}

TEST_CASE("host memory is mapped to every GPU, VRAM to its own") {
  Machine m("gfx90a", [](test::FakeOs& os) { os.add_gpu_node(2, "gfx1100", 777, 129); });
  MemoryOptions host;
  host.kind = MemoryKind::kHostCoherent;
  const Result<Memory> shared = Memory::allocate(m.device(), 4096, host);
  Result<Memory> own = Memory::allocate(m.device(), 4096, {});
  REQUIRE(shared);
  REQUIRE(own);
  CHECK(m.os.objects.at(shared->kfd_handle()).gpus == std::set<uint32_t>{777, 4660});
  CHECK(m.os.objects.at(own->kfd_handle()).gpus == std::set<uint32_t>{4660});
  REQUIRE(own->map_to(*m.system->devices()[1]));
  CHECK(m.os.objects.at(own->kfd_handle()).gpus == std::set<uint32_t>{777, 4660});
  REQUIRE(own->map_to(*m.system->devices()[1]));
  REQUIRE(own->unmap_from(*m.system->devices()[1]));
  CHECK(m.os.objects.at(own->kfd_handle()).gpus == std::set<uint32_t>{4660});
}

TEST_CASE("bad requests are refused before any call") {
  Machine m;
  const Result<Memory> none = Memory::allocate(m.device(), 0, {});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kInvalidArgument);
  for (const uint64_t alignment : {uint64_t{0}, uint64_t{2048}, uint64_t{12288}}) {
    MemoryOptions options;
    options.alignment = alignment;
    CHECK(Memory::allocate(m.device(), 1, options).error().code == ErrorCode::kInvalidArgument);
  }
  CHECK(Memory::allocate(m.device(), UINT64_MAX, {}).error().code == ErrorCode::kOutOfMemory);
  CHECK(Memory::register_host(m.device(), nullptr, 1).error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("registered memory keeps its address, to the byte") {
  Machine m;
  std::vector<char> data(20000);
  const Result<Memory> memory = Memory::register_host(m.device(), data.data() + 100, 10000);
  REQUIRE(memory);
  CHECK(memory->gpu_address() == reinterpret_cast<uint64_t>(data.data() + 100));
  CHECK(memory->host() == data.data() + 100);
  const auto& args = m.os.objects.at(memory->kfd_handle()).args;
  CHECK(args.va_addr == (memory->gpu_address() & ~0xfffull));
  CHECK(args.mmap_offset == args.va_addr);
  CHECK(args.va_addr + args.size >= memory->gpu_address() + 10000);
  CHECK((args.flags & uapi::kMemUserptr) != 0);
}

TEST_CASE("registrations that share a page get another address with the same page offset") {
  Machine m;
  std::vector<char> data(20000);
  char* aligned = reinterpret_cast<char*>((reinterpret_cast<uint64_t>(data.data()) + 4095) & ~0xfffull);
  const Result<Memory> first = Memory::register_host(m.device(), aligned + 16, 100);
  const Result<Memory> second = Memory::register_host(m.device(), aligned + 512, 100);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->gpu_address() == reinterpret_cast<uint64_t>(aligned + 16));
  CHECK(second->gpu_address() != reinterpret_cast<uint64_t>(aligned + 512));
  CHECK(second->gpu_address() % 4096 == 512);
  CHECK(second->host() == aligned + 512);
  CHECK(m.os.objects.at(second->kfd_handle()).args.mmap_offset == reinterpret_cast<uint64_t>(aligned));
}

TEST_CASE("memory that is not there cannot be registered") {
  Machine m;
  const size_t objects = m.os.live_objects();
  m.os.ioctl_errors[0x16] = EFAULT;
  int value = 0;
  const Result<Memory> memory = Memory::register_host(m.device(), &value, 4);
  REQUIRE_FALSE(memory);
  CHECK(memory.error().sys_errno == EFAULT);
  CHECK(m.os.live_objects() == objects);
}

TEST_CASE("allocation leaks nothing, whichever call fails") {
  MemoryOptions options;
  SECTION("visible VRAM") {}
  SECTION("GTT") { options.kind = MemoryKind::kHostUncached; }
  SECTION("pageable") {
    options.kind = MemoryKind::kHostCoherent;
    options.pageable = true;
  }
  constexpr uint32_t kFailable = FailingOs::mask(OsCall::kIoctl) | FailingOs::mask(OsCall::kMmap);
  test::FakeOs os;
  os.add_usual_machine();
  FailingOs failing(os.table());
  Result<std::unique_ptr<System>> system = System::open(failing.table());
  REQUIRE(system);
  const uint64_t bytes = os.mapped_bytes();
  const size_t objects = os.live_objects();
  int failures = 0;
  for (uint64_t n = 1;; ++n) {
    failing.fail_nth(n, ENOMEM, kFailable);
    Result<Memory> memory = Memory::allocate(*(*system)->devices()[0], 5000, options);
    const bool failed = failing.failed();
    failing.fail_nth(0, 0, 0);
    if (!memory) {
      ++failures;
      CHECK(memory.error().code == ErrorCode::kOutOfMemory);
    }
    memory = Memory();
    INFO("call " << n);
    REQUIRE(os.mapped_bytes() == bytes);
    REQUIRE(os.live_objects() == objects);
    if (!failed) break;
  }
  CHECK(failures >= 3);
}

TEST_CASE("a mapping that worked for some GPUs only is undone") {
  Machine m("gfx90a", [](test::FakeOs& os) { os.add_gpu_node(2, "gfx1100", 777, 129); });
  const size_t objects = m.os.live_objects();
  MemoryOptions host;
  host.kind = MemoryKind::kHostCoherent;
  // The second GPU refuses.
  m.os.on_ioctl = [](uint32_t nr, void* args) {
    if (nr != 0x18) return;
    auto& map = *static_cast<uapi::map_memory_to_gpu_args*>(args);
    if (map.n_devices == 2) reinterpret_cast<uint32_t*>(map.device_ids_array_ptr)[1] = 9999;
  };
  const Result<Memory> memory = Memory::allocate(m.device(), 4096, host);
  REQUIRE_FALSE(memory);
  m.os.on_ioctl = nullptr;
  CHECK(m.os.live_objects() == objects);
}
