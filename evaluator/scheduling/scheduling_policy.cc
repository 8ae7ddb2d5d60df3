#include "evaluator/scheduling/scheduling_policy.h"

#include <fmt/format.h>

#include "core/error.h"

namespace evo {

using std::chrono::milliseconds;

SchedulingPolicy PolicyFor(const std::string& device_kind) {
  SchedulingPolicy policy;
  if (device_kind == "cpu") {
    policy.pauses_compilers = true;
    policy.checks_cuda = true;
    policy.arch = "sm_90a";  // for the check as CUDA
    policy.candidate_deadline = {20, milliseconds(2000)};
    return policy;
  }
  if (device_kind == "cuda") {
    policy.measures_machine = true;
    policy.has_sanitizers = true;
    policy.standby_worker = true;
    // A kernel four times slower than the baseline is of no use, nothing else has the GPU, and a hang costs all of it.
    policy.candidate_deadline = {4, milliseconds(400)};
    return policy;
  }
  throw Error(fmt::format("no scheduling policy for a device of kind '{}'; there are cpu and cuda", device_kind));
}

}  // namespace evo
