// A kernel in the memory of one GPU, prepared for launching: what a launch writes is worked out when the code is
// loaded.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <barehip/error.h>

#include "codeobj/code_object.h"
#include "runtime/core/allocations.h"
#include "runtime/core/handle_table.h"
#include "runtime/core/kernarg.h"

namespace barehip::runtime {

class DeviceContext;

/// Immutable once made, but for the handle. Lives as long as its LoadedCode.
class Function {
 public:
  Function(DeviceContext& context, const codeobj::Kernel& kernel, uint64_t load_address);

  DeviceContext& context;
  const codeobj::Kernel& kernel;
  /// Work-items of a block that the kernel was compiled for.
  uint32_t max_threads;

  // What a launch reads. A kernel that barehip cannot launch at all (kernarg.refusal()) has limits that no shape keeps,
  // so that launches need no check of their own for it; and one that wants more than the quick path does (a big
  // argument segment, rare hidden arguments, a launch that waits) has none that is quick.
  uint32_t thread_limit = 0;        ///< most work-items of a block, by the kernel and by the GPU
  uint64_t quick_thread_limit = 0;  ///< the same for launch_quickly()
  uint64_t dynamic_lds_end = 0;     ///< bytes of dynamic LDS must be below this
  uint64_t descriptor;              ///< GPU address: the packet's kernel_object
  uint32_t private_bytes;           ///< for each work-item
  uint32_t group_bytes;             ///< of static LDS
  bool big_kernarg = false;         ///< its arguments do not fit a usual slot of the queue's
  KernargLayout kernarg;

  /// hipFunction_t; made on first use.
  std::atomic<Handle> handle{0};
};

/// One code object in the memory of one GPU.
class LoadedCode {
 public:
  /// Picks the image for the GPU from `container`, and loads it. Waits for nothing: launches see to the caches.
  /// Errors: kInvalidImage, kNoBinaryForGpu, kNotSupported, kOutOfMemory.
  static Result<std::unique_ptr<LoadedCode>> load(DeviceContext& context, std::span<const std::byte> container);
  /// The caller has waited for the GPU, and no one uses the functions.
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  DeviceContext& context() const { return context_; }
  /// Null when there is none.
  Function* find_function(std::string_view name) const;
  const codeobj::Variable* find_variable(std::string_view name) const { return object_.find_variable(name); }
  uint64_t address_of(const codeobj::Variable& variable) const { return memory_->gpu + variable.offset; }

 private:
  LoadedCode(DeviceContext& context, codeobj::CodeObject object, std::shared_ptr<Allocation> memory);

  DeviceContext& context_;
  codeobj::CodeObject object_;
  std::shared_ptr<Allocation> memory_;
  std::vector<std::unique_ptr<Function>> functions_;  ///< in the order of object_.kernels()
};

}  // namespace barehip::runtime
