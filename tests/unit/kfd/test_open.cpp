// Opening: the order of calls, every face of "no GPU", and no leak when any call fails.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <barehip/device.h>
#include <barehip/memory.h>

#include "kfd/os_failing.h"
#include "kfd/os_recording.h"
#include "tests/catch.h"
#include "tests/unit/kfd/fake_os.h"

using namespace barehip;
using namespace barehip::kfd;
using barehip::kfd::test::FakeOs;

namespace {

Error open_error(FakeOs& os) {
  const Result<std::unique_ptr<System>> system = System::open(os.table());
  REQUIRE_FALSE(system);
  CHECK(os.open_fds() == 0);
  CHECK(os.mapped_bytes() == 0);
  CHECK(os.live_objects() == 0);
  return system.error();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the ioctls of opening come in the order that the driver needs") {
  FakeOs os;
  os.add_usual_machine();
  const RecordingOs recording(os.table());
  const Result<std::unique_ptr<System>> system = System::open(recording.table());
  REQUIRE(system);
  const std::vector<std::string> expected = {"GET_VERSION",        "GET_PROCESS_APERTURES_NEW", "ACQUIRE_VM",
                                             "RUNTIME_ENABLE",     "SET_MEMORY_POLICY",         "SET_XNACK_MODE",
                                             "GET_CLOCK_COUNTERS", "ALLOC_MEMORY_OF_GPU"};
  CHECK(recording.ioctl_names() == expected);
  const std::vector<std::string> lines = recording.lines();
  CHECK(lines[2].starts_with("open /dev/kfd"));
  CHECK(std::find(lines.begin(), lines.end(), "ioctl GET_VERSION -> major_version=1 minor_version=14") != lines.end());
  CHECK(std::find(lines.begin(), lines.end(), "ioctl ACQUIRE_VM drm_fd=1001 gpu_id=4660 -> 0") != lines.end());
}

TEST_CASE("an opened system knows its device") {
  FakeOs os;
  os.add_usual_machine();
  Result<std::unique_ptr<System>> system = System::open(os.table());
  REQUIRE(system);
  REQUIRE((*system)->devices().size() == 1);
  const Device& device = *(*system)->devices()[0];
  CHECK(device.properties().gfx == "gfx90a");
  CHECK(device.properties().lds_aperture == 0x1000000000000);
  CHECK(device.properties().scratch_aperture == 0x2000000000000);
  CHECK(device.properties().clock_hz == 100'000'000);
  CHECK((*system)->kfd_minor() == 14);
  CHECK((*system)->runtime_enabled());
  CHECK(device.can_flush_hdp());
  CHECK(device.error() == nullptr);
  CHECK(device.available_vram().value() == 1ull << 30);
  system->reset();
  CHECK(os.open_fds() == 0);
  CHECK(os.mapped_bytes() == 0);
  CHECK(os.live_objects() == 0);
}

TEST_CASE("RUNTIME_ENABLE needs firmware on every GPU and KFD 1.13") {
  FakeOs os;
  os.add_usual_machine();
  SECTION("older driver") { os.kfd_minor = 12; }
  SECTION("a GPU without the firmware") { os.set_property(1, "capability", "745472"); }
  const RecordingOs recording(os.table());
  const Result<std::unique_ptr<System>> system = System::open(recording.table());
  REQUIRE(system);
  CHECK_FALSE((*system)->runtime_enabled());
  const std::vector<std::string> names = recording.ioctl_names();
  CHECK(std::find(names.begin(), names.end(), "RUNTIME_ENABLE") == names.end());
}

TEST_CASE("RUNTIME_ENABLE that another runtime holds is used and not taken back") {
  FakeOs os;
  os.add_usual_machine();
  os.ioctl_errors[0x25] = EBUSY;
  const RecordingOs recording(os.table());
  Result<std::unique_ptr<System>> system = System::open(recording.table());
  REQUIRE(system);
  CHECK((*system)->runtime_enabled());
  system->reset();
  const std::vector<std::string> names = recording.ioctl_names();
  CHECK(std::count(names.begin(), names.end(), "RUNTIME_ENABLE") == 1);
}

TEST_CASE("RUNTIME_ENABLE after foreign queues goes on without") {
  FakeOs os;
  os.add_usual_machine();
  os.ioctl_errors[0x25] = EEXIST;
  const Result<std::unique_ptr<System>> system = System::open(os.table());
  REQUIRE(system);
  CHECK_FALSE((*system)->runtime_enabled());
}

// ---- no GPU
// --------------------------------------------------------------------------------------------------------

TEST_CASE("each way in which /dev/kfd fails is told apart") {
  FakeOs os;
  os.add_usual_machine();
  SECTION("no node, no driver") {
    os.files.clear();
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kNoDevice);
    CHECK(has(error.text, "modprobe amdgpu"));
  }
  SECTION("no node, but a driver: a container") {
    os.files.erase("/dev/kfd");
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kDeviceHidden);
    CHECK(has(error.text, "--device /dev/kfd"));
  }
  SECTION("ENXIO") {
    os.path_errors["/dev/kfd"] = ENXIO;
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kNoDevice);
    CHECK(has(error.text, "no driver answers (ENXIO"));
  }
  SECTION("ENODEV") {
    os.path_errors["/dev/kfd"] = ENODEV;
    CHECK(open_error(os).code == ErrorCode::kNoDevice);
  }
  SECTION("EINVAL: newer kernels without a GPU") {
    os.path_errors["/dev/kfd"] = EINVAL;
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kNoDevice);
    CHECK(has(error.text, "has found no GPU"));
  }
  SECTION("EPERM: device cgroup") {
    os.path_errors["/dev/kfd"] = EPERM;
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kNoPermission);
    CHECK(has(error.text, "device cgroup"));
  }
  SECTION("EMFILE is not about GPUs") {
    os.path_errors["/dev/kfd"] = EMFILE;
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kOutOfResources);
    CHECK(error.sys_errno == EMFILE);
  }
}

