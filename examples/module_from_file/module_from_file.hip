// A kernel from a file: load the module, find its kernel and its variable by name, launch in both ways of passing
// arguments, unload. The file is an offload bundle with code for several GPUs; the runtime picks.
#include "../common/check.h"

#include <string>
#include <vector>

static std::string beside(const char* program, const char* file) {
  const std::string path(program);
  const size_t slash = path.rfind('/');
  return (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) + file;
}

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : beside(argv[0], "kernels.hsaco");
  hipModule_t module;
  hipFunction_t scale;
  hipDeviceptr_t offset;
  size_t offset_bytes = 0;
  HIP_CHECK(hipModuleLoad(&module, path.c_str()));
  HIP_CHECK(hipModuleGetFunction(&scale, module, "scale"));
  HIP_CHECK(hipModuleGetGlobal(&offset, &offset_bytes, module, "offset"));
  std::printf("%s: kernel 'scale', variable 'offset' of %zu bytes\n", path.c_str(), offset_bytes);

  constexpr int kCount = 1000, kThreads = 64;
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = i;
  int* device_values;
  HIP_CHECK(hipMalloc(&device_values, kCount * sizeof(int)));
  HIP_CHECK(hipMemcpy(device_values, values.data(), kCount * sizeof(int), hipMemcpyHostToDevice));

  // One address per argument.
  int factor = 3, count = kCount;
  void* arguments[] = {&device_values, &factor, &count};
  const unsigned blocks = (kCount + kThreads - 1) / kThreads;
  HIP_CHECK(hipModuleLaunchKernel(scale, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr));

  // All arguments in one buffer, after another value for the variable.
  const int new_offset = 100;
  HIP_CHECK(hipMemcpy(offset, &new_offset, sizeof new_offset, hipMemcpyHostToDevice));
  struct {
    int* values;
    int factor;
    int count;
  } packed{device_values, 2, kCount};
  size_t packed_bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes,
                   HIP_LAUNCH_PARAM_END};
  HIP_CHECK(hipModuleLaunchKernel(scale, blocks, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr, extra));
  HIP_CHECK(hipDeviceSynchronize());

  HIP_CHECK(hipMemcpy(values.data(), device_values, kCount * sizeof(int), hipMemcpyDeviceToHost));
  size_t wrong = offset_bytes != sizeof(int);
  for (int i = 0; i < kCount; ++i) wrong += values[i] != (i * 3 + 1) * 2 + 100;

  hipFunction_t missing;
  wrong += hipModuleGetFunction(&missing, module, "no_such_kernel") != hipErrorNotFound;
  HIP_CHECK(hipFree(device_values));
  HIP_CHECK(hipModuleUnload(module));
  return verdict(wrong);
}
