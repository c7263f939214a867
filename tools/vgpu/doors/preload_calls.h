// What the files of interposed functions share.
#pragma once

#include <dlfcn.h>

#include "tools/vgpu/doors/preload_model.h"
#include "tools/vgpu/kernel/in_model.h"

namespace vgpu::preload {

/// The function that the program would have called without us.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

inline bool ours(int fd) { return in_model_depth == 0 && is_ours(fd); }

}  // namespace vgpu::preload

#define NEXT(name) static const auto real = vgpu::preload::next<decltype(name)>(#name)
#define EXPORT extern "C" __attribute__((visibility("default")))
