// One request to a render node on its way through the model.
#pragma once

#include <cstddef>
#include <string>

#include "tools/vgpu/kernel/kernel.h"

namespace vgpu {

struct DrmCall {
  Kernel& kernel;
  Process& process;
  DrmFile& file;
  const char* name;
  std::byte* bytes;  ///< the arguments, in the kernel's own size

  template <class T>
  T& as() {
    return *reinterpret_cast<T*>(bytes);
  }
  const Gpu& gpu() const { return *file.gpu; }
  int refuse(int error, const std::string& why);
};

// drm_info.cpp
int drm_amdgpu_info_query(DrmCall& call);
// drm_gem.cpp
int drm_gem_create(DrmCall& call);
int drm_gem_mmap(DrmCall& call);
int drm_gem_wait_idle(DrmCall& call);
int drm_gem_metadata(DrmCall& call);
int drm_gem_va(DrmCall& call);
int drm_gem_op(DrmCall& call);
int drm_gem_close(DrmCall& call);
int drm_prime_handle_to_fd(DrmCall& call);
int drm_prime_fd_to_handle(DrmCall& call);

}  // namespace vgpu