TEST_CASE("no permission names the group that owns the node") {
  FakeOs os;
  os.add_usual_machine();
  os.path_errors["/dev/kfd"] = EACCES;
  os.stats["/dev/kfd"] = {020660, 0, 109, 1};
  SECTION("by name") {
    os.files["/etc/group"] = "root:x:0:\nrender:x:109:alice\nusers:x:100:\n";
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kNoPermission);
    CHECK(has(error.text, "belongs to the group 'render'"));
    CHECK(has(error.text, "usermod -a -G render USER"));
  }
  SECTION("by number where it has no name") {
    const Error error = open_error(os);
    CHECK(has(error.text, "belongs to the group number 109"));
    CHECK(has(error.text, "--group-add 109"));
  }
  SECTION("a node for root only") {
    os.stats["/dev/kfd"] = {020600, 0, 0, 1};
    const Error error = open_error(os);
    CHECK(has(error.text, "mode 0600"));
    CHECK(has(error.text, "udev rule"));
  }
}

TEST_CASE("a topology without a GPU node is no device") {
  FakeOs os;
  os.add_usual_machine();
  std::erase_if(os.files, [&](const auto& entry) { return entry.first.starts_with(os.node_path(1) + "/"); });
  const Error error = open_error(os);
  CHECK(error.code == ErrorCode::kNoDevice);
  CHECK(has(error.text, "shows no GPU"));
}

TEST_CASE("a GPU whose render node cannot be opened is told apart") {
  FakeOs os;
  os.add_usual_machine();
  const std::string render = "/dev/dri/renderD128";
  SECTION("hidden by a container") {
    os.files.erase(render);
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kDeviceHidden);
    CHECK(has(error.text, render));
  }
  SECTION("permission") {
    os.path_errors[render] = EACCES;
    os.stats[render] = {020660, 0, 109, 1};
    os.files["/etc/group"] = "render:x:109:\n";
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kNoPermission);
    CHECK(has(error.text, "'render'"));
  }
  SECTION("device cgroup at the node") {
    os.path_errors[render] = EPERM;
    CHECK(open_error(os).code == ErrorCode::kNoPermission);
  }
  SECTION("device cgroup in the topology") {
    os.path_errors[os.node_path(1) + "/gpu_id"] = EPERM;
    const Error error = open_error(os);
    CHECK(error.code == ErrorCode::kNoPermission);
    CHECK(has(error.text, "device cgroup"));
  }
}

TEST_CASE("one usable GPU is enough, and the other is explained") {
  FakeOs os;
  os.add_usual_machine();
  os.add_gpu_node(2, "gfx1100", 777, 129);
  os.files.erase("/dev/dri/renderD128");
  const Result<std::unique_ptr<System>> system = System::open(os.table());
  REQUIRE(system);
  REQUIRE((*system)->devices().size() == 1);
  CHECK((*system)->devices()[0]->properties().gfx == "gfx1100");
  REQUIRE((*system)->skipped().size() == 1);
  CHECK(has((*system)->skipped()[0], "renderD128"));
}

