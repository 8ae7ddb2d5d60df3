#include "cli/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cuda/cuda_devices.h"
#include "evaluator/device/cuda/cuda_policy.h"

namespace evo {

namespace {

constexpr std::string_view kCuda = kCudaPolicy.kind;

bool HasNoOrdinals(const std::string& asked) {
  const auto policies = DevicePolicies();
  return std::any_of(policies.begin(), policies.end(),
                     [&](const DevicePolicy& policy) { return policy.kind == asked && !policy.has_ordinals; });
}

UsageError NotADevice(const std::string& asked) {
  std::string words = "auto";
  for (const DevicePolicy& policy : DevicePolicies()) words += fmt::format(", {}", policy.kind);
  return UsageError(fmt::format("--device {}: give {}, cuda:N, cuda:N,M or cuda:all", asked, words));
}

// The numbers of "0,1,3", each once.
std::vector<int> ParseOrdinals(const std::string& asked, const std::string& list) {
  std::vector<int> ordinals;
  for (const char* at = list.data();; ++at) {
    const char* end = list.data() + list.size();
    int ordinal = 0;
    const auto parsed = std::from_chars(at, end, ordinal);
    if (parsed.ec != std::errc() || ordinal < 0 || (parsed.ptr != end && *parsed.ptr != ',')) throw NotADevice(asked);
    if (std::find(ordinals.begin(), ordinals.end(), ordinal) != ordinals.end())
      throw UsageError(fmt::format("--device {}: names cuda:{} twice", asked, ordinal));
    ordinals.push_back(ordinal);
    at = parsed.ptr;
    if (at == end) return ordinals;
  }
}

}  // namespace

DeviceChoice ChooseDevice(const std::string& asked) {
  if (HasNoOrdinals(asked)) return {asked, {0}};
  const bool automatic = asked == "auto";
  const bool all = asked == "cuda:all";
  std::vector<int> ordinals{0};
  if (!automatic && !all && asked != kCuda) {
    if (asked.rfind("cuda:", 0) != 0) throw NotADevice(asked);
    ordinals = ParseOrdinals(asked, asked.substr(kCuda.size() + 1));
  }
  const CudaDevices found = ListCudaDevices();
  if (automatic && found.devices.empty()) return {std::string(kCpuPolicy.kind), {0}};
  if (found.devices.empty()) throw UsageError(fmt::format("--device {}: {}", asked, found.why_none));
  if (all) {
    ordinals.clear();
    for (const CudaDeviceSummary& device : found.devices) ordinals.push_back(device.ordinal);
  }
  const auto device_of = [&](int ordinal) {
    const auto device = std::find_if(found.devices.begin(), found.devices.end(),
                                     [&](const CudaDeviceSummary& d) { return d.ordinal == ordinal; });
    if (device == found.devices.end())
      throw UsageError(fmt::format("--device {}: there are {} GPUs, numbered from 0", asked, found.devices.size()));
    return *device;
  };
  for (const int ordinal : ordinals) {
    // A run has one cubin and one time for each candidate, so its GPUs must be of one model.
    if (device_of(ordinal).name != device_of(ordinals.front()).name) {
      throw UsageError(fmt::format("--device {}: cuda:{} is a {}, cuda:{} a {}; a run takes GPUs of one model", asked,
                                   ordinals.front(), device_of(ordinals.front()).name, ordinal, device_of(ordinal).name));
    }
  }
  return {std::string(kCuda), ordinals};
}

}  // namespace evo
