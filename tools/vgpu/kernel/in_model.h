// Whether the calling thread is inside the model. The preload door lets system calls of the model pass untouched.
#pragma once

namespace vgpu {

inline thread_local int in_model_depth = 0;

class InModel {
 public:
  InModel() { ++in_model_depth; }
  ~InModel() { --in_model_depth; }
  InModel(const InModel&) = delete;
  InModel& operator=(const InModel&) = delete;
};

/// The code address that the current request came from, where the door knows it.
inline thread_local const void* request_caller = nullptr;

}  // namespace vgpu
