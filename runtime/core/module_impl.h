// Modules and registered fat binaries inside the runtime.
#pragma once

#include <memory>

#include "runtime/core/function.h"
#include "runtime/core/module.h"

namespace barehip::runtime {

/// What hipModuleLoad made: code of one GPU.
class Module {
 public:
  explicit Module(std::unique_ptr<LoadedCode> code) : code_(std::move(code)) {}
  const LoadedCode& code() const { return *code_; }

 private:
  std::unique_ptr<LoadedCode> code_;
};

/// The kernel of a registered host stub on a GPU, loaded on first use.
/// Errors: kInvalidFunction, and those of LoadedCode::load. Cost once loaded: a hash lookup and two loads, no lock.
Result<const Function*> find_host_function(const void* host_function, DeviceContext& context);

/// The hipFunction_t of a kernel.
Result<Handle> handle_of(Function& function);

}  // namespace barehip::runtime
