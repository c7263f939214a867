// Modules: loading, what is inside, launching both ways, and images that are wrong.
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/sim/hip_test.h"

using namespace sim;

namespace {

const char* module_path() { return BAREHIP_TEST_MODULE; }        // an offload bundle for gfx90a and gfx1100
const char* other_gpu_path() { return BAREHIP_TEST_OTHER_GPU; }  // for a GPU that this one is not

std::vector<char> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ModuleGuard {
 public:
  ModuleGuard() { REQUIRE_HIP(hipModuleLoad(&module_, module_path())); }
  ~ModuleGuard() { (void)hipModuleUnload(module_); }
  ModuleGuard(const ModuleGuard&) = delete;
  ModuleGuard& operator=(const ModuleGuard&) = delete;
  operator hipModule_t() const { return module_; }  // NOLINT: implicit on purpose

 private:
  hipModule_t module_ = nullptr;
};

std::vector<uint32_t> expected(uint32_t first) { return counting(64, first); }

}  // namespace

TEST_CASE("a module's kernel, launched by pointers and by a packed buffer") {
  ModuleGuard module;
  hipFunction_t function = nullptr;
  REQUIRE_HIP(hipModuleGetFunction(&function, module, "module_add"));
  DeviceArray<uint32_t> out(64);
  uint32_t* pointer = out.get();
  unsigned a = 1000;
  unsigned short b = 7;
  void* pointers[] = {&pointer, &a, &b};
  REQUIRE_HIP(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr));
  CHECK(out.read() == expected(1049));

  struct {
    uint32_t* out;
    unsigned a;
    unsigned short b;
  } packed{pointer, 2000, 1};
  size_t size = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  REQUIRE_HIP(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(out.read() == expected(2043));

  size = 12;
  CHECK_HIP_ERROR(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), hipErrorInvalidValue);
  size = 200;
  CHECK_HIP_ERROR(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), hipErrorInvalidValue);
  CHECK_HIP_ERROR(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
                  hipErrorInvalidValue);
}

TEST_CASE("a module's variable") {
  ModuleGuard module;
  hipDeviceptr_t address = nullptr;
  size_t bytes = 0;
  REQUIRE_HIP(hipModuleGetGlobal(&address, &bytes, module, "module_value"));
  CHECK(bytes == 4);
  uint32_t value = 0;
  REQUIRE_HIP(hipMemcpy(&value, address, 4, hipMemcpyDeviceToHost));
  CHECK(value == 42);
  value = 1;
  REQUIRE_HIP(hipMemcpy(address, &value, 4, hipMemcpyHostToDevice));
  hipFunction_t function = nullptr;
  REQUIRE_HIP(hipModuleGetFunction(&function, module, "module_add"));
  DeviceArray<uint32_t> out(64);
  uint32_t* pointer = out.get();
  unsigned a = 0;
  unsigned short b = 0;
  void* pointers[] = {&pointer, &a, &b};
  REQUIRE_HIP(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr));
  CHECK(out.read() == expected(1));
}

TEST_CASE("names that are not there") {
  ModuleGuard module;
  hipFunction_t function = nullptr;
  hipDeviceptr_t address = nullptr;
  size_t bytes = 0;
  CHECK_HIP_ERROR(hipModuleGetFunction(&function, module, "no_such"), hipErrorNotFound);
  CHECK_HIP_ERROR(hipModuleGetFunction(&function, module, "module_value"), hipErrorNotFound);
  CHECK_HIP_ERROR(hipModuleGetGlobal(&address, &bytes, module, "no_such"), hipErrorNotFound);
  CHECK_HIP_ERROR(hipModuleLoad(reinterpret_cast<hipModule_t*>(&function), "/no/such/file"), hipErrorFileNotFound);
}

TEST_CASE("handles of an unloaded module are stale") {
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  REQUIRE_HIP(hipModuleLoad(&module, module_path()));
  REQUIRE_HIP(hipModuleGetFunction(&function, module, "module_nothing"));
  REQUIRE_HIP(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  REQUIRE_HIP(hipModuleUnload(module));
  CHECK(hipModuleUnload(module) != hipSuccess);
  CHECK(hipModuleGetFunction(&function, module, "module_nothing") != hipSuccess);
  CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != hipSuccess);
  CHECK(hipModuleLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) != hipSuccess);
}

TEST_CASE("loading, running and unloading again and again reuses memory for other code") {
  DeviceArray<uint32_t> out(64);
  for (uint32_t i = 0; i < 20; ++i) {
    ModuleGuard module;
    hipFunction_t function = nullptr;
    REQUIRE_HIP(hipModuleGetFunction(&function, module, "module_add"));
    uint32_t* pointer = out.get();
    unsigned a = i * 100;
    unsigned short b = 0;
    void* pointers[] = {&pointer, &a, &b};
    REQUIRE_HIP(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr));
    CHECK(out.read() == expected(42 + i * 100));
  }
}

TEST_CASE("code for another GPU, and images that are damaged") {
  hipModule_t module = reinterpret_cast<hipModule_t>(0xa5a5);
  CHECK_HIP_ERROR(hipModuleLoad(&module, other_gpu_path()), hipErrorNoBinaryForGpu);
  std::vector<char> image = read_file(module_path());
  REQUIRE(image.size() > 4096);
  CHECK_HIP(hipModuleLoadData(&module, image.data()));
  CHECK_HIP(hipModuleUnload(module));

  const std::string path = std::string(BAREHIP_TEST_SCRATCH_DIR) + "/damaged.hsaco";
  for (size_t size : {size_t{0}, size_t{10}, size_t{100}, image.size() / 2, image.size() - 100}) {
    CAPTURE(size);
    std::ofstream(path, std::ios::binary).write(image.data(), static_cast<std::streamsize>(size));
    CHECK(hipModuleLoad(&module, path.c_str()) != hipSuccess);
  }
  std::vector<char> text(8192, 'x');
  CHECK_HIP_ERROR(hipModuleLoadData(&module, text.data()), hipErrorInvalidImage);
  CHECK(hipModuleLoadData(&module, nullptr) != hipSuccess);
  CHECK_HIP(hipDeviceSynchronize());
}
