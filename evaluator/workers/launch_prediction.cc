#include "evaluator/workers/launch_prediction.h"

#include <fmt/format.h>

#include "core/error.h"
#include "evaluator/device/device_policy.h"
#include "kernel_templates/case_scale.h"
#include "kernel_templates/launch_plan.h"

namespace evo {
namespace {

std::optional<std::string> LimitExceeded(const LaunchPlan& plan, const DeviceInfo& device) {
  for (const auto& step : plan.steps) {
    const auto* launch = std::get_if<PlannedLaunch>(&step);
    if (launch == nullptr) continue;
    const std::uint64_t threads = std::uint64_t{launch->block[0]} * launch->block[1] * launch->block[2];
    if (threads > static_cast<std::uint64_t>(device.max_threads_per_block)) {
      return fmt::format("{}: {} threads a block, the device takes 1 to {}", launch->kernel, threads,
                         device.max_threads_per_block);
    }
    if (launch->shared_bytes > device.shared_bytes_per_block_optin) {
      return fmt::format("{}: {} bytes of dynamic shared memory, {} at most", launch->kernel, launch->shared_bytes,
                         device.shared_bytes_per_block_optin);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> CannotLaunchAt(const KernelTemplate& rendered, const Task& task, const Case& sizes,
                                          const DeviceInfo& device) {
  try {
    const Parameters parameters = rendered.space.Defaults();  // of a rendered source these are the values in force
    const auto planned = PlanLaunches(rendered, parameters, task, sizes);
    if (const auto* failure = std::get_if<PlanFailure>(&planned)) return failure->message;
    return LimitExceeded(std::get<LaunchPlan>(planned), device);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> CannotLaunch(const KernelTemplate& rendered, const Task& task, const DeviceInfo& device) {
  if (auto failure = CannotLaunchAt(rendered, task, task.small, device)) return failure;
  for (const Case& one : SearchCases(task, PolicyOf(device.kind).cases)) {
    if (auto failure = CannotLaunchAt(rendered, task, one, device)) return failure;
  }
  return std::nullopt;
}

}  // namespace evo
