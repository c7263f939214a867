// Why a launch cannot be. Apart from the launch path, which only asks whether it can.
#pragma once

#include "runtime/core/function.h"
#include "runtime/core/launch.h"

namespace barehip::runtime {

/// The error of a launch whose shape or arguments do not fit the function: kNotSupported, kInvalidConfiguration or
/// kInvalidArgument, with a text that names the limit.
[[gnu::cold]] Result<void> explain_refusal(const Function& function, const LaunchShape& shape,
                                           const LaunchArguments& given);

/// The same when it is the arguments that do not fit.
[[gnu::cold]] Result<void> explain_arguments(const Function& function, const LaunchArguments& given);

}  // namespace barehip::runtime
