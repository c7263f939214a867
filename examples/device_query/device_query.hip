// Which GPUs there are, and what they can do: device count, properties, attributes, memory.
#include "../common/check.h"

#include <cstring>

static const char* yes_no(int value) { return value ? "yes" : "no"; }

static int attribute(hipDeviceAttribute_t which, int device) {
  int value = 0;
  HIP_CHECK(hipDeviceGetAttribute(&value, which, device));
  return value;
}

// Counts what two ways of asking tell differently; 0 is right.
static size_t show(int device) {
  hipDeviceProp_t p;
  HIP_CHECK(hipGetDeviceProperties(&p, device));
  HIP_CHECK(hipSetDevice(device));
  size_t free_bytes = 0, total_bytes = 0;
  HIP_CHECK(hipMemGetInfo(&free_bytes, &total_bytes));
  char bus_id[32];
  HIP_CHECK(hipDeviceGetPCIBusId(bus_id, sizeof bus_id, device));
  int by_bus_id = -1;
  HIP_CHECK(hipDeviceGetByPCIBusId(&by_bus_id, bus_id));

  std::printf("device %d: %s (%s) at %s\n", device, p.name, p.gcnArchName, bus_id);
  std::printf("  compute units        %d, wave of %d lanes, up to %d lanes each\n", p.multiProcessorCount, p.warpSize,
              p.maxThreadsPerMultiProcessor);
  std::printf("  memory               %zu MiB, %zu MiB free\n", p.totalGlobalMem >> 20, free_bytes >> 20);
  std::printf("  LDS                  %zu KiB a block\n", p.sharedMemPerBlock >> 10);
  std::printf("  L2 cache             %d KiB\n", p.l2CacheSize >> 10);
  std::printf("  block                up to %d threads (%d x %d x %d)\n", p.maxThreadsPerBlock, p.maxThreadsDim[0],
              p.maxThreadsDim[1], p.maxThreadsDim[2]);
  std::printf("  clock                %d MHz, timestamps at %d kHz\n", p.clockRate / 1000,
              attribute(hipDeviceAttributeWallClockRate, device));
  std::printf("  integrated %s, ECC %s, large BAR %s\n", yes_no(p.integrated), yes_no(p.ECCEnabled),
              yes_no(p.isLargeBar));

  size_t wrong = 0;
  wrong += attribute(hipDeviceAttributeMultiprocessorCount, device) != p.multiProcessorCount;
  wrong += attribute(hipDeviceAttributeWarpSize, device) != p.warpSize;
  wrong += attribute(hipDeviceAttributeMaxThreadsPerBlock, device) != p.maxThreadsPerBlock;
  wrong += static_cast<size_t>(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock, device)) != p.sharedMemPerBlock;
  wrong += by_bus_id != device;
  wrong += std::strncmp(p.gcnArchName, "gfx", 3) != 0;
  wrong += p.warpSize != 32 && p.warpSize != 64;
  wrong += total_bytes == 0 || free_bytes > total_bytes;
  return wrong;
}

int main() {
  int runtime = 0, count = 0;
  HIP_CHECK(hipRuntimeGetVersion(&runtime));
  HIP_CHECK(hipGetDeviceCount(&count));
  std::printf("HIP runtime %d.%d, %d device%s\n", runtime / 10000000, runtime / 100000 % 100, count,
              count == 1 ? "" : "s");

  size_t wrong = count < 1;
  for (int device = 0; device < count; ++device) wrong += show(device);
  wrong += hipSetDevice(count) != hipErrorInvalidDevice;
  return verdict(wrong);
}
