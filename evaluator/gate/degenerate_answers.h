#pragma once

#include <string>
#include <vector>

#include "evaluator/gate/input_set.h"

namespace evo {

// Tries answers that need no computation: outputs left as they were, zeros, an input copied, a constant (the reference's mean on
// the first set), and the first set's right answer for all sets. Each is written into the outputs and judged like a candidate's.
// Returns what a kernel with the first answer that passes on every set would do ("writes zeros"); empty if none passes, which a
// task must reach to be worth a search. Sets with the shape of the first one must be of the same case. Throws
// InfrastructureFailure if the device fails.
std::string FindPassingDegenerateAnswer(Device& device, const std::vector<InputSet*>& sets);

}  // namespace evo
