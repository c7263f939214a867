// What clang's code calls: registration before main, the <<<>>> configuration, the legacy launch in three steps.
#include <cstring>
#include <vector>

#include "runtime/api/entry.h"
#include "runtime/api/extra_exports.h"
#include "runtime/api/half.h"
#include "runtime/core/launch.h"
#include "runtime/core/module.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

/// Two stores where three numbers would be three, after a shift.
void store_xyz(Dim3& to, uint64_t xy, uint32_t z) {
  std::memcpy(static_cast<void*>(&to), &xy, sizeof xy);
  to.z = z;
}

/// The stack of configurations when it is not empty before and after.
[[gnu::cold, gnu::noinline]] hipError_t push_slowly(uint64_t grid_xy, uint32_t grid_z, uint64_t block_xy,
                                                    uint32_t block_z, size_t lds, hipStream_t stream) {
  const auto pushed = push_call_configuration(
      CallConfiguration{from_registers(grid_xy, grid_z), from_registers(block_xy, block_z), lds, handle(stream)});
  return pushed ? hipSuccess : record(failed(api_id("__hipPushCallConfiguration"), pushed.error()));
}

hipError_t store_popped(const CallConfiguration& popped, dim3* grid, dim3* block, size_t* lds, hipStream_t* stream) {
  *grid = dim3(popped.grid.x, popped.grid.y, popped.grid.z);
  *block = dim3(popped.block.x, popped.block.y, popped.block.z);
  *lds = popped.dynamic_lds_bytes;
  *stream = reinterpret_cast<hipStream_t>(popped.stream);
  return hipSuccess;
}

[[gnu::cold, gnu::noinline]] hipError_t pop_slowly(dim3* grid, dim3* block, size_t* lds, hipStream_t* stream) {
  const auto popped = pop_call_configuration();
  return popped ? store_popped(*popped, grid, block, lds, stream)
                : record(failed(api_id("__hipPopCallConfiguration"), popped.error()));
}

/// Arguments of hipSetupArgument, until hipLaunchByPtr takes them.
std::vector<std::byte>& legacy_arguments() {
  // Never destroyed before its thread ends; a thread that never uses the legacy launch allocates nothing.
  thread_local std::vector<std::byte> bytes;
  return bytes;
}

Result<void> launch_popped(const void* function, const LaunchArguments& arguments) {
  const Result<CallConfiguration> configuration = pop_call_configuration();
  if (!configuration) return std::unexpected(configuration.error());
  return launch_host_function(function,
                              LaunchShape{configuration->grid, configuration->block, configuration->dynamic_lds_bytes},
                              arguments, configuration->stream);
}

}  // namespace

// __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream), with each dim3 as it comes in
// registers: see from_registers().
BAREHIP_EXPORT hipError_t push_configuration(uint64_t grid_xy, uint32_t grid_z, uint64_t block_xy, uint32_t block_z,
                                             size_t lds, hipStream_t stream) __asm__("__hipPushCallConfiguration");
hipError_t push_configuration(uint64_t grid_xy, uint32_t grid_z, uint64_t block_xy, uint32_t block_z, size_t lds,
                              hipStream_t stream) {
  CallConfiguration* const place = try_push_call_configuration();
  if (place == nullptr) [[unlikely]]
    return push_slowly(grid_xy, grid_z, block_xy, block_z, lds, stream);
  store_xyz(place->grid, grid_xy, grid_z);
  store_xyz(place->block, block_xy, block_z);
  place->dynamic_lds_bytes = lds;
  place->stream = handle(stream);
  return hipSuccess;
}

extern "C" {

void** __hipRegisterFatBinary(const void* data) { return fat_binary_register(data); }
void __hipUnregisterFatBinary(void** modules) { fat_binary_unregister(modules); }

void __hipRegisterFunction(void** modules, const void* hostFunction, char*, const char* deviceName, unsigned int,
                           uint3*, uint3*, dim3*, dim3*, int*) {
  fat_binary_add_function(modules, hostFunction, deviceName);
}

void __hipRegisterVar(void** modules, void* var, char*, char* deviceVar, int, size_t size, int, int) {
  fat_binary_add_variable(modules, var, deviceVar, size);
}

void __hipRegisterManagedVar(void* modules, void** pointer, void* init_value, const char*, size_t size,
                             unsigned int align) {
  fat_binary_add_managed(static_cast<void**>(modules), pointer, init_value, size, align);
}

// Part of every launch, as __hipPushCallConfiguration is: neither touches the last error.
hipError_t __hipPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem, hipStream_t* stream) {
  if (const CallConfiguration* popped = try_pop_call_configuration()) [[likely]]
    return store_popped(*popped, gridDim, blockDim, sharedMem, stream);
  return pop_slowly(gridDim, blockDim, sharedMem, stream);
}

hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream) {
  return enter(api_id("hipConfigureCall"), [&] {
    legacy_arguments().clear();
    return push_call_configuration(CallConfiguration{to_core(gridDim), to_core(blockDim), sharedMem, handle(stream)});
  });
}

hipError_t hipSetupArgument(const void* arg, size_t size, size_t offset) {
  return enter(api_id("hipSetupArgument"), [&]() -> Result<void> {
    constexpr size_t kLimit = 1 << 16;  // far above the 4 KiB that a kernel's arguments may have
    if (!arg || size > kLimit || offset > kLimit) return invalid("hipSetupArgument", "null argument or absurd offset");
    std::vector<std::byte>& bytes = legacy_arguments();
    if (bytes.size() < offset + size) bytes.resize(offset + size);
    std::memcpy(bytes.data() + offset, arg, size);
    return {};
  });
}

hipError_t hipLaunchByPtr(const void* func) {
  return enter(api_id("hipLaunchByPtr"), [&] {
    const std::vector<std::byte> bytes = std::exchange(legacy_arguments(), {});
    return launch_popped(func, LaunchArguments{nullptr, bytes.data(), bytes.size()});
  });
}

/// There are no precompiled headers here.
void __hipGetPCH(const char** pch, unsigned int* size) {
  if (pch) *pch = nullptr;
  if (size) *size = 0;
}

// Weak, as in the stock libraries: a program's own compiler runtime comes first.
__attribute__((weak)) unsigned short __gnu_f2h_ieee(float f) { return half_from_float(f); }
__attribute__((weak)) float __gnu_h2f_ieee(unsigned short h) { return float_from_half(h); }

}  // extern "C"

// What 5.2's hipLaunchKernelGGL called; `kernarg` is an `extra` list.
namespace hip_impl {
BAREHIP_EXPORT void hipLaunchKernelGGLImpl(uintptr_t function_address, const dim3& numBlocks, const dim3& dimBlocks,
                                           uint32_t sharedMemBytes, hipStream_t stream, void** kernarg);
void hipLaunchKernelGGLImpl(uintptr_t function_address, const dim3& numBlocks, const dim3& dimBlocks,
                            uint32_t sharedMemBytes, hipStream_t stream, void** kernarg) {
  (void)enter(api_id("_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv"), [&]() -> Result<void> {
    const Result<LaunchArguments> arguments = parse_launch_extra(kernarg);
    if (!arguments) return std::unexpected(arguments.error());
    return launch_host_function(reinterpret_cast<const void*>(function_address),
                                LaunchShape{to_core(numBlocks), to_core(dimBlocks), sharedMemBytes}, *arguments,
                                handle(stream));
  });
}
}  // namespace hip_impl
