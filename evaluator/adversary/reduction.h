#pragma once

#include <functional>

#include "evaluator/gate/input_program.h"

namespace evo {

// A simpler program of the same seed for which `still_fails` holds: arguments and changes that it does not need are left out,
// the base is the argument's first generator or normal(0,1) where that is enough, and numbers have few digits. Deterministic.
// `still_fails` is asked at most `most` times. Precondition: it holds for `program`.
InputProgram Reduced(InputProgram program, const Task& task, const std::function<bool(const InputProgram&)>& still_fails,
                     int most);

}  // namespace evo