TEST_CASE("64 GPUs are driven, and host memory reaches each; more are left out by name") {
  FakeOs os;
  os.add_usual_machine();
  for (uint32_t i = 2; i <= 66; ++i) os.add_gpu_node(i, "gfx90a", 5000 + i, 128 + i);
  const Result<std::unique_ptr<System>> system = System::open(os.table());
  REQUIRE(system);
  REQUIRE((*system)->devices().size() == 64);
  CHECK((*system)->skipped().size() == 2);
  MemoryOptions options;
  options.kind = MemoryKind::kHostCoherent;
  const Result<Memory> memory = Memory::allocate(*(*system)->devices()[0], 4096, options);
  REQUIRE(memory);
  CHECK(os.objects.at(memory->kfd_handle()).gpus.size() == 64);
}

TEST_CASE("another major version of the interface is refused") {
  FakeOs os;
  os.add_usual_machine();
  barehip_os_table table = os.table();
  static FakeOs* fake;
  fake = &os;
  table.ioctl = [](void*, int fd, unsigned long request, void* arg) {
    const int rc = fake->table().ioctl(fake->table().self, fd, request, arg);
    if ((request & 0xff) == 1) static_cast<uapi::get_version_args*>(arg)->major_version = 2;
    return rc;
  };
  const Result<std::unique_ptr<System>> system = System::open(table);
  REQUIRE_FALSE(system);
  CHECK(system.error().code == ErrorCode::kNotSupported);
  CHECK(os.open_fds() == 0);
}

TEST_CASE("a second runtime in the process is explained") {
  FakeOs os;
  os.add_usual_machine();
  os.ioctl_errors[0x15] = EBUSY;
  const Error error = open_error(os);
  CHECK(error.code == ErrorCode::kOutOfResources);
  CHECK(has(error.text, "another GPU runtime"));
}

// ---- failures
// ------------------------------------------------------------------------------------------------------

TEST_CASE("opening leaks nothing, whichever call fails") {
  constexpr uint32_t kFailable = FailingOs::mask(OsCall::kOpen) | FailingOs::mask(OsCall::kIoctl) |
                                 FailingOs::mask(OsCall::kMmap) | FailingOs::mask(OsCall::kMadvise) |
                                 FailingOs::mask(OsCall::kReadFile) | FailingOs::mask(OsCall::kListDir) |
                                 FailingOs::mask(OsCall::kGpuInfo);
  int failures = 0;
  for (uint64_t n = 1;; ++n) {
    FakeOs os;
    os.add_usual_machine();
    FailingOs failing(os.table());
    failing.fail_nth(n, ENOMEM, kFailable);
    Result<std::unique_ptr<System>> system = System::open(failing.table());
    const bool failed = failing.failed();
    failing.fail_nth(0, 0, 0);
    if (!system) {
      ++failures;
      INFO("call " << n << ": " << system.error().text);
      CHECK(system.error().code == ErrorCode::kOutOfMemory);
      CHECK_FALSE(system.error().text.empty());
    } else {
      system->reset();
    }
    INFO("call " << n);
    REQUIRE(os.open_fds() == 0);
    REQUIRE(os.mapped_bytes() == 0);
    REQUIRE(os.live_objects() == 0);
    if (!failed) break;
  }
  CHECK(failures > 15);
}

TEST_CASE("interrupted and would-block ioctls are issued again") {
  FakeOs os;
  os.add_usual_machine();
  static FakeOs* fake;
  static int interruptions;
  fake = &os;
  interruptions = 0;
  barehip_os_table table = os.table();
  table.ioctl = [](void*, int fd, unsigned long request, void* arg) {
    if (interruptions++ % 3 != 2) return interruptions % 2 != 0 ? -EINTR : -EAGAIN;
    return fake->table().ioctl(fake->table().self, fd, request, arg);
  };
  CHECK(System::open(table));
  CHECK(interruptions > 20);
}

// ---- fork
// ----------------------------------------------------------------------------------------------------------

TEST_CASE("a forked child gets clean errors and destroys nothing") {
  FakeOs os;
  os.add_usual_machine();
  Result<std::unique_ptr<System>> opened = System::open(os.table());
  REQUIRE(opened);
  System& system = **opened;
  Device& device = *system.devices()[0];
  Result<Memory> memory = Memory::allocate(device, 4096, {});
  REQUIRE(memory);
  CHECK(system.usable());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool right = !system.usable();
    const Result<Memory> other = Memory::allocate(device, 4096, {});
    right = right && !other && other.error().code == ErrorCode::kInvalidHandle;
    right = right && device.sample_clocks().error().code == ErrorCode::kInvalidHandle;
    const size_t objects = os.live_objects();
    *memory = Memory();
    opened->reset();
    right = right && os.live_objects() == objects;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(system.usable());
}
