#include "runtime/core/launch_refusal.h"

#include "runtime/core/context.h"

namespace barehip::runtime {
namespace {

constexpr const char* kOperation = "launch kernel";

std::string shape_text(const LaunchShape& shape) {
  const auto triple = [](const Dim3& d) {
    return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
  };
  return "grid " + triple(shape.grid) + ", block " + triple(shape.block);
}

std::unexpected<Error> bad_shape(const Function& function, const LaunchShape& shape, const std::string& why) {
  return fail(ErrorCode::kInvalidConfiguration, kOperation,
              function.kernel.name + " (" + shape_text(shape) + "): " + why);
}

/// Which limit the shape breaks; success when it breaks none.
Result<void> explain_shape(const Function& function, const LaunchShape& shape) {
  const DeviceProperties& device = function.context.properties();
  const uint64_t block = uint64_t{shape.block.x} * shape.block.y * shape.block.z;
  const uint64_t lds = function.kernel.group_bytes + shape.dynamic_lds_bytes;
  if (block == 0 || uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z == 0)
    return bad_shape(function, shape, "a dimension is 0");
  if (shape.block.x > device.max_block_dim[0] || shape.block.y > device.max_block_dim[1] ||
      shape.block.z > device.max_block_dim[2] || block > device.max_threads_per_block)
    return bad_shape(function, shape,
                     "the block has " + std::to_string(block) + " threads, " + device.gfx + " allows " +
                         std::to_string(device.max_threads_per_block));
  if (block > function.max_threads)
    return bad_shape(function, shape,
                     "the block has " + std::to_string(block) + " threads, the kernel was compiled for " +
                         std::to_string(function.max_threads) + " at most (__launch_bounds__)");
  if (lds > device.lds_bytes_per_block)
    return bad_shape(function, shape,
                     "it wants " + std::to_string(function.kernel.group_bytes) + " bytes of static and " +
                         std::to_string(shape.dynamic_lds_bytes) + " of dynamic LDS, a block has " +
                         std::to_string(device.lds_bytes_per_block));
  if (((uint64_t{shape.grid.x} * shape.block.x | uint64_t{shape.grid.y} * shape.block.y |
        uint64_t{shape.grid.z} * shape.block.z) >>
       32) != 0)
    return bad_shape(function, shape, "a dimension has 2^32 threads or more");
  return {};
}

}  // namespace

Result<void> explain_refusal(const Function& function, const LaunchShape& shape, const LaunchArguments& given) {
  const KernargLayout& kernarg = function.kernarg;
  if (!kernarg.refusal().empty())
    return fail(ErrorCode::kNotSupported, kOperation, function.kernel.name + ": " + kernarg.refusal());
  if (auto fits = explain_shape(function, shape); !fits) return fits;
  return explain_arguments(function, given);
}

Result<void> explain_arguments(const Function& function, const LaunchArguments& given) {
  return fail(ErrorCode::kInvalidArgument, kOperation, function.kernel.name + function.kernarg.explain(given));
}

}  // namespace barehip::runtime
