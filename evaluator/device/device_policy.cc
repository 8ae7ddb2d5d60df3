#include "evaluator/device/device_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/error.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cuda/cuda_policy.h"

namespace evo {
namespace {

constexpr std::array kPolicies = {
    kCpuPolicy,
    kCudaPolicy,
};

}  // namespace

std::span<const DevicePolicy> DevicePolicies() { return kPolicies; }

const DevicePolicy& PolicyOf(std::string_view kind, std::span<const DevicePolicy> known) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const DevicePolicy& policy) { return policy.kind == kind; });
  if (found != known.end()) return *found;
  std::vector<std::string_view> kinds;
  for (const DevicePolicy& policy : known) kinds.push_back(policy.kind);
  throw Error(fmt::format("unknown device '{}'; there are: {}", kind, fmt::join(kinds, ", ")));
}

}  // namespace evo
