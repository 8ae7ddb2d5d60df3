#pragma once

#include <optional>

#include "evaluator/gate/gate.h"

namespace evo {

// Judges what `bound` has just written by the reference's answer in `judge`, a set with the same contents that was made
// afterwards: while the program ran, the answer was nowhere. Overwrites the outputs of `judge`. The failure, if there is one.
std::optional<Failure> JudgeByLaterReference(Device& device, const BoundProgram& bound, InputSet& judge, CheckedErrors& errors);

}  // namespace evo
