// A queue of a type that the model does not run: it exists as the driver made it, and its first doorbell is an error.
#pragma once

#include <string>

#include "tools/vgpu/cp/hw_queue.h"

namespace vgpu {

class UnsupportedQueue final : public HwQueue {
 public:
  UnsupportedQueue(GpuContext& gpu, const QueueParams& params, std::string what)
      : HwQueue(gpu, params), what_(std::move(what)) {}

  bool step() override {
    if (!doorbell_.poll()) return false;
    report_error(0, what_ + ": this model does not run queues of this type");
    return true;
  }
  bool waiting() const override { return false; }
  void mapped(bool) override {}
  void drop_waves() override {}

 private:
  std::string what_;
};

}  // namespace vgpu
