// Where the generations' binary interfaces differ, each library speaks its own: the structure behind a symbol, the
// value of an enumerator, what is an error. Runs on one simulated or real GPU.
#include <cstring>
#include <vector>

#include "tests/unit/hip/library.h"

namespace {

constexpr unsigned char kPoison = 0xa5;

template <class Property>
struct Guarded {
  Property property;
  unsigned char behind[256];
  Guarded() { std::memset(static_cast<void*>(this), kPoison, sizeof(*this)); }
  bool intact() const {
    for (const unsigned char byte : behind)
      if (byte != kPoison) return false;
    return true;
  }
};

#define HIP_OK(call) REQUIRE((call) == hipSuccess)

}  // namespace

TEST_CASE("the plain hipGetDeviceProperties writes the 5.x structure and nothing behind it") {
  Guarded<hipDeviceProp_tR0000> old;
  HIP_OK(entry<hipError_t(hipDeviceProp_tR0000*, int)>("hipGetDeviceProperties")(&old.property, 0));
  CHECK(old.intact());
  CHECK(std::string(old.property.gcnArchName).starts_with("gfx"));
  CHECK(old.property.totalGlobalMem > 0);
  CHECK((old.property.warpSize == 32 || old.property.warpSize == 64));
  if (std::string(old.property.gcnArchName).starts_with("gfx90a")) CHECK(old.property.gcnArch == 910);
  if (std::string(old.property.gcnArchName).starts_with("gfx1100")) CHECK(old.property.gcnArch == 1100);

  if (generation() == 5) return;
  Guarded<hipDeviceProp_tR0600> current;
  HIP_OK(HIP(hipGetDevicePropertiesR0600)(&current.property, 0));
  CHECK(current.intact());
  CHECK(std::string(current.property.name) == old.property.name);
  CHECK(current.property.multiProcessorCount == old.property.multiProcessorCount);
  CHECK(current.property.maxSharedMemoryPerMultiProcessor == old.property.maxSharedMemoryPerMultiProcessor);
}

TEST_CASE("a failing query leaves the structure alone") {
  Guarded<hipDeviceProp_tR0000> old;
  CHECK(entry<hipError_t(hipDeviceProp_tR0000*, int)>("hipGetDeviceProperties")(&old.property, 99) ==
        hipErrorInvalidDevice);
  CHECK(static_cast<unsigned char>(old.property.name[0]) == kPoison);
}

TEST_CASE("memory types have the generation's values") {
  const bool old = generation() == 5;
  hipPointerAttribute_t attributes;
  void *device = nullptr, *pinned = nullptr;
  HIP_OK(HIP(hipMalloc)(&device, 4096));
  HIP_OK(HIP(hipHostMalloc)(&pinned, 4096, 0));
  HIP_OK(HIP(hipPointerGetAttributes)(&attributes, static_cast<char*>(device) + 100));
  CHECK(static_cast<int>(attributes.type) == (old ? 1 : 2));
  CHECK(attributes.devicePointer == static_cast<char*>(device) + 100);
  HIP_OK(HIP(hipPointerGetAttributes)(&attributes, pinned));
  CHECK(static_cast<int>(attributes.type) == (old ? 0 : 1));
  CHECK(attributes.hostPointer == pinned);

  int plain = 0;
  const hipError_t unknown = HIP(hipPointerGetAttributes)(&attributes, &plain);
  CHECK(unknown == (old ? hipErrorInvalidValue : hipSuccess));
  if (!old) CHECK(static_cast<int>(attributes.type) == 0);
  HIP_OK(HIP(hipHostFree)(pinned));
  HIP_OK(HIP(hipFree)(device));
}

TEST_CASE("hipMemcpyParam2D reads memory types of its generation") {
  constexpr size_t kWidth = 100, kRows = 7, kPitch = 256;
  const auto host_type = static_cast<hipMemoryType>(generation() == 5 ? 0 : 1);
  const auto device_type = static_cast<hipMemoryType>(generation() == 5 ? 1 : 2);
  std::vector<unsigned char> in(kWidth * kRows), out(kWidth * kRows);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);
  void* device = nullptr;
  HIP_OK(HIP(hipMalloc)(&device, kPitch * kRows));

  hip_Memcpy2D copy{};
  copy.srcMemoryType = host_type;
  copy.srcHost = in.data();
  copy.srcPitch = kWidth;
  copy.dstMemoryType = device_type;
  copy.dstDevice = device;
  copy.dstPitch = kPitch;
  copy.WidthInBytes = kWidth;
  copy.Height = kRows;
  HIP_OK(HIP(hipMemcpyParam2D)(&copy));
  std::swap(copy.srcMemoryType, copy.dstMemoryType);
  std::swap(copy.srcPitch, copy.dstPitch);
  copy.srcDevice = device;
  copy.dstHost = out.data();
  HIP_OK(HIP(hipMemcpyParam2D)(&copy));
  CHECK(in == out);

  copy.srcMemoryType = static_cast<hipMemoryType>(generation() == 5 ? 2 : 10);  // an array
  CHECK(HIP(hipMemcpyParam2D)(&copy) == hipErrorNotSupported);
  HIP_OK(HIP(hipFree)(device));
}

TEST_CASE("three-dimensional copies and fills go slice by slice") {
  constexpr size_t kWidth = 40, kHeight = 5, kDepth = 3;
  hipPitchedPtr device{};
  HIP_OK(HIP(hipMalloc3D)(&device, make_hipExtent(kWidth, kHeight, kDepth)));
  CHECK(device.pitch >= kWidth);
  HIP_OK(HIP(hipMemset3D)(device, 0x11, make_hipExtent(kWidth, kHeight, kDepth)));
  HIP_OK(HIP(hipMemset3D)(device, 0x22, make_hipExtent(10, 2, 2)));
  std::vector<unsigned char> host(kWidth * kHeight * kDepth, 0);
  hipMemcpy3DParms copy{};
  copy.srcPtr = device;
  copy.dstPtr = make_hipPitchedPtr(host.data(), kWidth, kWidth, kHeight);
  copy.extent = make_hipExtent(kWidth, kHeight, kDepth);
  copy.kind = hipMemcpyDeviceToHost;
  HIP_OK(HIP(hipMemcpy3D)(&copy));
  size_t wrong = 0;
  for (size_t z = 0; z < kDepth; ++z)
    for (size_t y = 0; y < kHeight; ++y)
      for (size_t x = 0; x < kWidth; ++x)
        wrong += host[(z * kHeight + y) * kWidth + x] != (x < 10 && y < 2 && z < 2 ? 0x22 : 0x11);
  CHECK(wrong == 0);
  HIP_OK(HIP(hipFree)(device.ptr));
}

TEST_CASE("a device is found by its PCI address and chosen by its properties") {
  char address[32];
  HIP_OK(HIP(hipDeviceGetPCIBusId)(address, sizeof(address), 0));
  int device = -1;
  HIP_OK(HIP(hipDeviceGetByPCIBusId)(&device, address));
  CHECK(device == 0);
  CHECK(HIP(hipDeviceGetPCIBusId)(address, 5, 0) == hipErrorInvalidValue);
  CHECK(HIP(hipDeviceGetByPCIBusId)(&device, "nonsense") == hipErrorInvalidValue);

  hipDeviceProp_tR0000 wish{};
  wish.major = 9;
  device = -1;
  HIP_OK(entry<hipError_t(int*, const hipDeviceProp_tR0000*)>("hipChooseDevice")(&device, &wish));
  CHECK(device == 0);
}
