// Code: modules that the program loads, and the fat binaries that clang's start-up code registers.
//
// Registration only notes pointers (it runs before main, and inside dlopen); an image is parsed and loaded into a GPU
// on the first use of one of its kernels or variables there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <barehip/error.h>

#include "runtime/core/handle_table.h"

namespace barehip::runtime {

// --- hipModule* -----------------------------------------------------------------------------------------------------

/// `image`: a code object or an offload bundle in memory; its size is found in its own headers (as HIP's signature
/// wants). Loads for the current device. The image may be freed after. Errors: kInvalidImage, kNoBinaryForGpu,
/// kOutOfMemory.
Result<Handle> module_load_data(const void* image);
/// The same from a file. kFileNotFound.
Result<Handle> module_load_file(const char* path);
/// Waits for the device's work, then frees the code. Its functions become stale handles.
Result<void> module_unload(Handle module);
/// kNotFound when there is no kernel of that name (as in the source's symbol, mangled).
Result<Handle> module_function(Handle module, const char* name);
struct GlobalVariable {
  void* address = nullptr;  ///< device address
  size_t bytes = 0;
};
Result<GlobalVariable> module_global(Handle module, const char* name);

// --- clang's registration -------------------------------------------------------------------------------------------

/// The value is what __hipRegisterFatBinary returns to the stub (a void**); `wrapper` is its
/// __CudaFatBinaryWrapper-like struct {u32 magic 0x48495046, u32 version, const void* binary, void*}. Never fails
/// (there is nobody to tell): a bad wrapper is remembered, and each use of its kernels returns the error. Cost: one
/// allocation, no parsing.
void** fat_binary_register(const void* wrapper);
void fat_binary_unregister(void** binary);
void fat_binary_add_function(void** binary, const void* host_function, const char* device_name);
void fat_binary_add_variable(void** binary, const void* host_variable, const char* device_name, size_t bytes);
/// A __managed__ variable. Managed memory does not exist yet: code with such a variable cannot be loaded. The host gets
/// memory of its own, `bytes` initialized from `initial`, so that it can go on until then.
void fat_binary_add_managed(void** binary, void** host_pointer, const void* initial, size_t bytes, size_t alignment);

/// hipGetSymbolAddress / hipGetSymbolSize on the current device. kInvalidSymbol.
Result<GlobalVariable> symbol(const void* host_variable);

// --- what is known of a kernel --------------------------------------------------------------------------------------

struct FunctionAttributes {
  uint32_t static_lds_bytes = 0;
  uint32_t private_bytes_per_lane = 0;
  uint32_t vgprs = 0;
  uint32_t sgprs = 0;
  uint32_t max_threads_per_block = 0;
  uint32_t max_dynamic_lds_bytes = 0;
  uint32_t kernarg_bytes = 0;
  int binary_version = 0;  ///< 10 * major + minor of the target, as hipFuncAttributes.binaryVersion
};
/// By hipFunction_t.
Result<FunctionAttributes> function_attributes(Handle function);
/// By host stub address (hipFuncGetAttributes). kInvalidFunction.
Result<FunctionAttributes> host_function_attributes(const void* host_function);
/// hipGetFuncBySymbol: the handle for a registered kernel on the current device.
Result<Handle> function_by_symbol(const void* host_function);
/// Name of a kernel; the pointer lives as long as its module.
Result<const char*> function_name(Handle function);

}  // namespace barehip::runtime
