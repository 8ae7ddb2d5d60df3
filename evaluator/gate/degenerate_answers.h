#pragma once

#include <string>
#include <vector>

#include "evaluator/gate/input_set.h"

namespace evo {

// Answers that need no computation: outputs left as they were, zeros, an input copied, a constant (the reference's mean on the
// first set), and the first set's right answer given to all data. Lays each into the outputs and judges it as a candidate's. Says
// of the first that passes on every set what a kernel would have to do ("writes zeros"); empty if none does, as it must be for a
// task to be worth a search. The first set must be of one case with the others that have its shape. Throws InfrastructureFailure
// if the device fails.
std::string FindPassingDegenerateAnswer(Device& device, const std::vector<InputSet*>& sets);

}  // namespace evo
