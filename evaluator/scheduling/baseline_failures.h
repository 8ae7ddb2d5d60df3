#pragma once

#include <chrono>
#include <optional>

#include "evaluator/workers/job_runner.h"

namespace evo {

// Sizes or inputs on which a worker ended, or the device failed, while the baseline ran; nullopt if it did not end like that.
std::optional<AvoidedInputs> BaselineFailedOn(const JobResult& result);

// Sizes beyond the task's on which a candidate passed its deadline, where the baseline takes a fair share of that time, too:
// they are too large to be tried. nullopt otherwise.
std::optional<AvoidedInputs> TooLargeToTry(const JobResult& result, const Job& job);

}  // namespace evo
