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

namespace barehip::runtime {

class DeviceContext;

/// Where the program's argument goes in the kernel-argument segment. Bytes.
struct ExplicitArgument {
  uint32_t offset = 0;
  uint32_t size = 0;
};

/// A hidden argument whose value changes from launch to launch.
struct LaunchValue {
  uint32_t offset = 0;
  codeobj::ValueKind kind{};
};

/// Immutable once made, but for the handle. Lives as long as its LoadedCode.
class Function {
 public:
  /// `error` of launching it is decided here: kNotSupported when it needs what barehip does not have.
  Function(DeviceContext& context, const codeobj::Kernel& kernel, uint64_t load_address);

  DeviceContext& context;
  const codeobj::Kernel& kernel;
  uint64_t descriptor = 0;  ///< GPU address: the packet's kernel_object
  uint32_t private_bytes = 0;
  uint32_t max_threads = 0;
  std::vector<ExplicitArgument> arguments;
  std::vector<LaunchValue> launch_values;
  /// The segment's bytes behind the explicit arguments, as they are in every launch.
  std::vector<uint8_t> hidden_template;
  std::string refusal;  ///< why it cannot be launched; empty when it can

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
